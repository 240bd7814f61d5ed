//! Landing an attempt: one squash commit on the target branch.
//!
//! Invariant: the commit is made in the object store and both branches move in one transaction with their expected old
//! values; no checkout is touched unless it is clean, and nothing untracked is ever overwritten. When a checkout cannot
//! follow, the branches move back.

use std::path::{Path, PathBuf};

use crate::command::Git;
use crate::commit::{Untracked, changed_files};
use crate::{GitError, Repo};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    pub commit: String,
    /// Where the target was before.
    pub previous: String,
    /// Checkouts of the target branch that follow it now.
    pub updated_checkouts: Vec<PathBuf>,
}

/// Puts the content of `branch` onto `target` as one commit and moves `branch` to it.
pub async fn squash_merge(
    repo: &Repo,
    worktree: &Path,
    branch: &str,
    target: &str,
    message: &str,
) -> Result<Merged, GitError> {
    let _writing = repo.writing().await;
    let tip = local_tip(repo, branch).await?;
    let previous = local_tip(repo, target).await?;
    if worktree.exists() {
        refuse_dirty(worktree, Untracked::Count).await?;
    }
    check_ancestry(repo, branch, target, &tip, &previous).await?;
    let checkouts = checkouts_of(repo, target).await?;
    for checkout in &checkouts {
        refuse_dirty(checkout, Untracked::Ignore).await?;
        Git::write(checkout).args(["update-index", "-q", "--refresh"]).answer().await?;
        let dry = ["read-tree", "-m", "-u", "--dry-run", &previous, &tip];
        let answer = Git::write(checkout).args(dry).answer().await?;
        if answer.code != 0 {
            return Err(GitError::Dirty { path: checkout.clone(), files: vec![answer.stderr] });
        }
    }
    let commit = commit_tree(repo, &tip, &previous, message).await?;
    move_branches(repo, &[(target, &commit, &previous), (branch, &commit, &tip)]).await?;
    if let Err(error) = follow(&checkouts, &previous, &commit).await {
        move_branches(repo, &[(target, &previous, &commit), (branch, &tip, &commit)]).await?;
        return Err(error);
    }
    if local_tip(repo, target).await? != commit {
        return Err(GitError::Busy(format!(
            "'{target}' was moved by somebody else right after the merge: check it"
        )));
    }
    Ok(Merged { commit, previous, updated_checkouts: checkouts })
}

async fn local_tip(repo: &Repo, branch: &str) -> Result<String, GitError> {
    let missing = || GitError::BranchMissing(branch.to_owned());
    if !crate::branch::is_plain(branch) {
        return Err(missing());
    }
    repo.resolver().commit(&format!("refs/heads/{branch}")).await?.ok_or_else(missing)
}

async fn refuse_dirty(path: &Path, untracked: Untracked) -> Result<(), GitError> {
    let files = changed_files(path, untracked).await?;
    if files.is_empty() { Ok(()) } else { Err(GitError::Dirty { path: path.to_owned(), files }) }
}

async fn check_ancestry(
    repo: &Repo,
    branch: &str,
    target: &str,
    tip: &str,
    previous: &str,
) -> Result<(), GitError> {
    let (lacks, has) = crate::ahead_behind(repo, previous, tip).await?;
    if lacks > 0 {
        let text = format!("'{target}' has {lacks} commits that '{branch}' lacks: rebase '{branch}' first");
        return Err(GitError::Diverged(text));
    }
    let same = Git::read(repo.path())
        .args(["diff-tree", "--quiet", "--no-ext-diff", previous, tip])
        .answer()
        .await?;
    match (has, same.code) {
        (0, _) | (_, 0) => {
            Err(GitError::NothingToMerge { branch: branch.to_owned(), target: target.to_owned() })
        }
        (_, 1) => Ok(()),
        _ => Err(same.into_error()),
    }
}

/// Every existing checkout that has the branch as its HEAD.
async fn checkouts_of(repo: &Repo, branch: &str) -> Result<Vec<PathBuf>, GitError> {
    use std::os::unix::ffi::OsStrExt;
    let bytes =
        Git::read(repo.path()).args(["worktree", "list", "--porcelain", "-z"]).run_patiently().await?;
    let wanted = format!("branch refs/heads/{branch}");
    let mut found = Vec::new();
    let mut current: Option<PathBuf> = None;
    for line in bytes.split(|byte| *byte == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            current = Some(PathBuf::from(std::ffi::OsStr::from_bytes(path)));
        } else if line == wanted.as_bytes()
            && let Some(path) = current.take()
            && path.join(".git").exists()
        {
            found.push(path);
        }
    }
    Ok(found)
}

async fn commit_tree(repo: &Repo, tip: &str, parent: &str, message: &str) -> Result<String, GitError> {
    let identity = repo.identity().await?;
    let tree = format!("{tip}^{{tree}}");
    Git::write(repo.path())
        .options(&identity)
        .args(["commit-tree", &tree, "-p", parent, "-F", "-"])
        .input(message)
        .text()
        .await
}

/// Moves several branches at once, each from its expected old value.
async fn move_branches(repo: &Repo, moves: &[(&str, &str, &str)]) -> Result<(), GitError> {
    let mut input = String::new();
    for (branch, new, old) in moves {
        input.push_str(&format!("update refs/heads/{branch}\0{new}\0{old}\0"));
    }
    let args = ["update-ref", "--create-reflog", "-m", "forge: squash merge", "-z", "--stdin"];
    match Git::write(repo.path()).args(args).input(input).run_patiently().await {
        Ok(_) => Ok(()),
        Err(GitError::Failed { stderr, .. }) if stderr.contains("but expected") => {
            Err(GitError::Diverged(format!("a branch moved while it was merged: {stderr}; try again")))
        }
        Err(other) => Err(other),
    }
}

/// Updates the checkouts; on failure those already updated go back.
async fn follow(checkouts: &[PathBuf], old: &str, new: &str) -> Result<(), GitError> {
    for (at, checkout) in checkouts.iter().enumerate() {
        let update = Git::write(checkout).args(["read-tree", "-m", "-u", old, new]);
        if let Err(error) = update.run_patiently().await {
            for done in &checkouts[..at] {
                Git::write(done).args(["read-tree", "-m", "-u", new, old]).answer().await?;
            }
            return Err(error);
        }
    }
    Ok(())
}
