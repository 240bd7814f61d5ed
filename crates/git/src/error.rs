//! The failures that a caller of this crate can branch on.
//!
//! Invariant: every message names the path, branch or file that it is about; what to do next is its hint, so that skins
//! can show the two apart. The output of `git` itself appears only in `Failed`.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use forge_os::private::Untrusted;
use forge_types::ErrorCode;
use serde::{Deserialize, Serialize};

#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum GitError {
    #[error("git {found} is too old; Forge needs git {needed} or newer")]
    TooOld { found: String, needed: String },
    #[error("the program 'git' was not found on PATH")]
    NoGit,
    #[error("no git repository at {}", .0.display())]
    NoRepository(PathBuf),
    #[error("Branch not found: {0}")]
    BranchMissing(String),
    #[error("{} is not a worktree of this Forge installation and was left untouched: {reason}", path.display())]
    NotForges { path: PathBuf, reason: String },
    #[error("the git directory of {} was replaced: {reason}", path.display())]
    Replaced { path: PathBuf, reason: String },
    #[error("the rebase that stopped in {} cannot be continued by Forge: {reason}", path.display())]
    StrangeRebase { path: PathBuf, reason: String },
    #[error("conflicts in {}", files.join(", "))]
    Conflict { files: Vec<String> },
    #[error("Branches diverged: {0}")]
    Diverged(String),
    #[error("'{branch}' and {other} have no commit in common")]
    Unrelated { branch: String, other: String },
    #[error("{} has uncommitted changes: {}", path.display(), some(files))]
    Dirty { path: PathBuf, files: Vec<String> },
    #[error("a {operation} is already in progress in {}", path.display())]
    InProgress { path: PathBuf, operation: Cow<'static, str> },
    #[error(
        "{} is on {}, not on its branch '{branch}'",
        path.display(), found.as_deref().map_or("no branch".to_owned(), |name| format!("'{name}'"))
    )]
    OffBranch { path: PathBuf, branch: String, found: Option<String> },
    #[error("'{branch}' is checked out at {}", path.display())]
    CheckedOut { branch: String, path: PathBuf },
    #[error("'{0}' is a branch of a remote and cannot be merged into from here")]
    RemoteTarget(String),
    #[error("{field}: '{file}' is not allowed; allowed: {allowed}")]
    BadPath { field: Cow<'static, str>, file: String, allowed: Cow<'static, str> },
    #[error("{field}: there is no '{file}' in {place}")]
    FileMissing { field: Cow<'static, str>, file: String, place: String },
    #[error("{field}: '{file}' has more than {max_bytes} bytes, the most that is shown")]
    FileTooLarge { field: Cow<'static, str>, file: String, max_bytes: u64 },
    #[error("nothing to merge: '{branch}' holds no change that '{target}' lacks")]
    NothingToMerge { branch: String, target: String },
    #[error("nothing is kept for {0}: no trash item and no keep reference")]
    NothingKept(String),
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    #[error("{} has no remote for this branch (one that it follows, `origin`, or the only one)", .0.display())]
    NoRemote(PathBuf),
    #[error("{remote} refused '{branch}': {reason}")]
    Rejected { remote: String, branch: String, reason: String },
    /// The remote refused access: no, wrong or insufficient credentials.
    #[error("{remote} did not let git in: {reason}")]
    Locked { remote: String, reason: String },
    #[error("worktrees cannot be made here: {0}")]
    Untrusted(#[from] Untrusted),
    #[error("no space left on the disk")]
    DiskFull,
    #[error("{0}")]
    Busy(String),
    #[error("`git {command}` failed: {stderr}")]
    Failed { command: String, stderr: String },
    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        #[serde(with = "plain_io")]
        source: io::Error,
    },
}

impl GitError {
    pub fn code(&self) -> ErrorCode {
        match self {
            GitError::BranchMissing(_) => ErrorCode::BranchNotFound,
            GitError::FileMissing { .. } => ErrorCode::NotFound,
            GitError::BadPath { .. } => ErrorCode::Invalid,
            GitError::Io { source, .. } if source.kind() == io::ErrorKind::InvalidFilename => {
                ErrorCode::Invalid
            }
            GitError::FileTooLarge { .. } => ErrorCode::TooLarge,
            GitError::NoRepository(_) => ErrorCode::RepositoryNotFound,
            GitError::NotForges { .. } | GitError::Replaced { .. } => ErrorCode::NotAWorktree,
            GitError::Conflict { .. } => ErrorCode::MergeConflicts,
            GitError::StrangeRebase { .. } | GitError::InProgress { .. } => ErrorCode::OperationInProgress,
            GitError::Diverged(_) => ErrorCode::BranchDiverged,
            GitError::Dirty { .. } => ErrorCode::UncommittedChanges,
            GitError::OffBranch { .. } | GitError::CheckedOut { .. } => ErrorCode::BranchInUse,
            GitError::NothingToMerge { .. } => ErrorCode::NothingToMerge,
            GitError::NoRemote(_) => ErrorCode::NoRemote,
            GitError::Rejected { .. } => ErrorCode::PushRejected,
            GitError::Untrusted(_) => ErrorCode::RepositoryUntrusted,
            GitError::Unrelated { .. }
            | GitError::RemoteTarget(_)
            | GitError::NothingKept(_)
            | GitError::Exists(_)
            | GitError::Busy(_) => ErrorCode::Conflict,
            GitError::DiskFull => ErrorCode::DiskFull,
            GitError::NoGit | GitError::TooOld { .. } => ErrorCode::GitUnusable,
            GitError::Locked { .. } => ErrorCode::HostTokenInvalid,
            GitError::Failed { .. } | GitError::Io { .. } => ErrorCode::Internal,
        }
    }

    /// What to do next, where something helps in general.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            GitError::TooOld { .. } => "upgrade git",
            GitError::NoGit => "install git 2.38 or newer",
            GitError::Replaced { .. } => {
                "put it back as it was, or move the worktree and its directory below .git/worktrees away and restore \
                 the attempt"
            }
            GitError::StrangeRebase { .. } => "finish it there with `git rebase --continue`, or abort it",
            GitError::Diverged(_) => "rebase the branch first, then try again",
            GitError::Dirty { .. } => "commit, stash or discard them, then try again",
            GitError::InProgress { .. } => {
                "resolve its conflicts and continue it, or abort it, then try again"
            }
            GitError::OffBranch { .. } => "switch it back first",
            GitError::CheckedOut { .. } => "switch it away first",
            GitError::RemoteTarget(_) => "push and open a pull request, or choose a local target branch",
            GitError::FileTooLarge { .. } => "open it in an editor instead",
            GitError::Exists(_) => "move it away or choose another path",
            GitError::NoRemote(_) => "add one with `git remote add origin <url>`",
            GitError::Locked { .. } => "log git in there, or set a token in the settings",
            GitError::Untrusted(_) => "move it away, or name a folder of your own with FORGE_WORKTREE_DIR",
            GitError::DiskFull => "free some space and try again",
            _ => return None,
        })
    }

    /// An I/O error with its path; a full disk keeps its own kind.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> GitError + '_ {
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => GitError::DiskFull,
            _ => GitError::Io { path: path.to_owned(), source },
        }
    }

    pub(crate) fn stranger(path: &Path, reason: impl Into<String>) -> GitError {
        GitError::NotForges { path: path.to_owned(), reason: reason.into() }
    }
}

