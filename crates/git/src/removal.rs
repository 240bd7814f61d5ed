//! Deleting one file of a worktree, on its branch.
//!
//! Invariant: the path is inside the worktree and leads through no link; the commit contains this deletion and nothing
//! else, whatever else is uncommitted. Content that no commit has is saved under `refs/forge/undo` before it is
//! deleted.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::base::blocking;
use crate::command::Git;
use crate::inside::{bad, missing, spell};
use crate::rebase::refuse_unready;
use crate::status::look;
use crate::{Committed, GitError, Owner, Repo, undo};

/// How the message of a deletion begins, which the file follows. Forge recognises its own commits by it.
pub const DELETION: &str = "Delete file: ";
/// The name of the path in requests.
const FIELD: &str = "file_path";

/// Deletes `file` and commits the deletion; nothing is committed for a file that was never tracked.
pub async fn delete_file(
    repo: &Repo,
    worktree: &Path,
    owner: Owner,
    branch: &str,
    file: &str,
) -> Result<Committed, GitError> {
    let file = &spell(FIELD, file)?;
    let (root, name) = (worktree.to_owned(), file.clone());
    let path = blocking(move || locate(&root, &name)).await?;
    let tree = repo.tree(worktree)?;
    let mut now = look(&tree).await?;
    now.changed.clear();
    refuse_unready(worktree, branch, &now)?;
    let git = |args: &[&str]| Git::write(&tree).env("GIT_LITERAL_PATHSPECS", "1").args(args);
    let entry = git(&["ls-tree", "-z", "HEAD", "--", file]).text().await?;
    let tracked = match entry.split(' ').nth(1) {
        None => false,
        Some("blob") => true,
        Some(_) => return Err(bad(FIELD, file, "the path of a file, not of a directory or submodule")),
    };
    if path.is_some() {
        let changed = git(&[
            "status",
            "--porcelain",
            "-z",
            "--ignored",
            "-uall",
            "--ignore-submodules=dirty",
            "--",
            file,
        ]);
        let changed = changed.run().await?;
        if !changed.is_empty() {
            undo::save(repo, &tree, owner, &format!("before {file} was deleted"), Some(file)).await?;
        }
    } else if !tracked {
        return Err(missing(FIELD, file, worktree.display()));
    }
    if let Some(path) = path {
        tokio::fs::remove_file(&path).await.map_err(GitError::io(&path))?;
    }
    if !tracked {
        // It may have been staged as new.
        git(&["rm", "-q", "--cached", "--ignore-unmatch", "--", file]).run_patiently().await?;
        return Ok(Committed::Nothing);
    }
    let identity = repo.identity().await?;
    let commit = git(&["commit", "-q", "--no-verify", "--no-gpg-sign", "--only", "-F", "-", "--", file]);
    commit.options(&identity).input(format!("{DELETION}{file}")).run_patiently().await?;
    Ok(Committed::Commit(repo.head_of(worktree).await?))
}

/// Where the file is; `None` when nothing is there.
fn locate(root: &Path, file: &str) -> Result<Option<PathBuf>, GitError> {
    let mut path = root.to_owned();
    for part in file.split('/') {
        path.push(part);
        match std::fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_symlink() => return Err(bad(FIELD, file, "a path without symbolic links")),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(GitError::io(&path)(error)),
        }
    }
    match path.is_dir() {
        true => Err(bad(FIELD, file, "the path of a file, not of a directory")),
        false => Ok(Some(path)),
    }
}
