//! A directory for passing files to git.
//!
//! Invariant: it lies in the common git directory, where no watch looks, and is gone when dropped.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::base::blocking;
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

    /// A copy of a worktree's index, or the place for one when there is none. It keeps the time of the original: git
    /// takes an entry for unchanged when the index is younger than the file, so a younger copy would hide changes.
    pub async fn copy_index(&self, git_dir: &Path) -> Result<PathBuf, GitError> {
        let (from, to) = (git_dir.join("index"), self.0.join("index"));
        blocking(move || {
            let copy = || -> std::io::Result<()> {
                let modified = std::fs::metadata(&from)?.modified()?;
                std::fs::copy(&from, &to)?;
                File::options().write(true).open(&to)?.set_modified(modified)
            };
            match copy() {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(GitError::io(&from)(error)),
                _ => Ok(to),
            }
        })
        .await
    }

    /// A file with these bytes, and their number.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(PathBuf, u64), GitError> {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).map_err(GitError::io(&path))?;
        Ok((path, bytes.len() as u64))
    }

    /// A file with these bytes that nobody but this user can read.
    pub fn write_secret(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, GitError> {
        let path = self.0.join(name);
        let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(bytes)).map_err(GitError::io(&path))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
