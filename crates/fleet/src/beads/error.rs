//! What can go wrong with beads.

use std::io;
use std::path::{Path, PathBuf};

use forge_os::file::FileError;

use super::snapshot::Problem;

#[derive(Debug, thiserror::Error)]
pub enum BeadsError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A file of the workspace is not a regular file of acceptable size.
    #[error(transparent)]
    File(#[from] FileError),
    /// The last good snapshot stays valid.
    #[error("{} cannot be read, {problem}", path.display())]
    Damaged { path: PathBuf, problem: Problem },
    #[error("there is no bead {id} in this workspace")]
    NoSuchBead { id: String },
    #[error("{name} is {value:?}: {allowed}")]
    Invalid { name: &'static str, value: String, allowed: String },
    /// The rules of the workspace forbid it.
    #[error("{0}")]
    Refused(String),
    #[error("these beads are read-only: {0}")]
    ReadOnly(String),
    /// Nothing can read this workspace.
    #[error("{}: {why}", path.display())]
    Unsupported { path: PathBuf, why: String },
    /// Another process has the lock; trying again later helps.
    #[error("the beads are locked: {0}")]
    Busy(String),
    #[error("`{command}` did not finish within {seconds} s and was killed; check whether the program hangs")]
    TimedOut { command: String, seconds: u64 },
    #[error("`{command}` failed: {why}")]
    Program { command: String, why: String },
}

impl BeadsError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
