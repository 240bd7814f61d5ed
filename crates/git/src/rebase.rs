//! Moving a branch onto another base, and ending an operation that stopped.
//!
//! Invariant: a rebase starts only in a worktree that is on its branch and has no tracked change; it runs no hook,
//! opens no editor, asks for no key and moves no other branch. It ends complete, stopped at conflicts, or not begun.
//! What an abort discards is saved under `refs/forge/undo` first.

use std::path::Path;
use std::time::Duration;

use forge_types::ConflictOp;
use serde::{Deserialize, Serialize};

use crate::branch::BranchTip;
use crate::command::Git;
use crate::commit::commit_tree;
use crate::history::fork_point;
use crate::status::{WorktreeStatus, look, operation_in};
use crate::tree::{Objects, Tree};
use crate::{Committed, GitError, Owner, Repo, replay, undo};

const TIME_LIMIT: Duration = Duration::from_secs(600);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rebased {
    Done { head: String },
    Conflicts { files: Vec<String> },
}

/// Replays the commits of `branch` since it left `old` onto the commit of `new`.
pub async fn rebase(
    repo: &Repo,
    worktree: &Path,
    branch: &str,
    old: &BranchTip,
    new: &BranchTip,
) -> Result<Rebased, GitError> {
    let tree = repo.tree(worktree)?;
    let before = look(&tree).await?;
    refuse_unready(worktree, branch, &before)?;
    let tip = before.head.ok_or_else(|| GitError::BranchMissing(branch.to_owned()))?;
    let Some(fork) = fork_point(repo, old, &tip).await? else {
        return Err(GitError::Unrelated { branch: branch.to_owned(), other: old.full_ref.clone() });
    };
    let args =
        ["rebase", "-q", "--merge", "--no-stat", "--no-gpg-sign", "--onto", &new.commit, &fork, branch];
    let rebase = alone(repo, quiet(repo, &tree).await?, &[&format!("{fork}..{tip}")]).await?;
    let answer = rebase.args(args).answer_patiently().await;
    match conclude(repo, &tree, answer.as_ref().is_ok_and(|answer| answer.code == 0)).await? {
        Some(rebased) => Ok(rebased),
        None => {
            // It stopped for another reason, such as an untracked file in the way: back to where it began.
            if operation_in(tree.git_dir()).is_some() {
                replay::leave(repo, &tree, branch, true).await?;
            }
            let reason = match answer {
                Ok(answer) => answer.into_error(),
                Err(error) => error,
            };
            Err(in_the_way(worktree, reason))
        }
    }
}

/// A worktree without an unfinished operation, on its own branch, without tracked changes.
pub(crate) fn refuse_unready(worktree: &Path, branch: &str, now: &WorktreeStatus) -> Result<(), GitError> {
    let path = worktree.to_owned();
    if let Some(operation) = now.operation {
        return Err(GitError::InProgress { path, operation: operation.command().into() });
    }
    if now.branch.as_deref() != Some(branch) {
        let branch = branch.to_owned();
        return Err(GitError::OffBranch { path, branch, found: now.branch.clone() });
    }
    match now.changed.is_empty() {
        true => Ok(()),
        false => Err(GitError::Dirty { path, files: now.changed.clone() }),
    }
}

/// Git with everything turned off that could block, ask, or touch what is not this branch.
pub(crate) async fn quiet(repo: &Repo, tree: &Tree) -> Result<Git, GitError> {
    let identity = repo.identity().await?;
    let git = Git::write(tree).options(&identity).time_limit(TIME_LIMIT);
    let git = git.env("GIT_SEQUENCE_EDITOR", "true");
    let git = git.option("commit.gpgSign=false").option("rebase.updateRefs=false");
    let git = git.option("rebase.autoStash=false").option("rebase.autoSquash=false");
    Ok(git.option("rebase.rebaseMerges=false").option("rebase.missingCommitsCheck=ignore"))
}

/// A merge looks into nested repositories, and one that claims to lack commits makes git fetch them with a program that
/// it chooses. So nothing is fetched, except in a partial clone while no commit of `range` changes what is nested.
/// Refuses such traps on the way.
pub(crate) async fn alone(repo: &Repo, git: Git, range: &[&str]) -> Result<Git, GitError> {
    if repo.refuse_any_trap().await? == Objects::Partial {
        let changes = ["log", "--format=", "--raw", "--no-renames", "--no-abbrev", "--no-merges"];
        let changes = Git::read(repo.main()).args(changes).args(range).args(["--"]).text().await?;
        let is_nested = |line: &str| line.split_whitespace().take(2).any(|mode| mode.ends_with("160000"));
        if !changes.lines().any(is_nested) {
            return Ok(git);
        }
    }
    Ok(git.env("GIT_NO_LAZY_FETCH", "1"))
}

/// The result of a rebase; `None` when it stopped without a conflict.
pub(crate) async fn conclude(repo: &Repo, tree: &Tree, succeeded: bool) -> Result<Option<Rebased>, GitError> {
    if succeeded && operation_in(tree.git_dir()).is_none() {
        return Ok(Some(Rebased::Done { head: repo.head_of(tree.path()).await? }));
    }
    let files = look(tree).await?.conflicted;
    Ok((!files.is_empty()).then_some(Rebased::Conflicts { files }))
}

/// Git's list of untracked files that it would have to overwrite, as a refusal.
fn in_the_way(worktree: &Path, error: GitError) -> GitError {
    let GitError::Failed { stderr, .. } = &error else { return error };
    if !stderr.contains("untracked working tree files would be overwritten") {
        return error;
    }
    let files = stderr.lines().filter_map(|line| line.strip_prefix('\t')).map(|name| name.trim().to_owned());
    GitError::Dirty { path: worktree.to_owned(), files: files.collect() }
}

/// Commits the work of a run on `branch`. An operation that stopped is concluded when its conflicts are resolved and
/// staged, and left exactly as it is when they are not: a commit would take conflict markers for content.
pub async fn commit_work(
    repo: &Repo,
    worktree: &Path,
    branch: &str,
    message: &str,
) -> Result<Committed, GitError> {
    let tree = repo.tree(worktree)?;
    replay::bring_back(tree.git_dir())?;
    let Some(operation) = operation_in(tree.git_dir()) else {
        return commit_tree(repo, &tree, message).await;
    };
    let now = look(&tree).await?;
    if !now.conflicted.is_empty() {
        return Ok(Committed::Conflicts(now.conflicted));
    }
    match operation {
        ConflictOp::Rebase => replay::carry_on(repo, &tree, branch, &now).await,
        _ => commit_tree(repo, &tree, message).await,
    }
}

/// Ends the operation that is in progress and puts the worktree back on its branch; `None` when there was none.
pub async fn abort(
    repo: &Repo,
    worktree: &Path,
    owner: Owner,
    branch: &str,
) -> Result<Option<ConflictOp>, GitError> {
    let tree = repo.tree(worktree)?;
    let Some(operation) = operation_in(tree.git_dir()) else { return Ok(None) };
    let now = look(&tree).await?;
    let reason = format!("before the {} was aborted", operation.command());
    undo::save(repo, &tree, owner, &reason, None).await?;
    if operation == ConflictOp::Rebase {
        // A HEAD on no branch is where the rebase stopped; work done there would not be on the branch.
        let reset = now.branch.is_none() || !now.conflicted.is_empty();
        replay::leave(repo, &tree, branch, reset).await?;
    } else {
        quiet(repo, &tree).await?.args([operation.command(), "--abort"]).run_patiently().await?;
    }
    Ok(Some(operation))
}
