//! Landing an attempt: one squash commit on the target branch.
//!
//! Invariant: the commit is made in the object store and both branches move in one transaction with their expected old
//! values; no checkout is touched unless it is clean (beads do not count), and nothing untracked is ever overwritten.
//! When a checkout cannot follow, the branches move back. A merge is reported as done only after the target was checked
//! to contain it, and survives a power cut from then on.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use crate::command::Git;
use crate::commit::{Untracked, changed_files};
use crate::rebase::refuse_unready;
use crate::status::{look, rebased_branch};
use crate::tree::Tree;
use crate::{GitError, Repo, admin, durable};

/// The reflog message by which a merge is recognised.
const REFLOG_MESSAGE: &str = "forge: squash merge";

/// The folder of a tracker.
const BEADS: &str = ".beads/";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    pub commit: String,
    /// Where the target was before.
    pub previous: String,
    /// Checkouts of the target branch that now follow it.
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
    let previous = target_tip(repo, target).await?;
    if worktree.exists() {
        let tree = repo.tree(worktree)?;
        refuse_unready(worktree, branch, &look(&tree).await?)?;
        refuse_dirty(&tree).await?;
    }
    repo.refuse_any_trap().await?;
    refuse_rebased(repo, target)?;
    check_ancestry(repo, branch, target, &tip, &previous).await?;
    let checkouts = checkouts_of(repo, target).await?;
    for checkout in &checkouts {
        refuse_changes(checkout).await?;
        Git::write(checkout).args(["update-index", "-q", "--refresh"]).answer().await?;
        let dry = ["read-tree", "-m", "-u", "--dry-run", &previous, &tip];
        let answer = Git::write(checkout).args(dry).answer().await?;
        if answer.code != 0 {
            return Err(GitError::Dirty { path: checkout.path().to_owned(), files: vec![answer.stderr] });
        }
    }
    let commit = commit_tree(repo, &tip, &previous, message).await?;
    durable::sync_objects(repo, &previous, &commit).await?;
    move_branches(repo, &[(target, &commit, &previous), (branch, &commit, &tip)]).await?;
    if let Err(error) = follow(&checkouts, &previous, &commit).await {
        move_branches(repo, &[(target, &previous, &commit), (branch, &tip, &commit)]).await?;
        return Err(error);
    }
    prove(repo, target, &commit, &tip).await?;
    let updated_checkouts = checkouts.into_iter().map(|tree| tree.path().to_owned()).collect();
    Ok(Merged { commit, previous, updated_checkouts })
}

/// The merge commit a branch was last moved to by [`squash_merge`], if the target holds it.
pub async fn landed(repo: &Repo, branch: &str, target: &str) -> Result<Option<String>, GitError> {
    let (tip, target) = (local_tip(repo, branch).await?, local_tip(repo, target).await?);
    let reference = format!("refs/heads/{branch}");
    let args = ["reflog", "show", "-1", "--format=%H%x00%gs", &reference, "--"];
    let line = Git::read(repo.main()).args(args).text().await?;
    let is_merge = line.split_once('\0') == Some((tip.as_str(), REFLOG_MESSAGE));
    let lacks = if is_merge { crate::ahead_behind(repo, &tip, &target).await?.0 } else { 1 };
    Ok((lacks == 0).then_some(tip))
}

async fn local_tip(repo: &Repo, branch: &str) -> Result<String, GitError> {
    let missing = || GitError::BranchMissing(branch.to_owned());
    if !crate::branch::is_plain(branch) {
        return Err(missing());
    }
    repo.resolver().commit(&format!("refs/heads/{branch}")).await?.ok_or_else(missing)
}

/// The tip of the branch to merge into, which must be a local one.
async fn target_tip(repo: &Repo, target: &str) -> Result<String, GitError> {
    match local_tip(repo, target).await {
        Err(GitError::BranchMissing(_)) if repo.resolve_branch(target).await?.is_some() => {
            Err(GitError::RemoteTarget(target.to_owned()))
        }
        other => other,
    }
}

/// A branch that is being rebased is checked out nowhere, but its rebase expects to find it where it was.
fn refuse_rebased(repo: &Repo, target: &str) -> Result<(), GitError> {
    let mut dirs = admin::all(repo).into_iter().chain([repo.common_dir().to_owned()]);
    match dirs.find(|dir| rebased_branch(dir).as_deref() == Some(target)) {
        Some(dir) => {
            let path = admin::worktree_of(&dir).unwrap_or_else(|| repo.path().to_owned());
            Err(GitError::InProgress { path, operation: "rebase".into() })
        }
        None => Ok(()),
    }
}

/// Checks that the target contains the commit and the commit the whole change.
async fn prove(repo: &Repo, target: &str, commit: &str, tip: &str) -> Result<(), GitError> {
    let now = local_tip(repo, target).await?;
    let trees = [format!("{commit}^{{tree}}"), format!("{tip}^{{tree}}")];
    let trees = Git::read(repo.main()).args(["rev-parse"]).args(&trees).text().await?;
    let same = trees.split_once('\n').is_some_and(|(landed, wanted)| landed == wanted);
    if same && (now == commit || crate::ahead_behind(repo, commit, &now).await?.0 == 0) {
        return Ok(());
    }
    Err(GitError::Busy(format!(
        "'{target}' was moved to {now} by somebody else right after the merge and does not hold it any more: the merge \
         is commit {commit}"
    )))
}

async fn refuse_dirty(tree: &Tree) -> Result<(), GitError> {
    let files = changed_files(tree, Untracked::Count).await?;
    if files.is_empty() { Ok(()) } else { Err(GitError::Dirty { path: tree.path().to_owned(), files }) }
}

/// A tracker writes its beads whenever one is taken or closed. That is nobody's unfinished work, and git itself refuses
/// a merge that would overwrite it.
async fn refuse_changes(checkout: &Tree) -> Result<(), GitError> {
    let mut files = changed_files(checkout, Untracked::Ignore).await?;
    files.retain(|file| !file.starts_with(BEADS));
    if files.is_empty() { Ok(()) } else { Err(GitError::Dirty { path: checkout.path().to_owned(), files }) }
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
        let text = format!("'{target}' has {lacks} commits that '{branch}' lacks");
        return Err(GitError::Diverged(text));
    }
    let same = Git::read(repo.main())
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
async fn checkouts_of(repo: &Repo, branch: &str) -> Result<Vec<Tree>, GitError> {
    use std::os::unix::ffi::OsStrExt;
    let bytes =
        Git::read(repo.main()).args(["worktree", "list", "--porcelain", "-z"]).run_patiently().await?;
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
            found.push(repo.tree(&path)?);
        }
    }
    Ok(found)
}

async fn commit_tree(repo: &Repo, tip: &str, parent: &str, message: &str) -> Result<String, GitError> {
    let identity = repo.identity().await?;
    let tree = format!("{tip}^{{tree}}");
    Git::write(repo.main())
        .option(durable::OPTION)
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
    let args = ["update-ref", "--create-reflog", "-m", REFLOG_MESSAGE, "-z", "--stdin"];
    match Git::write(repo.main()).option(durable::OPTION).args(args).input(input).run_patiently().await {
        Ok(_) => Ok(()),
        Err(GitError::Failed { stderr, .. }) if stderr.contains("but expected") => {
            Err(GitError::Diverged(format!("a branch moved while it was merged: {stderr}")))
        }
        Err(other) => Err(other),
    }
}

/// Updates the checkouts; on failure those already updated go back.
async fn follow(checkouts: &[Tree], old: &str, new: &str) -> Result<(), GitError> {
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
