//! Worktrees of this repository that another program made: found, adopted or released when the user asks for it.
//!
//! Invariant: a worktree with anybody's mark is left alone. Adopting one changes no file in it, its index and its HEAD
//! included; it is marked first, then moved below the base if it lies elsewhere on the same file system. Releasing one
//! only detaches its HEAD, and only where nothing is uncommitted or in progress. Nothing is deleted.

use std::path::{Path, PathBuf};

use crate::base::blocking;
use crate::claim::record;
use crate::command::Git;
use crate::tree::read_text;
use crate::{GitError, Mark, MarkedTask, Owner, Repo, WorktreeBase, admin, mark, status};

/// Whether a linked worktree is at `path` whose mark, if there is one, names somebody else.
pub fn is_strange(base: &WorktreeBase, owner: Owner, path: &Path) -> bool {
    let Some(git_dir) = admin::private_dir(path) else { return false };
    mark::read(base, &git_dir).is_ok_and(|mark| mark.is_none_or(|mark| mark.owner != owner))
}

fn is_unmarked(base: &WorktreeBase, git_dir: &Path) -> bool {
    matches!(mark::read(base, git_dir), Ok(None)) && !mark::has_place(base, git_dir)
}

/// The unmarked worktree of the repository that is at `near` or directly in it, or else the one on the branch.
pub fn strange_worktree(
    repo: &Repo,
    base: &WorktreeBase,
    branch: &str,
    near: Option<&Path>,
) -> Option<PathBuf> {
    let near = near.and_then(|near| std::fs::canonicalize(near).ok());
    let strange = || {
        admin::all(repo).into_iter().filter_map(|git_dir| {
            let path = admin::worktree_of(&git_dir).filter(|path| path.join(".git").exists())?;
            is_unmarked(base, &git_dir).then_some((git_dir, path))
        })
    };
    let is_near = |(_, path): &(PathBuf, PathBuf)| {
        near.as_ref().is_some_and(|near| path == near || path.parent() == Some(near))
    };
    let is_on_branch = |(git_dir, _): &(PathBuf, PathBuf)| admin::is_on(git_dir, &full_ref(branch));
    let found = strange().find(is_near).or_else(|| strange().find(is_on_branch))?;
    Some(found.1)
}

fn full_ref(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

/// Makes the worktree at `from` the owner's and returns where it is: in its place when that is below the base, else at
/// `to`. When called again after it was cut off, it continues.
pub async fn adopt(
    repo: &Repo,
    base: &WorktreeBase,
    (owner, task): (Owner, Option<&MarkedTask>),
    branch: &str,
    from: &Path,
    to: &Path,
) -> Result<PathBuf, GitError> {
    base.make()?;
    if is_moved(repo, base, owner, to) {
        admin::reconnect(to)?;
        record(repo, branch, owner).await?;
        return Ok(to.to_owned());
    }
    let git_dir = subject(repo, base, branch, from)?;
    let real = std::fs::canonicalize(from).map_err(GitError::io(from))?;
    let real_base = std::fs::canonicalize(base.path()).map_err(GitError::io(base.path()))?;
    let stays = real.parent() == Some(&real_base);
    if !stays && std::fs::symlink_metadata(to).is_ok() {
        return Err(GitError::Exists(to.to_owned()));
    }
    let writing = repo.writing().await;
    let mark = Mark {
        installation: base.installation().to_owned(),
        owner,
        branch: Some(branch.to_owned()),
        repo: repo.path().to_string_lossy().into_owned(),
        task: task.cloned(),
    };
    let place = if stays { base.path().join(real.file_name().unwrap_or_default()) } else { to.to_owned() };
    let (base, moved) = (base.clone(), (!stays).then(|| admin::real_place(to)));
    blocking(move || {
        mark::write(&base, &git_dir, &mark)?;
        let Some(to) = moved else { return Ok(()) };
        if let Err(error) = forge_os::rename_new(&real, &to) {
            mark::withdraw(&base, &git_dir)?;
            return Err(match error.kind() {
                std::io::ErrorKind::CrossesDevices => elsewhere(&real, &base),
                _ => GitError::io(&real)(error),
            });
        }
        admin::connect(&git_dir, &to)
    })
    .await?;
    drop(writing);
    record(repo, branch, owner).await?;
    Ok(place)
}

fn elsewhere(path: &Path, base: &WorktreeBase) -> GitError {
    GitError::Busy(format!(
        "{} is on another file system than {}, so it cannot be moved there: commit what is in it and release it, or let \
         Forge work on that file system (FORGE_WORKTREE_DIR)",
        path.display(),
        base.path().display()
    ))
}

/// Whether an adoption that was cut off had moved the worktree already.
fn is_moved(repo: &Repo, base: &WorktreeBase, owner: Owner, to: &Path) -> bool {
    let Ok(git_dir) = repo.entry(to) else { return false };
    matches!(mark::read(base, &git_dir),
        Ok(Some(mark)) if mark.owner == owner && mark.installation == base.installation())
}

/// Frees the branch: the worktree at `path` stays on its commit without it.
pub async fn release(repo: &Repo, base: &WorktreeBase, branch: &str, path: &Path) -> Result<(), GitError> {
    subject(repo, base, branch, path)?;
    let tree = repo.tree(path)?;
    let found = status::look(&tree).await?;
    if found.operation.is_some() || !found.changed.is_empty() || found.untracked > 0 {
        let (path, mut files) = (path.to_owned(), found.changed);
        if found.untracked > 0 {
            files.push(format!("{} untracked", found.untracked));
        }
        return Err(GitError::Dirty { path, files });
    }
    let head = found.head.ok_or_else(|| GitError::BranchMissing(branch.to_owned()))?;
    let _writing = repo.writing().await;
    Git::write(&tree).args(["update-ref", "--no-deref", "HEAD", &head]).run_patiently().await?;
    Ok(())
}

/// The private git directory of a worktree that nobody has marked and that is on the branch.
fn subject(repo: &Repo, base: &WorktreeBase, branch: &str, path: &Path) -> Result<PathBuf, GitError> {
    let tree = repo.tree(path)?;
    let Some(git_dir) = tree.private_dir() else {
        return Err(GitError::stranger(path, "it is the repository's own checkout"));
    };
    if !is_unmarked(base, git_dir) {
        return Err(GitError::stranger(path, "a Forge has marked it already, or one of the same name"));
    }
    if git_dir.join("locked").exists() {
        return Err(GitError::stranger(path, "it is locked (`git worktree unlock` opens it)"));
    }
    match admin::is_on(git_dir, &full_ref(branch)) || is_stopped_on(git_dir, branch) {
        true => Ok(git_dir.to_owned()),
        false => {
            let head = read_text(&git_dir.join("HEAD")).unwrap_or_default();
            let found = head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned);
            Err(GitError::OffBranch { path: path.to_owned(), branch: branch.to_owned(), found })
        }
    }
}

/// A rebase that stopped is on no branch and names the one that it moves.
fn is_stopped_on(git_dir: &Path, branch: &str) -> bool {
    let names = ["rebase-merge/head-name", "rebase-apply/head-name"];
    let head = full_ref(branch);
    names.iter().any(|name| read_text(&git_dir.join(name)).is_ok_and(|text| text.trim() == head))
}
