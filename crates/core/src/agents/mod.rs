//! Agents as this machine has them: their profiles, their MCP servers and which of them are installed.
//!
//! Owns `profiles.json` and the last survey. Invariant: an agent's own files change only when the user says so.

pub(crate) mod mcp;
pub(crate) mod profile;
pub(crate) mod survey;

use std::sync::{Mutex, RwLock};

use forge_run::agents::{Profiles, Roster};

pub(crate) struct Agents {
    profiles: RwLock<Profiles>,
    roster: Roster,
    surveys: survey::Surveys,
    /// Held, never over an await, while a file of the user is replaced.
    turn: Mutex<()>,
}

impl Agents {
    pub(crate) fn load(home: &std::path::Path) -> Self {
        Self {
            profiles: RwLock::new(profile::load(home)),
            roster: Roster::default(),
            surveys: survey::Surveys::default(),
            turn: Mutex::default(),
        }
    }
}
