//! Taking a worktree out of use without losing anything in it.
//!
//! Invariant: the order is: prove ownership, snapshot and verify, move to the trash, remove the private directory. A
//! crash after any step leaves the content in at least one of the three places, and the branch is never touched.

use std::path::{Path, PathBuf};

use forge_types::{AttemptId, Millis};
use serde::{Deserialize, Serialize};

use crate::base::blocking;
use crate::{GitError, Owner, Repo, WorktreeBase, admin, keep, mark};

pub(crate) const ITEM_FILE: &str = "item.json";
pub(crate) const TREE_DIR: &str = "tree";
pub(crate) const ADMIN_DIR: &str = "admin";

/// Where retired content can be found again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub reference: String,
    pub commit: String,
    /// The trash item, when a directory was moved.
    pub trash: Option<PathBuf>,
}

/// What a trash item records about itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ItemNote {
    pub installation: String,
    pub owner: Owner,
    pub original: PathBuf,
    pub repo: PathBuf,
    /// Name of the private directory under `worktrees/`.
    pub git_dir: String,
    pub reference: String,
    pub commit: String,
    pub retired_at_ms: i64,
}

/// Saves the owner's worktree and moves it to the trash. Anything that is not provably this owner's is refused.
pub async fn retire(repo: &Repo, base: &WorktreeBase, owner: Owner, path: &Path) -> Result<Kept, GitError> {
    let git_dir = mark::prove(repo, base, owner, path)?;
    let mut kept = keep::keep(repo, &repo.tree(path)?, owner).await?;
    let _writing = repo.writing().await;
    let retired_at_ms = Millis::now().0;
    let note = ItemNote {
        installation: base.installation().to_owned(),
        owner,
        original: path.to_owned(),
        repo: repo.path().to_owned(),
        git_dir: git_dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        reference: kept.reference.clone(),
        commit: kept.commit.clone(),
        retired_at_ms,
    };
    let item = base.trash_dir().join(format!("{retired_at_ms}-{owner}-{}", &AttemptId::random().hex()[..6]));
    kept.trash = Some(item.clone());
    let (repo, base, path) = (repo.clone(), base.clone(), path.to_owned());
    blocking(move || {
        std::fs::create_dir_all(&item).map_err(GitError::io(&item))?;
        if let Err(error) = move_in(&item, &note, &git_dir, &path) {
            // Only what was just put there is removed; the worktree is still in its place.
            let _ = std::fs::remove_dir_all(item.join(ADMIN_DIR));
            let _ = std::fs::remove_file(item.join(ITEM_FILE));
            let _ = std::fs::remove_dir(&item);
            return Err(error);
        }
        forget(&repo, &base, owner, &git_dir)
    })
    .await?;
    Ok(kept)
}

fn move_in(item: &Path, note: &ItemNote, git_dir: &Path, path: &Path) -> Result<(), GitError> {
    copy_dir(git_dir, &item.join(ADMIN_DIR))?;
    let json = serde_json::to_vec_pretty(note).map_err(|error| GitError::io(item)(error.into()))?;
    admin::write_whole(&item.join(ITEM_FILE), &json)?;
    forge_os::rename_new(path, &item.join(TREE_DIR)).map_err(GitError::io(path))
}

/// Removes the private directory of a worktree that is in the trash, and no other.
fn forget(repo: &Repo, base: &WorktreeBase, owner: Owner, git_dir: &Path) -> Result<(), GitError> {
    let ours = mark::read(base, git_dir)?
        .is_some_and(|mark| mark.owner == owner && mark.installation == base.installation());
    let inside = git_dir.parent() == Some(&repo.common_dir().join("worktrees"));
    let gone = admin::worktree_of(git_dir).is_some_and(|worktree| !worktree.exists());
    match ours && inside && gone {
        true => admin::withdraw(repo, git_dir).and_then(|()| mark::forget(base, git_dir)),
        false => Ok(()),
    }
}

/// Copies a private git directory: files, links, permissions.
pub(crate) fn copy_dir(from: &Path, to: &Path) -> Result<(), GitError> {
    std::fs::create_dir(to).map_err(GitError::io(to))?;
    for entry in std::fs::read_dir(from).map_err(GitError::io(from))? {
        let entry = entry.map_err(GitError::io(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(GitError::io(&source))?;
        if kind.is_dir() {
            copy_dir(&source, &target)?;
        } else if kind.is_symlink() {
            let link = std::fs::read_link(&source).map_err(GitError::io(&source))?;
            std::os::unix::fs::symlink(link, &target).map_err(GitError::io(&target))?;
        } else if kind.is_file() {
            std::fs::copy(&source, &target).map_err(GitError::io(&source))?;
        }
    }
    let mode = std::fs::metadata(from).map_err(GitError::io(from))?.permissions();
    std::fs::set_permissions(to, mode).map_err(GitError::io(to))
}
