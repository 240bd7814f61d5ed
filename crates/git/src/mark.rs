//! The ownership mark of a worktree.
//!
//! Owns: `<base>/.forge-owners/<id>.json`, which decides whose a worktree is, and its copies `forge-owner.json` and
//! `forge-attempt` in the private git directory of that id, which hooks and `forge whoami` read. An agent can write the
//! copies, so they decide only where there is nothing else: in worktrees of earlier versions, until [`take_over`].
//! Invariant: the mark holds the installation and the full id, and it is written before the branch exists, so whatever
//! a crash leaves behind can be distinguished from a stranger's directory. Reading it needs no server and no `git`.

use std::fmt;
use std::path::{Path, PathBuf};

use forge_os::file::{self, FileError};
use forge_types::{AttemptId, ErrandId, TaskId};
use serde::{Deserialize, Serialize};

use crate::{GitError, Repo, WorktreeBase, admin};

const MARK_FILE: &str = "forge-owner.json";
const ID_FILE: &str = "forge-attempt";
/// A mark is a few lines.
const MAX_COPY_BYTES: u64 = 64 << 10;

/// What a worktree is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    Attempt(AttemptId),
    Errand(ErrandId),
    /// Not claimed yet.
    Spare,
}

/// The owner's name in `refs/forge/keep/<owner>/<n>`.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Attempt(id) => id.fmt(f),
            Owner::Errand(id) => id.fmt(f),
            Owner::Spare => f.write_str("spare"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub installation: String,
    pub owner: Owner,
    pub branch: Option<String>,
    /// Path of the main repository.
    pub repo: String,
    /// Marks of earlier versions do not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<MarkedTask>,
}

/// The task of an attempt when its worktree was made; a later change of its title does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedTask {
    pub id: TaskId,
    pub title: String,
}

/// Which worktree a path lies in, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whoami {
    pub mark: Mark,
    pub worktree: PathBuf,
    /// The private git directory.
    pub git_dir: PathBuf,
}

/// Finds the marked worktree that contains `start`, going upwards.
pub fn whoami(start: &Path) -> Result<Option<Whoami>, GitError> {
    let start = std::fs::canonicalize(start).map_err(GitError::io(start))?;
    for dir in start.ancestors() {
        if std::fs::symlink_metadata(dir.join(".git")).is_err() {
            continue;
        }
        // The first `.git` decides: a repository nested in a worktree is not the worktree.
        let Some(git_dir) = admin::private_dir(dir) else { return Ok(None) };
        let mark = read_copy(&git_dir)?;
        return Ok(mark.map(|mark| Whoami { mark, worktree: dir.to_owned(), git_dir }));
    }
    Ok(None)
}

/// Who owns the worktree with this private git directory; an unreadable mark counts as a stranger's.
pub(crate) fn read(base: &WorktreeBase, git_dir: &Path) -> Result<Option<Mark>, GitError> {
    match read_bytes(&place(base, git_dir))? {
        Some(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        None => read_copy(git_dir),
    }
}

/// The mark in a private git directory.
pub(crate) fn read_copy(git_dir: &Path) -> Result<Option<Mark>, GitError> {
    match file::read(git_dir, Path::new(MARK_FILE), MAX_COPY_BYTES) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(FileError::Io { path, source }) => Err(GitError::io(&path)(source)),
        // None, or something that an agent put in its place.
        Err(_) => Ok(None),
    }
}

fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, GitError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(GitError::io(path)(error)),
    }
}

/// Where no agent writes.
fn place(base: &WorktreeBase, git_dir: &Path) -> PathBuf {
    let mut name = git_dir.file_name().unwrap_or_default().to_owned();
    name.push(".json");
    base.owners_dir().join(name)
}

fn json(mark: &Mark, path: &Path) -> Result<Vec<u8>, GitError> {
    serde_json::to_vec(mark).map_err(|error| GitError::io(path)(error.into()))
}

/// Marks the worktree with this private git directory, which is in its place.
pub(crate) fn write(base: &WorktreeBase, git_dir: &Path, mark: &Mark) -> Result<(), GitError> {
    let (dir, path) = (base.owners_dir(), place(base, git_dir));
    std::fs::create_dir_all(&dir).map_err(GitError::io(&dir))?;
    admin::write_whole(&path, &json(mark, &path)?)?;
    write_copy(git_dir, mark)
}

/// Whether a mark is kept under the name of this private git directory, also one that cannot be read or belongs to
/// another repository's worktree.
pub(crate) fn has_place(base: &WorktreeBase, git_dir: &Path) -> bool {
    place(base, git_dir).exists()
}

