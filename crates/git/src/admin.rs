//! The private git directories of linked worktrees (`<common>/worktrees/<id>`).
//!
//! Owns: the two pointers between a worktree and its private directory, and whole-file writes.
//! Invariant: files appear complete or not at all; only ids under `worktrees/` are ever named.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::{GitError, Repo};

/// The directory that the `.git` file of `worktree` points at; `None` for a main checkout or no checkout.
pub(crate) fn private_dir(worktree: &Path) -> Option<PathBuf> {
    let pointer = worktree.join(".git");
    if !std::fs::symlink_metadata(&pointer).ok()?.is_file() {
        return None;
    }
    let text = std::fs::read_to_string(&pointer).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim();
    let dir = worktree.join(target);
    dir.join("commondir").is_file().then_some(dir)
}

/// The worktree that a private directory says it belongs to.
pub(crate) fn worktree_of(git_dir: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(git_dir.join("gitdir")).ok()?;
    let pointer = git_dir.join(text.trim_end_matches('\n'));
    let parent = pointer.parent()?;
    Some(std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned()))
}

/// Makes a worktree and its private directory point at each other.
pub(crate) fn connect(git_dir: &Path, worktree: &Path) -> Result<(), GitError> {
    let mut forth = worktree.join(".git").into_os_string().into_encoded_bytes();
    forth.push(b'\n');
    write_whole(&git_dir.join("gitdir"), &forth)?;
    let mut back = b"gitdir: ".to_vec();
    back.extend_from_slice(git_dir.as_os_str().as_encoded_bytes());
    back.push(b'\n');
    let pointer = worktree.join(".git");
    match std::fs::read(&pointer) {
        Ok(bytes) if bytes == back => Ok(()),
        _ => std::fs::write(&pointer, &back).map_err(GitError::io(&pointer)),
    }
}

/// Finishes a move that was cut off between renaming the worktree and telling git: `worktree` leads to its private
/// directory, which still names a place where nothing is.
pub(crate) fn reconnect(worktree: &Path) -> Result<(), GitError> {
    let Some(git_dir) = private_dir(worktree) else { return Ok(()) };
    let real = std::fs::canonicalize(worktree).map_err(GitError::io(worktree))?;
    match worktree_of(&git_dir) {
        Some(told) if told != real && !told.exists() => connect(&git_dir, &real),
        _ => Ok(()),
    }
}

/// Every private directory of the repository.
pub(crate) fn all(repo: &Repo) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(repo.common_dir().join("worktrees")) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// The private directory registered for `worktree`, even when the worktree itself is gone.
pub(crate) fn registered(repo: &Repo, worktree: &Path) -> Option<PathBuf> {
    let real = real_place(worktree);
    all(repo).into_iter().find(|dir| worktree_of(dir).is_some_and(|path| real_place(&path) == real))
}

/// An id under `worktrees/` that nobody uses, close to `wanted`.
pub(crate) fn free_dir(repo: &Repo, wanted: &str) -> PathBuf {
    let dir = repo.common_dir().join("worktrees");
    let names = std::iter::once(wanted.to_owned()).chain((1..).map(|n| format!("{wanted}{n}")));
    for name in names.take(10_000) {
        let path = dir.join(name);
        if std::fs::symlink_metadata(&path).is_err() {
            return path;
        }
    }
    dir.join(forge_types::AttemptId::random().hex())
}

/// The path with its parent resolved, so that a missing directory can still be compared.
pub(crate) fn real_place(path: &Path) -> PathBuf {
    match (path.parent().and_then(|parent| std::fs::canonicalize(parent).ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

/// Writes beside the target and renames.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), GitError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".forge-new");
    let beside = PathBuf::from(beside);
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&beside)?;
        file.write_all(bytes)?;
        std::fs::rename(&beside, path)
    };
    write().map_err(GitError::io(path))
}
