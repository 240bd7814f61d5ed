//! `state.json`: what a keeper records for later readers.
//!
//! Invariant: the file is replaced in one step and never half written. It exists before the agent does, so a run
//! directory without it never had an agent; once its phase is *ended* the journal is complete and the keeper writes
//! no more.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use forge_os::process::{Identity, boot};
use serde::{Deserialize, Serialize};

use crate::Exit;

const FILE: &str = "state.json";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) boot_id: String,
    pub(crate) keeper: Identity,
    pub(crate) agent: Option<Identity>,
    pub(crate) started_ms: i64,
    pub(crate) exit: Option<Exit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    Starting,
    Live,
    Ended,
}

impl State {
    /// `None` if there is no file; an error if it cannot be parsed.
    pub(crate) fn read(dir: &Path) -> io::Result<Option<State>> {
        match fs::read(dir.join(FILE)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Not yet durable: a reboot ends every run anyway, and a start has to wait for this write.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        let temporary = dir.join("state.json.part");
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(&temporary, dir.join(FILE))
    }

    /// Makes the last state durable.
    pub(crate) fn sync(dir: &Path) -> io::Result<()> {
        File::open(dir.join(FILE))?.sync_all()?;
        File::open(dir)?.sync_all()
    }

    /// Whether the agent has not ended and its keeper lives.
    pub(crate) fn is_kept(&self) -> bool {
        self.phase != Phase::Ended && self.is_this_boot() && self.keeper.is_alive()
    }

    pub(crate) fn is_this_boot(&self) -> bool {
        self.boot_id == boot_id()
    }
}

/// Differs for each boot of the machine; empty where it is unknown.
pub fn boot_id() -> String {
    let boot = boot();
    if boot.is_nil() { String::new() } else { boot.to_string() }
}

/// Whether the run in `dir` has a living keeper, on this machine and since this boot. Changes nothing.
pub fn is_kept(dir: &Path) -> bool {
    matches!(State::read(dir), Ok(Some(state)) if state.is_kept())
}
