//! A text for git that disappears with this process, even if that is killed.
//!
//! Invariant: nobody but this user can read it, and it is on no disk where the system can keep it in memory. There git
//! and whatever it starts read it through this process; elsewhere it is a file of mode 600 that is removed when this is
//! dropped, or when the next one is made.

use std::path::{Path, PathBuf};

use crate::scratch::Scratch;
use crate::{GitError, Repo};

pub(crate) struct Secret {
    path: PathBuf,
    /// Removed when this is dropped.
    _held: Held,
}

enum Held {
    #[cfg(target_os = "linux")]
    Memory {
        _file: std::fs::File,
    },
    Disk {
        _scratch: Scratch,
    },
}

impl Secret {
    pub fn new(repo: &Repo, text: &[u8]) -> Result<Self, GitError> {
        #[cfg(target_os = "linux")]
        if let Some(secret) = Self::in_memory(text) {
            return Ok(secret);
        }
        Self::on_disk(repo, text)
    }

    fn on_disk(repo: &Repo, text: &[u8]) -> Result<Self, GitError> {
        let scratch = Scratch::new(repo)?;
        let path = scratch.write_secret("credential", text)?;
        Ok(Self { path, _held: Held::Disk { _scratch: scratch } })
    }

    /// `None` where other processes of this user could not read it.
    #[cfg(target_os = "linux")]
    fn in_memory(text: &[u8]) -> Option<Self> {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::MetadataExt;

        let pid = std::process::id();
        let open = PathBuf::from(format!("/proc/{pid}/fd"));
        // The processes of another namespace have other numbers; one that may not be inspected is root's there.
        let is_here = std::fs::read_link("/proc/self").ok()? == Path::new(&pid.to_string());
        if !is_here || std::fs::metadata(&open).ok()?.uid() != rustix::process::geteuid().as_raw() {
            return None;
        }
        let memory = rustix::fs::memfd_create("forge", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
        let mut file = std::fs::File::from(memory);
        file.write_all(text).ok()?;
        let path = open.join(file.as_raw_fd().to_string());
        Some(Self { path, _held: Held::Memory { _file: file } })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::command::Git;

    const TEXT: &[u8] = b"[demo]\n\tword = s3cret\n";

    async fn repo() -> (tempfile::TempDir, Repo) {
        let dir = tempfile::tempdir().expect("a folder");
        let repo = Repo::init(dir.path()).await.expect("a repository");
        (dir, repo)
    }

    async fn word_in(repo: &Repo, secret: &Secret) -> String {
        let git = Git::read(repo.main()).option(format!("include.path={}", secret.path().display()));
        git.args(["config", "--get", "demo.word"]).text().await.expect("an answer")
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn git_reads_a_secret_that_is_on_no_disk() {
        let (_dir, repo) = repo().await;
        let before = std::fs::read_dir(repo.common_dir()).expect("a folder").count();
        let secret = Secret::new(&repo, TEXT).expect("a secret");
        assert!(secret.path().starts_with("/proc"), "{}", secret.path().display());
        assert_eq!(word_in(&repo, &secret).await, "s3cret");
        assert_eq!(word_in(&repo, &secret).await, "s3cret", "every git reads it from its beginning");
        assert_eq!(std::fs::read_dir(repo.common_dir()).expect("a folder").count(), before);
    }

    #[tokio::test]
    async fn a_secret_on_the_disk_is_for_its_user_and_goes() {
        let (_dir, repo) = repo().await;
        let secret = Secret::on_disk(&repo, TEXT).expect("a secret");
        let path = secret.path().to_owned();
        assert_eq!(path.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
        assert_eq!(word_in(&repo, &secret).await, "s3cret");
        drop(secret);
        assert!(!path.exists());
    }
}
