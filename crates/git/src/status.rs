//! The state of a worktree: its HEAD, what is uncommitted, and the operation that stopped in it.
//!
//! Invariant: one `git status` returns everything that needs git; whether an operation is in progress is read from the
//! private git directory, which needs no process.

use std::path::Path;

use forge_types::ConflictOp;
use serde::{Deserialize, Serialize};

use crate::command::Git;
use crate::tree::{Tree, read_text};
use crate::{GitError, Repo, replay};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeStatus {
    /// `None` before the first commit.
    pub head: Option<String>,
    /// `None` while HEAD is detached.
    pub branch: Option<String>,
    /// Tracked files that differ from HEAD, conflicted ones included.
    pub changed: Vec<String>,
    /// Untracked files; a directory of nothing else counts as one.
    pub untracked: usize,
    pub conflicted: Vec<String>,
    pub operation: Option<ConflictOp>,
}

/// Examines a worktree without changing it. Uncommitted changes inside a submodule do not count.
pub async fn status(repo: &Repo, worktree: &Path) -> Result<WorktreeStatus, GitError> {
    look(&repo.tree(worktree)?).await
}

pub(crate) async fn look(tree: &Tree) -> Result<WorktreeStatus, GitError> {
    let args = ["status", "--porcelain=v2", "--branch", "-z", "--no-renames", "-unormal"];
    let bytes = Git::read(tree).args(args).args(["--ignore-submodules=dirty"]).run().await?;
    Ok(WorktreeStatus { operation: operation_in(tree.git_dir()), ..read(&bytes) })
}

/// The operation that is in progress in a worktree; none in a missing one.
pub fn operation(repo: &Repo, worktree: &Path) -> Result<Option<ConflictOp>, GitError> {
    match worktree.exists() {
        true => Ok(operation_in(repo.tree(worktree)?.git_dir())),
        false => Ok(None),
    }
}

/// A rebase comes first: it is made of cherry-picks.
pub(crate) fn operation_in(dir: &Path) -> Option<ConflictOp> {
    if replay::is_aside(dir) {
        return Some(ConflictOp::Rebase);
    }
    let signs = [
        ("rebase-merge", ConflictOp::Rebase),
        ("rebase-apply", ConflictOp::Rebase),
        ("MERGE_HEAD", ConflictOp::Merge),
        ("CHERRY_PICK_HEAD", ConflictOp::CherryPick),
        ("REVERT_HEAD", ConflictOp::Revert),
    ];
    signs.into_iter().find(|(name, _)| dir.join(name).exists()).map(|(_, operation)| operation)
}

/// The branch that a rebase stopped in this git directory will move when it ends.
pub(crate) fn rebased_branch(git_dir: &Path) -> Option<String> {
    let name = |dir: &str| read_text(&git_dir.join(dir).join("head-name")).ok();
    let name = name("rebase-merge").or_else(|| name("rebase-apply"))?;
    name.trim().strip_prefix("refs/heads/").map(str::to_owned)
}

fn read(bytes: &[u8]) -> WorktreeStatus {
    let mut status = WorktreeStatus::default();
    for record in bytes.split(|byte| *byte == 0) {
        let text = String::from_utf8_lossy(record);
        // How many fields come before the path depends on the kind of entry.
        let path = |fields: usize| text.splitn(fields + 1, ' ').nth(fields).unwrap_or_default().to_owned();
        match text.split_once(' ') {
            Some(("#", header)) => match header.split_once(' ') {
                Some(("branch.oid", oid)) if oid != "(initial)" => status.head = Some(oid.to_owned()),
                Some(("branch.head", name)) if name != "(detached)" => status.branch = Some(name.to_owned()),
                _ => {}
            },
            Some(("1", _)) => status.changed.push(path(8)),
            Some(("u", _)) => {
                status.changed.push(path(10));
                status.conflicted.push(path(10));
            }
            Some(("?", _)) => status.untracked += 1,
            _ => {}
        }
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_entry_is_recognised() {
        let text = "# branch.oid 1234\0# branch.head forge/1-a b\0# branch.ab +0 -0\0\
            1 .M N... 100644 100644 100644 aa bb name with  blanks.txt\0\
            u UU N... 100644 100644 100644 100644 aa bb cc both.txt\0? new file\0? dir/\0";
        let status = read(text.as_bytes());
        assert_eq!((status.head.as_deref(), status.branch.as_deref()), (Some("1234"), Some("forge/1-a b")));
        assert_eq!(status.changed, ["name with  blanks.txt", "both.txt"]);
        assert_eq!((status.conflicted, status.untracked), (vec!["both.txt".to_owned()], 2));
        let empty = read(b"# branch.oid (initial)\0# branch.head (detached)\0");
        assert_eq!((empty.head, empty.branch), (None, None));
    }
}
