//! What differs, as a patch that people and agents read.
//!
//! Owns: the text of a worktree's (untracked files included) or a commit's changes.
//! Invariant: never more than the caller allows; what is left out is whole lines at the end, and the result says so.

use serde::{Deserialize, Serialize};
use std::path::Path;

use crate::branch::revision;
use crate::diff::NotedIndex;
use crate::{GitError, Repo, command::Git};

/// A patch, or its beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    pub text: String,
    /// There is more of it than allowed.
    pub truncated: bool,
}

/// How much of a patch is wanted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PatchScope {
    pub max_bytes: u64,
    /// Unchanged lines around each change; git's configured default when absent.
    pub context_lines: Option<u32>,
    /// Only these files, named as git spells them; both names of a renamed one.
    pub files: Option<Vec<String>>,
}

const FORMAT: &[&str] =
    &["-M", "--no-ext-diff", "--no-textconv", "--submodule=short", "--no-color", "--no-relative"];

/// The working tree, untracked files included, against `merge_base`.
pub async fn patch_worktree(
    repo: &Repo,
    worktree: &Path,
    merge_base: &str,
    scope: &PatchScope,
) -> Result<Patch, GitError> {
    let index = NotedIndex::open(repo, worktree).await?;
    let diff = index.git().args(["diff", "--ignore-submodules=dirty"]);
    scope.read(diff, &[revision(merge_base)?]).await
}

/// A commit against its first parent.
pub async fn patch_commit(repo: &Repo, commit: &str, scope: &PatchScope) -> Result<Patch, GitError> {
    let show = Git::read(repo.main()).args(["show", "--format=", "-m", "--first-parent"]);
    scope.read(show, &[revision(commit)?]).await
}

/// One commit against another.
pub async fn patch_between(repo: &Repo, from: &str, to: &str, scope: &PatchScope) -> Result<Patch, GitError> {
    scope.read(Git::read(repo.main()).args(["diff"]), &[revision(from)?, revision(to)?]).await
}

impl PatchScope {
    async fn read(&self, git: Git, revisions: &[&str]) -> Result<Patch, GitError> {
        let context = self.context_lines.map(|lines| format!("--unified={lines}"));
        let git = git.args(FORMAT).args(context).args(revisions).args(["--"]);
        let git = match self.files.as_deref() {
            None => git,
            // Without a name git would show all.
            Some([]) => return Ok(Patch { text: String::new(), truncated: false }),
            Some(files) => git.args(files).env("GIT_LITERAL_PATHSPECS", "1"),
        };
        Ok(Patch::read(git.head(self.max_bytes).await?, self.max_bytes))
    }
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
