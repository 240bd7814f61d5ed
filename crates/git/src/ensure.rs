//! Bringing a worktree back when its directory is gone, and undoing a claim that nobody recorded.
//!
//! Invariant: a directory that exists is only accepted, never changed; one without this owner's mark is an error. A
//! branch is deleted only when it has no commits of its own.

use std::path::Path;

use crate::claim::{config_key, record, update_submodules};
use crate::command::{Git, Haste};
use crate::spare::{self, Attach, AttachFailure, Hooks};
use crate::tree::read_text;
use crate::{GitError, Kept, Mark, MarkedTask, Owner, Repo, WorktreeBase, admin, mark, retire};

/// Makes sure that the owner's worktree exists at `path`; a missing one is checked out again from its branch, without
/// any hook, and marked as work for `task`.
pub async fn ensure(
    repo: &Repo,
    base: &WorktreeBase,
    owner: Owner,
    branch: &str,
    path: &Path,
    task: Option<&MarkedTask>,
) -> Result<(), GitError> {
    if std::fs::symlink_metadata(path).is_ok() {
        return mark::prove(repo, base, owner, path).map(|_| ());
    }
    base.make()?;
    let real = admin::real_place(path);
    let real_base = std::fs::canonicalize(base.path()).map_err(GitError::io(base.path()))?;
    if real.parent() != Some(&real_base) {
        return Err(GitError::stranger(path, "it lies outside the worktree base directory"));
    }
    if let Some(git_dir) = admin::registered(repo, &real) {
        return refill(repo, base, owner, &real, &git_dir).await;
    }
    let full_ref = format!("refs/heads/{branch}");
    let commit = match crate::branch::is_plain(branch) {
        true => repo.resolver().commit(&full_ref).await?,
        false => None,
    };
    let commit = commit.ok_or_else(|| GitError::BranchMissing(branch.to_owned()))?;
    if let Some(elsewhere) = checked_out_at(repo, &full_ref) {
        return Err(GitError::CheckedOut { branch: branch.to_owned(), path: elsewhere });
    }
    let spare = match base.take_spare(repo, &commit) {
        Some(spare) => spare,
        None => spare::make(repo, base, &commit, Hooks::Off, Haste::Now).await?,
    };
    let repo_path = repo.path().to_string_lossy().into_owned();
    let installation = base.installation().to_owned();
    let (branch_name, task) = (Some(branch.to_owned()), task.cloned());
    let mark = Mark { installation, owner, branch: branch_name, repo: repo_path, task };
    let tree = repo.linked(&real, spare.git_dir.clone());
    let settled = async {
        spare::settle(base, &spare, &mark, &real)?;
        spare::attach(&tree, branch, &commit, Attach::Existing).await.map_err(|failure| match failure {
            AttachFailure::Other(error) => error,
            AttachFailure::Taken => GitError::Busy(format!("'{branch}' changed meanwhile: try again")),
        })
    };
    if let Err(error) = settled.await {
        let at = if spare.path.exists() { spare.path.clone() } else { real };
        spare::give_back(repo, base, spare, &at);
        return Err(error);
    }
    base.let_go(&spare.path);
    for warning in update_submodules(repo, &tree).await {
        tracing::warn!(path = %real.display(), warning);
    }
    Ok(())
}

/// Checks the files out again for a worktree whose directory vanished but whose private directory still exists: HEAD,
/// index and reflog stay what they were.
async fn refill(
    repo: &Repo,
    base: &WorktreeBase,
    owner: Owner,
    path: &Path,
    git_dir: &Path,
) -> Result<(), GitError> {
    match mark::read(base, git_dir)? {
        Some(mark) if mark.installation == base.installation() && mark.owner == owner => {}
        _ => return Err(GitError::stranger(path, "git knows it as a worktree of somebody else")),
    }
    std::fs::create_dir(path).map_err(GitError::io(path))?;
    admin::connect(git_dir, path)?;
    let tree = repo.tree(path)?;
    Git::write(&tree).args(["checkout-index", "--all", "--quiet"]).run_patiently().await?;
    Git::write(&tree).args(["update-index", "-q", "--refresh"]).answer().await?;
    Ok(())
}

