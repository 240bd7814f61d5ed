//! A directory for passing files to git.
//!
//! Invariant: it is in the common git directory, where nothing is watched, and is removed when dropped. It is locked as
//! long as its process lives, so what a killed process left is recognised, and removed when the repository is first
//! used again.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::base::blocking;
use crate::{GitError, Repo, config};

const PREFIX: &str = "forge-scratch-";
/// Another process may consider a directory abandoned before it is locked.
const TRIES: usize = 8;

pub(crate) struct Scratch {
    path: PathBuf,
    /// Its lock ends with the process.
    _lock: File,
}

impl Scratch {
    pub fn new(repo: &Repo) -> Result<Self, GitError> {
        repo.first_use(|| remove_left(repo.common_dir()));
        let mut lost = Errno::NOENT.into();
        for _ in 0..TRIES {
            let path = repo.common_dir().join(format!("{PREFIX}{}", forge_types::AttemptId::random().hex()));
            std::fs::create_dir(&path).map_err(GitError::io(&path))?;
            match lock(&path) {
                Ok(lock) => return Ok(Self { path, _lock: lock }),
                Err(error) => lost = error,
            }
        }
        Err(GitError::io(repo.common_dir())(lost))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A copy of a worktree's index, or the place for one when there is none. It keeps the time of the original: git
    /// considers an entry unchanged when the index is younger than the file, so a younger copy would hide changes.
    pub async fn copy_index(&self, git_dir: &Path) -> Result<PathBuf, GitError> {
        let (from, to) = (git_dir.join("index"), self.path.join("index"));
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
        let path = self.path.join(name);
        std::fs::write(&path, bytes).map_err(GitError::io(&path))?;
        Ok((path, bytes.len() as u64))
    }

    /// A file with these bytes that nobody but this user can read.
    pub fn write_secret(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, GitError> {
        let path = self.path.join(name);
        let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(bytes)).map_err(GitError::io(&path))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Fails when somebody else has it, or has removed it.
fn lock(path: &Path) -> std::io::Result<File> {
    let lock = File::open(path)?;
    // Some file systems have no locks; there nobody considers it abandoned either.
    if let Err(Errno::WOULDBLOCK) = flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        return Err(Errno::WOULDBLOCK.into());
    }
    path.symlink_metadata().map(|_| lock)
}

/// Removes the directories whose processes are gone.
fn remove_left(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_scratch = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        let Some(lock) = is_scratch.then(|| File::open(entry.path()).ok()).flatten() else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        config::unlock_left(dir, &entry.path());
        if let Err(error) = std::fs::remove_dir_all(entry.path()) {
            tracing::warn!(path = %entry.path().display(), %error, "cannot remove what a killed server left");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_killed_process_left_goes_with_the_first_use_and_what_lives_stays() {
        let dir = tempfile::tempdir().expect("a folder");
        let repo = Repo::init(dir.path()).await.expect("a repository");
        let place = |name: &str| repo.common_dir().join(format!("{PREFIX}{name}"));
        let (left, living) = (place("left"), place("living"));
        for path in [&left, &living] {
            std::fs::create_dir(path).expect("a folder");
            std::fs::write(path.join("credential"), "s3cret").expect("a file");
        }
        // What another process has is locked like this.
        let held = lock(&living).expect("a lock");
        let scratch = Scratch::new(&repo).expect("a directory");
        assert!(!left.exists() && living.join("credential").exists());
        remove_left(repo.common_dir());
        assert!(scratch.path().exists(), "its own stays too");
        drop(held);
        remove_left(repo.common_dir());
        assert!(!living.exists());
    }
}
