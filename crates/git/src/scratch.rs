//! A directory for passing files to git.
//!
//! Invariant: it lies in the common git directory, where no watch looks, and is gone when dropped.

use std::path::{Path, PathBuf};

use crate::{GitError, Repo};

pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub fn new(repo: &Repo) -> Result<Self, GitError> {
        let name = format!("forge-scratch-{}", forge_types::AttemptId::random().hex());
        let path = repo.common_dir().join(name);
        std::fs::create_dir(&path).map_err(GitError::io(&path))?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A file with these bytes, and their number.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(PathBuf, u64), GitError> {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).map_err(GitError::io(&path))?;
        Ok((path, bytes.len() as u64))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
