//! Exit codes that scripts can rely on.
//!
//! Invariant: a code means the same for every command. 0 is done; 130 (the shell's code for Ctrl-C) is a run that was
//! stopped or left.

use std::process::ExitCode;

use forge_core::Kind;

use crate::client;
use crate::reference::NotFound;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The agent failed, or any other error.
    Failed = 1,
    /// Wrong usage; clap uses the same code.
    Misused = 2,
    /// No server answers.
    Unreachable = 3,
    /// Not found, or ambiguous.
    NotFound = 4,
    /// The server refused; nothing changed.
    Refused = 5,
    /// A run was stopped, or left while it continues.
    Stopped = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// An argument that clap accepts and Forge does not.
#[derive(Debug)]
pub struct Misused(pub String);

impl std::fmt::Display for Misused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misused {}

/// The exit code for an error.
pub fn of(error: &anyhow::Error) -> Exit {
    if error.is::<Misused>() {
        return Exit::Misused;
    }
    if error.is::<NotFound>() {
        return Exit::NotFound;
    }
    match error.downcast_ref::<forge_core::Error>().map(forge_core::Error::kind) {
        Some(Kind::NotFound) => return Exit::NotFound,
        Some(Kind::Invalid | Kind::Refused | Kind::Conflict) => return Exit::Refused,
        _ => {}
    }
    match client::kind_of(error) {
        Some(kind) if kind.is_away() => Exit::Unreachable,
        Some(client::Kind::NoStream) => Exit::Misused,
        Some(client::Kind::NotFound | client::Kind::NotServed) => Exit::NotFound,
        Some(client::Kind::Unauthorized | client::Kind::Conflict | client::Kind::Refused) => Exit::Refused,
        _ => Exit::Failed,
    }
}
