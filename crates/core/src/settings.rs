//! The user's settings as the engine uses them.
//!
//! Owns: `config.json` in Forge's home.

use std::sync::Arc;

use forge_types::Settings;

use crate::Forge;

impl Forge {
    /// The settings of this moment.
    pub fn settings(&self) -> Arc<Settings> {
        self.0.settings.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// The stored settings; defaults where there are none.
pub(crate) fn load(home: &std::path::Path) -> Settings {
    let text = std::fs::read_to_string(home.join("config.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
