//! Profiles: what the variants of each executor are, for everybody and for one project.
//!
//! Owns: `profiles.json` in Forge's home. Invariant: what is in force is what the file holds, and the versions it
//! replaced are kept beside it, the newest [`VERSIONS`] of them.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use forge_run::agents::{Options, Profiles};
use forge_types::{ProfileId, ProjectId};
use serde_json::Value;

use crate::{Error, Forge, Result, file};

const VERSIONS: usize = 5;

impl Forge {
    pub(crate) fn profile_options(&self, id: &ProfileId) -> Result<Options> {
        let profiles = self.0.profiles.read().unwrap_or_else(PoisonError::into_inner);
        Ok(profiles.find(id)?)
    }

    /// `{"executors": …}`: the built-in profiles with the user's own.
    pub async fn profiles(&self, project: Option<ProjectId>) -> Result<Value> {
        if let Some(id) = project {
            self.project(id).await?;
        }
        Ok(self.0.profiles.read().unwrap_or_else(PoisonError::into_inner).to_json())
    }

    pub fn profiles_path(&self) -> PathBuf {
        path(&self.0.config.home)
    }

    /// Checks and stores the user's profiles; they are in force at once and after a restart.
    pub async fn save_profiles(&self, json: &str) -> Result<()> {
        let profiles = Profiles::built_in().merged_with(json);
        let profiles = profiles.map_err(|error| Error::refused(error.to_string()))?;
        let forge = self.clone();
        let save = move || {
            let _turn = forge.0.settings_turn.lock().unwrap_or_else(PoisonError::into_inner);
            let (path, text) = (forge.profiles_path(), format!("{:#}\n", profiles.to_json()));
            let failed = |cause| {
                Error::refused(format!("Failed to save profiles: cannot write {}: {cause}", path.display()))
            };
            file::keep_version(&path, VERSIONS).map_err(failed)?;
            file::replace(&path, text.as_bytes(), file::PRIVATE).map_err(failed)?;
            *forge.0.profiles.write().unwrap_or_else(PoisonError::into_inner) = profiles;
            Ok(())
        };
        let saved = tokio::task::spawn_blocking(save).await;
        saved.map_err(|cause| Error::internal("cannot save the profiles", cause))?
    }
}

fn path(home: &Path) -> PathBuf {
    home.join("profiles.json")
}

/// The stored profiles; the built-in ones where there are none or they cannot be read.
pub(crate) fn load(home: &Path) -> Profiles {
    let (path, built_in) = (path(home), Profiles::built_in());
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return built_in,
        Err(error) => {
            tracing::error!(path = %path.display(), %error, "profiles cannot be read; the built-in ones are used");
            return built_in;
        }
    };
    match built_in.merged_with(&text) {
        Ok(profiles) => profiles,
        Err(error) => {
            tracing::error!(path = %path.display(), %error, "profiles are not valid; the built-in ones are used");
            built_in
        }
    }
}