/// An I/O error as plain data: its number where it has one, and its text.
mod plain_io {
    use std::io;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(error: &io::Error, to: S) -> Result<S::Ok, S::Error> {
        (error.raw_os_error(), error.to_string()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<io::Error, D::Error> {
        let (number, text) = <(Option<i32>, String)>::deserialize(from)?;
        Ok(number.map_or_else(|| io::Error::other(text), io::Error::from_raw_os_error))
    }
}

/// The first few names and how many more there are.
fn some(files: &[String]) -> String {
    let shown = files.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(5) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_the_same_on_another_machine() {
        let path = PathBuf::from("/w/a");
        let (field, allowed) = ("file_path".into(), "a file".into());
        for error in [
            GitError::Dirty { path: path.clone(), files: vec!["a".to_owned()] },
            GitError::BadPath { field, file: "..".to_owned(), allowed },
            GitError::Io { path: path.clone(), source: io::Error::from_raw_os_error(13) },
            GitError::Io { path, source: io::Error::other("odd") },
        ] {
            let sent = serde_json::to_string(&error).expect("plain data");
            let received: GitError = serde_json::from_str(&sent).expect("the same form");
            assert_eq!(
                (received.to_string(), format!("{received:?}")),
                (error.to_string(), format!("{error:?}"))
            );
        }
    }
}
