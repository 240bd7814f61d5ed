//! One file between the working tree and the index of a commit that is being made.
//!
//! Invariant: only the named file is examined or added. The index is the one that git passes to a hook, which is not
//! always the repository's: `commit -a` and `commit <path>` use separate indexes.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::command::Git;
use crate::tree::Tree;
use crate::{GitError, Repo};

/// Where a hook's git finds the index.
const INDEX: &str = "GIT_INDEX_FILE";

/// The state of a file in a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileStanding {
    /// The working tree has what the index has, or neither has the file.
    Staged,
    /// The working tree has more than the index: changes, or a file that git does not know.
    Unstaged,
    Ignored,
    /// A merge has left several versions of it.
    Unmerged,
}

/// The commit for which a hook runs.
#[derive(Clone, Debug)]
pub struct PendingCommit {
    tree: Tree,
    index: Option<OsString>,
}

impl PendingCommit {
    /// The commit in `worktree` that this process was started for.
    pub fn here(repo: &Repo, worktree: &Path) -> Result<Self, GitError> {
        Ok(Self { tree: repo.tree(worktree)?, index: std::env::var_os(INDEX) })
    }

    /// Whether only named paths are committed. A file that is added to such a commit is missing in the index
    /// afterwards, as if the user were about to remove it.
    pub fn is_partial(&self) -> bool {
        let name = self.index.as_deref().map(Path::new).and_then(Path::file_name);
        name.and_then(OsStr::to_str).is_some_and(|name| name.starts_with("next-index-"))
    }

    pub async fn standing(&self, file: &str) -> Result<FileStanding, GitError> {
        let args = ["status", "--porcelain", "-z", "--no-renames", "--ignored", "-uall"];
        let status = self.at_index(Git::read(&self.tree)).args(args);
        let bytes = status.args(["--ignore-submodules=dirty", "--", file]).run().await?;
        Ok(match bytes.get(..2) {
            None => FileStanding::Staged,
            Some(b"!!") => FileStanding::Ignored,
            Some(b"UU" | b"AA" | b"DD" | b"AU" | b"UA" | b"DU" | b"UD") => FileStanding::Unmerged,
            Some([_, b' ']) => FileStanding::Staged,
            Some(_) => FileStanding::Unstaged,
        })
    }

    /// Makes the file, as it is now, part of the commit.
    pub async fn add(&self, file: &str) -> Result<(), GitError> {
        self.at_index(Git::write(&self.tree)).args(["add", "--", file]).run().await.map(drop)
    }

    fn at_index(&self, git: Git) -> Git {
        match &self.index {
            Some(index) => git.env(INDEX, index),
            None => git,
        }
    }
}
