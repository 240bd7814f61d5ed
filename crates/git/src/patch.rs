//! What differs, as a patch that people and agents read.
//!
//! Owns: the text of a worktree's (untracked files included) or a commit's changes.
//! Invariant: never more than the caller allows; what is left out is whole lines at the end, and the answer says so.

use std::path::Path;

use crate::branch::revision;
use crate::diff::NotedIndex;
use crate::{GitError, Repo, command::Git};

/// A patch, or its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    pub text: String,
    /// There is more of it than was allowed.
    pub truncated: bool,
}

const FORMAT: &[&str] = &["-M", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative"];

/// The working tree, untracked files included, against `merge_base`.
pub async fn patch_worktree(
    repo: &Repo,
    worktree: &Path,
    merge_base: &str,
    max_bytes: u64,
) -> Result<Patch, GitError> {
    let index = NotedIndex::copy(repo, worktree).await?;
    let diff = index.git(worktree).args(["diff", "--ignore-submodules=dirty"]).args(FORMAT);
    Ok(Patch::read(diff.args([revision(merge_base)?, "--"]).head(max_bytes).await?, max_bytes))
}

/// A commit against its first parent.
pub async fn patch_commit(repo: &Repo, commit: &str, max_bytes: u64) -> Result<Patch, GitError> {
    let show = Git::read(repo.path()).args(["show", "--format=", "-m", "--first-parent"]).args(FORMAT);
    Ok(Patch::read(show.args([revision(commit)?, "--"]).head(max_bytes).await?, max_bytes))
}

/// One commit against another.
pub async fn patch_between(repo: &Repo, from: &str, to: &str, max_bytes: u64) -> Result<Patch, GitError> {
    let diff = Git::read(repo.path()).args(["diff"]).args(FORMAT);
    let bytes = diff.args([revision(from)?, revision(to)?, "--"]).head(max_bytes).await?;
    Ok(Patch::read(bytes, max_bytes))
}

impl Patch {
    fn read(mut bytes: Vec<u8>, max_bytes: u64) -> Self {
        let truncated = bytes.len() as u64 > max_bytes;
        if truncated {
            bytes.truncate(max_bytes as usize);
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            bytes.truncate(whole);
        }
        Self { text: String::from_utf8_lossy(&bytes).into_owned(), truncated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_that_is_too_long_ends_with_a_whole_line() {
        let read =
            |max_bytes| Patch::read(b"+one\n+two\n"[..(max_bytes as usize + 1).min(10)].to_vec(), max_bytes);
        assert_eq!(read(10), Patch { text: "+one\n+two\n".into(), truncated: false });
        assert_eq!(read(8), Patch { text: "+one\n".into(), truncated: true });
        assert_eq!(read(3), Patch { text: String::new(), truncated: true });
    }
}