/// The worktree that has the ref checked out, if any.
fn checked_out_at(repo: &Repo, full_ref: &str) -> Option<std::path::PathBuf> {
    if admin::is_on(repo.common_dir(), full_ref) {
        return Some(repo.path().to_owned());
    }
    let dirs = admin::all(repo).into_iter().filter(|dir| admin::is_on(dir, full_ref));
    dirs.filter_map(|dir| admin::worktree_of(&dir)).find(|path| path.exists())
}

/// Undoes a claim whose owner was never recorded. The branch is deleted only when it still is where the claim put it
/// and is known to be the claim's: its configuration names this owner or, when the claim was cut off before that was
/// written, the worktree is on it. It is deleted before the directory is retired: without the directory nothing would
/// lead to it any more.
pub async fn drop_orphan_claim(
    repo: &Repo,
    base: &WorktreeBase,
    owner: Owner,
    path: &Path,
    branch: &str,
    base_commit: &str,
) -> Result<Option<Kept>, GitError> {
    let is_there = std::fs::symlink_metadata(path).is_ok();
    mend(base, owner, path)?;
    let tip = repo.resolver().commit(&format!("refs/heads/{branch}")).await?;
    if tip.as_deref() == Some(base_commit) && branch_is_claims(repo, owner, path, branch).await? {
        if is_there {
            // First the owner's name, so that the owner of the branch is known when the worktree is no longer on it.
            record(repo, branch, owner).await?;
            let detach = ["update-ref", "--no-deref", "HEAD", base_commit];
            Git::write(&repo.tree(path)?).args(detach).run_patiently().await?;
        }
        remove_claimed_branch(repo, branch, base_commit).await?;
    }
    match is_there {
        true => Ok(Some(retire_cut_off(repo, base, owner, path).await?)),
        false => Ok(None),
    }
}

/// Whether the branch was made by this owner's claim.
async fn branch_is_claims(repo: &Repo, owner: Owner, path: &Path, branch: &str) -> Result<bool, GitError> {
    let id = Git::read(repo.main()).args(["config", "--get", &config_key(branch)]).answer().await?;
    let id = String::from_utf8_lossy(&id.stdout).trim().to_owned();
    // Branch and HEAD are set in one step, so this HEAD proves that the claim made the branch.
    let head = admin::private_dir(path).and_then(|dir| read_text(&dir.join("HEAD")).ok());
    let is_on_it = head.is_some_and(|head| head.trim() == format!("ref: refs/heads/{branch}"));
    Ok(id == owner.to_string() || (id.is_empty() && is_on_it))
}

/// Deletes the branch if it is at `commit`, then its configuration.
async fn remove_claimed_branch(repo: &Repo, branch: &str, commit: &str) -> Result<(), GitError> {
    let _writing = repo.writing().await;
    let full_ref = format!("refs/heads/{branch}");
    let removed = Git::write(repo.main()).args(["update-ref", "-d", &full_ref, commit]).answer().await?;
    if removed.code == 0 {
        // Without such a section there is nothing to remove.
        let section = format!("branch.{branch}");
        let args = ["config", "--local", "--remove-section", &section];
        Git::write(repo.main()).args(args).answer().await?;
    }
    Ok(())
}

/// Deletes a branch that appeared at `commit` after its claim was undone: a git process outlived the server that had
/// started it.
pub async fn drop_late_branch(repo: &Repo, branch: &str, commit: &str) -> Result<(), GitError> {
    remove_claimed_branch(repo, branch, commit).await
}

/// Retires a worktree whose claim may have been cut off anywhere, even between its move and git's record of it.
pub async fn retire_cut_off(
    repo: &Repo,
    base: &WorktreeBase,
    owner: Owner,
    path: &Path,
) -> Result<Kept, GitError> {
    mend(base, owner, path)?;
    retire(repo, base, owner, path).await
}

/// Finishes the move of a worktree that this owner's claim left half moved.
fn mend(base: &WorktreeBase, owner: Owner, path: &Path) -> Result<(), GitError> {
    let is_ours = |mark: Mark| mark.installation == base.installation() && mark.owner == owner;
    match admin::private_dir(path).and_then(|dir| mark::read(base, &dir).ok().flatten()).is_some_and(is_ours)
    {
        true => admin::reconnect(path),
        false => Ok(()),
    }
}
