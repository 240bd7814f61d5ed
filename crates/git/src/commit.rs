//! Commits that Forge makes by itself, and going back to an earlier one.
//!
//! Invariant: an automatic commit runs no hook and asks for no key, so neither can lose the agent's work; the user's
//! configuration is never written. A reset saves what it would destroy first.

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

use crate::branch::revision;
use crate::command::Git;
use crate::diff::to_path;
use crate::status::operation_in;
use crate::tree::Tree;
use crate::{GitError, Kept, Owner, Repo, keep};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Committed {
    Nothing,
    Commit(String),
    /// An operation is stopped at these files, and nothing was committed.
    Conflicts(Vec<String>),
}

/// Commits every change of the worktree, untracked files included.
pub async fn commit_all(repo: &Repo, worktree: &Path, message: &str) -> Result<Committed, GitError> {
    commit_tree(repo, &repo.tree(worktree)?, message).await
}

pub(crate) async fn commit_tree(repo: &Repo, tree: &Tree, message: &str) -> Result<Committed, GitError> {
    if changed_files(tree, Untracked::Count).await?.is_empty() {
        return Ok(Committed::Nothing);
    }
    add_all(tree, None).await?;
    // A merge may end without any difference; for anything else git would look into every submodule to determine that.
    if operation_in(tree.git_dir()).is_none() && !is_staged(tree).await? {
        return Ok(Committed::Nothing);
    }
    let commit = Git::write(tree).options(&repo.identity().await?);
    let commit = commit.args(["commit", "-q", "--no-verify", "--no-gpg-sign", "--allow-empty"]);
    commit.args(["--allow-empty-message", "-F", "-"]).input(message).run_patiently().await?;
    Ok(Committed::Commit(repo.head_of(tree.path()).await?))
}

/// Stages everything, as `git add -A` does. That would run git inside every submodule, with the configuration there, to
/// see whether it is changed; so submodules are staged separately, for which only their HEAD is read. `index` is an
/// index other than the worktree's own.
pub(crate) async fn add_all(tree: &Tree, index: Option<&Path>) -> Result<(), GitError> {
    let git = |args: &[&str]| {
        let git = Git::write(tree).args(args).time_limit(Duration::from_secs(1800));
        if let Some(index) = index { git.env("GIT_INDEX_FILE", index) } else { git }
    };
    let listed = git(&["ls-files", "-s", "-z"]).run().await?;
    let links = listed.split(|byte| *byte == 0).filter(|record| record.starts_with(b"160000 "));
    let links: Vec<&[u8]> =
        links.filter_map(|record| record.splitn(2, |byte| *byte == b'\t').nth(1)).collect();
    if links.is_empty() {
        return git(&["add", "-A"]).run_patiently().await.map(drop);
    }
    let mut others = b":(top)\0".to_vec();
    for link in &links {
        others.extend([b":(top,exclude,literal)", *link, b"\0"].concat());
    }
    let add = git(&["add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul"]);
    add.input(others).run_patiently().await?;
    // One that is behind a link by now was removed with the directory that was there.
    let is_there = |link: &&[u8]| {
        let parent = tree.path().join(to_path(link)).parent().map(Path::to_owned).unwrap_or_default();
        std::fs::canonicalize(&parent).map_or(true, |real| real == parent)
    };
    let links: Vec<&[u8]> = links.into_iter().filter(is_there).collect();
    let update = git(&["update-index", "--add", "--remove", "-z", "--stdin"]);
    update.input(links.join(&0)).run_patiently().await.map(drop)
}

/// Whether the index differs from HEAD.
pub(crate) async fn is_staged(tree: &Tree) -> Result<bool, GitError> {
    let diff = ["diff-index", "--cached", "--quiet", "--ignore-submodules=dirty", "HEAD", "--"];
    Ok(Git::read(tree).args(diff).answer().await?.code != 0)
}

/// Whether anything differs from HEAD, untracked files included. Uncommitted changes inside a submodule do not count.
pub async fn is_dirty(repo: &Repo, worktree: &Path) -> Result<bool, GitError> {
    Ok(!changed_files(&repo.tree(worktree)?, Untracked::Count).await?.is_empty())
}

/// Whether untracked files make a worktree dirty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untracked {
    Count,
    Ignore,
}

/// The paths that differ from HEAD.
pub(crate) async fn changed_files(tree: &Tree, untracked: Untracked) -> Result<Vec<String>, GitError> {
    let mode = if untracked == Untracked::Count { "-unormal" } else { "-uno" };
    let args = ["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty", mode];
    let bytes = Git::read(tree).args(args).run().await?;
    let entries = bytes.split(|byte| *byte == 0).filter(|entry| entry.len() > 3);
    Ok(entries.map(|entry| String::from_utf8_lossy(&entry[3..]).into_owned()).collect())
}

/// Moves the worktree, which is on `branch`, to `commit`. Uncommitted state is saved under the owner's keep references
/// first.
pub async fn reset_hard(
    repo: &Repo,
    worktree: &Path,
    owner: Owner,
    branch: &str,
    commit: &str,
) -> Result<Option<Kept>, GitError> {
    let tree = repo.tree(worktree)?;
    let kept = match changed_files(&tree, Untracked::Count).await?.is_empty() {
        false => Some(keep::keep(repo, &tree, owner).await?),
        true => None,
    };
    // A reset inside a stopped rebase would move a HEAD that is on no branch.
    crate::abort(repo, worktree, owner, branch).await?;
    Git::write(&tree).args(["reset", "-q", "--hard", revision(commit)?, "--"]).run_patiently().await?;
    Ok(kept)
}
