//! Commits that Forge makes on its own, and going back to an earlier one.
//!
//! Invariant: an automatic commit runs no hook and asks for no key, so neither can lose the agent's work; the user's
//! configuration is never written. A reset saves what it would destroy first.

use std::path::Path;
use std::time::Duration;

use crate::branch::revision;
use crate::command::Git;
use crate::status::rebased_branch;
use crate::{GitError, Kept, Owner, Repo, admin, keep};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Committed {
    Nothing,
    Commit(String),
    /// An operation is stopped at these files, and nothing was committed.
    Conflicts(Vec<String>),
}

/// Commits every change of the worktree, untracked files included.
pub async fn commit_all(repo: &Repo, worktree: &Path, message: &str) -> Result<Committed, GitError> {
    if !is_dirty(worktree).await? {
        return Ok(Committed::Nothing);
    }
    let identity = repo.identity().await?;
    let add = Git::write(worktree).args(["add", "-A"]).time_limit(Duration::from_secs(1800));
    add.run_patiently().await?;
    let answer = Git::write(worktree)
        .options(&identity)
        .option("core.hooksPath=/dev/null")
        .args(["commit", "-q", "--no-verify", "--no-gpg-sign", "--allow-empty-message", "-F", "-"])
        .input(message)
        .answer()
        .await?;
    if answer.code != 0 {
        let said = String::from_utf8_lossy(&answer.stdout).into_owned();
        let nothing = ["nothing to commit", "no changes added to commit", "nothing added to commit"];
        // Changes inside a submodule show in the status but cannot be committed here.
        return match answer.code == 1 && nothing.iter().any(|text| said.contains(text)) {
            true => Ok(Committed::Nothing),
            false => Err(answer.into_error()),
        };
    }
    Ok(Committed::Commit(repo.head_of(worktree).await?))
}

/// Whether anything differs from HEAD, untracked files included.
pub async fn is_dirty(worktree: &Path) -> Result<bool, GitError> {
    Ok(!changed_files(worktree, Untracked::Count).await?.is_empty())
}

/// Whether untracked files make a worktree dirty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untracked {
    Count,
    Ignore,
}

/// The paths that differ from HEAD.
pub(crate) async fn changed_files(worktree: &Path, untracked: Untracked) -> Result<Vec<String>, GitError> {
    let mode = if untracked == Untracked::Count { "-unormal" } else { "-uno" };
    let args = ["status", "--porcelain", "-z", "--no-renames", mode];
    let bytes = Git::read(worktree).args(args).run().await?;
    let entries = bytes.split(|byte| *byte == 0).filter(|entry| entry.len() > 3);
    Ok(entries.map(|entry| String::from_utf8_lossy(&entry[3..]).into_owned()).collect())
}

/// Moves the worktree's branch to `commit`. Uncommitted state is saved under the owner's keep references first.
pub async fn reset_hard(
    repo: &Repo,
    worktree: &Path,
    owner: Owner,
    commit: &str,
) -> Result<Option<Kept>, GitError> {
    let kept = match is_dirty(worktree).await? {
        true => Some(keep::keep(repo, worktree, owner).await?),
        false => None,
    };
    // A reset inside a stopped rebase would move a HEAD that is on no branch.
    if crate::operation(worktree).is_some() {
        let git_dir = admin::private_dir(worktree).unwrap_or_else(|| worktree.join(".git"));
        let branch = rebased_branch(&git_dir).unwrap_or_else(|| "HEAD".to_owned());
        crate::abort(repo, worktree, owner, &branch).await?;
    }
    Git::write(worktree).args(["reset", "-q", "--hard", revision(commit)?, "--"]).run_patiently().await?;
    Ok(kept)
}