/// Removes a mark that [`write`] has just made.
pub(crate) fn withdraw(base: &WorktreeBase, git_dir: &Path) -> Result<(), GitError> {
    for name in [MARK_FILE, ID_FILE] {
        let path = git_dir.join(name);
        std::fs::remove_file(&path).map_err(GitError::io(&path))?;
    }
    forget(base, git_dir)
}

/// Removes the mark of a private git directory that no longer exists.
pub(crate) fn forget(base: &WorktreeBase, git_dir: &Path) -> Result<(), GitError> {
    let path = place(base, git_dir);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(GitError::io(&path)(error)),
        _ => Ok(()),
    }
}

/// Moves the marks of worktrees that an earlier version made to where no agent writes.
pub async fn take_over(base: &WorktreeBase) -> Result<(), GitError> {
    for listed in crate::list(base).await? {
        let Some(git_dir) = admin::private_dir(&listed.path) else { continue };
        let ours = listed.mark.filter(|mark| mark.installation == base.installation());
        if let Some(mark) = ours.filter(|_| !place(base, &git_dir).exists()) {
            write(base, &git_dir, &mark)?;
        }
    }
    Ok(())
}

pub(crate) fn write_copy(git_dir: &Path, mark: &Mark) -> Result<(), GitError> {
    let path = git_dir.join(MARK_FILE);
    admin::write_whole(&path, &json(mark, &path)?)?;
    let id_path = git_dir.join(ID_FILE);
    match mark.owner {
        Owner::Spare => match std::fs::remove_file(&id_path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(GitError::io(&id_path)(error)),
            _ => Ok(()),
        },
        owner => admin::write_whole(&id_path, format!("{owner}\n").as_bytes()),
    }
}

/// Removes folders that an agent put where the copies are written.
pub(crate) fn make_way(git_dir: &Path) -> Result<(), GitError> {
    for path in [MARK_FILE, ID_FILE].map(|name| git_dir.join(name)) {
        if std::fs::symlink_metadata(&path).is_ok_and(|kind| kind.is_dir()) {
            std::fs::remove_dir_all(&path).map_err(GitError::io(&path))?;
        }
    }
    Ok(())
}

/// The private git directory of `path` if and only if it is this installation's worktree for `owner`.
pub(crate) fn prove(
    repo: &Repo,
    base: &WorktreeBase,
    owner: Owner,
    path: &Path,
) -> Result<PathBuf, GitError> {
    let stranger = |reason: &str| GitError::stranger(path, reason);
    let kind = std::fs::symlink_metadata(path).map_err(GitError::io(path))?;
    if !kind.is_dir() {
        return Err(stranger("it is not a directory"));
    }
    let real = std::fs::canonicalize(path).map_err(GitError::io(path))?;
    let real_base = std::fs::canonicalize(base.path()).map_err(GitError::io(base.path()))?;
    if real == real_base || !real.starts_with(&real_base) {
        return Err(stranger("it lies outside the worktree base directory"));
    }
    if repo.path().starts_with(&real) || repo.common_dir().starts_with(&real) {
        return Err(stranger("it holds the repository itself"));
    }
    let git_dir = admin::private_dir(&real).ok_or_else(|| stranger("it is not a linked worktree"))?;
    let real_git_dir = std::fs::canonicalize(&git_dir).map_err(GitError::io(&git_dir))?;
    if real_git_dir.parent() != Some(&repo.common_dir().join("worktrees")) {
        return Err(stranger("it belongs to another repository"));
    }
    if admin::worktree_of(&real_git_dir).as_deref() != Some(real.as_path()) {
        return Err(stranger("git knows that worktree at another path"));
    }
    match read(base, &real_git_dir)? {
        None => Err(stranger("it has no ownership mark")),
        Some(mark) if mark.installation != base.installation() => {
            Err(stranger("another installation owns it"))
        }
        Some(mark) if mark.owner != owner => {
            Err(stranger(&format!("its mark names {}, not {owner}", mark.owner)))
        }
        Some(_) => Ok(real_git_dir),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_without_a_task_is_read_and_written_as_before() {
        let old = r#"{"installation":"here","owner":"spare","branch":null,"repo":"/r"}"#;
        let mark: Mark = serde_json::from_str(old).expect("a mark");
        assert_eq!(mark.task, None);
        assert_eq!(serde_json::to_string(&mark).expect("JSON"), old);
    }
}
