//! The private git directories of linked worktrees (`<common>/worktrees/<id>`).
//!
//! Owns: the two pointers between a worktree and its private directory, and how such a directory is made and removed.
//! Invariant: files and whole directories appear complete or not at all, because every git that lists the worktrees,
//! also the user's own, dies when it finds an incomplete one; only ids under `worktrees/` are ever named.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::scratch::Scratch;
use crate::tree::read_text;
use crate::{GitError, Repo};

/// The name that git uses.
const WORKTREES: &str = "worktrees";

/// The directory that the `.git` file of `worktree` points at; `None` for a main checkout or no checkout.
pub(crate) fn private_dir(worktree: &Path) -> Option<PathBuf> {
    let text = read_text(&worktree.join(".git")).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim();
    let dir = worktree.join(target);
    dir.join("commondir").is_file().then_some(dir)
}

/// The worktree that a private directory names as its own.
pub(crate) fn worktree_of(git_dir: &Path) -> Option<PathBuf> {
    let text = read_text(&git_dir.join("gitdir")).ok()?;
    let pointer = git_dir.join(text.trim_end_matches('\n'));
    let parent = pointer.parent()?;
    Some(std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned()))
}

/// Whether the ref is checked out where `git_dir` is the git directory.
pub(crate) fn is_on(git_dir: &Path, full_ref: &str) -> bool {
    read_text(&git_dir.join("HEAD")).is_ok_and(|text| text.trim().strip_prefix("ref: ") == Some(full_ref))
}

/// Makes a worktree and its private directory point at each other.
pub(crate) fn connect(git_dir: &Path, worktree: &Path) -> Result<(), GitError> {
    point_at(git_dir, worktree)?;
    point_back(git_dir, worktree)
}

fn point_at(git_dir: &Path, worktree: &Path) -> Result<(), GitError> {
    let mut forth = worktree.join(".git").into_os_string().into_encoded_bytes();
    forth.push(b'\n');
    write_whole(&git_dir.join("gitdir"), &forth)
}

fn point_back(git_dir: &Path, worktree: &Path) -> Result<(), GitError> {
    let mut back = b"gitdir: ".to_vec();
    back.extend_from_slice(git_dir.as_os_str().as_encoded_bytes());
    back.push(b'\n');
    let pointer = worktree.join(".git");
    match read_text(&pointer) {
        Ok(text) if text.as_bytes() == back => Ok(()),
        _ => write_whole(&pointer, &back),
    }
}

/// Finishes a move that was cut off after the worktree was renamed and before git's record was updated: `worktree`
/// leads to its private directory, which still names a place where nothing is.
pub(crate) fn reconnect(worktree: &Path) -> Result<(), GitError> {
    let Some(git_dir) = private_dir(worktree) else { return Ok(()) };
    let real = std::fs::canonicalize(worktree).map_err(GitError::io(worktree))?;
    match worktree_of(&git_dir) {
        Some(named) if named != real && !named.exists() => connect(&git_dir, &real),
        _ => Ok(()),
    }
}

/// Every private directory of the repository.
pub(crate) fn all(repo: &Repo) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(repo.common_dir().join(WORKTREES)) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// The private directory registered for `worktree`, even when the worktree itself is gone.
pub(crate) fn registered(repo: &Repo, worktree: &Path) -> Option<PathBuf> {
    let real = real_place(worktree);
    all(repo).into_iter().find(|dir| worktree_of(dir).is_some_and(|path| real_place(&path) == real))
}

/// A private directory in the making, where no git looks for worktrees.
pub(crate) struct Draft {
    scratch: Scratch,
    dir: PathBuf,
}

impl Draft {
    /// `fill` makes the directory at the path that it gets.
    pub fn new(repo: &Repo, fill: impl FnOnce(&Path) -> Result<(), GitError>) -> Result<Self, GitError> {
        let scratch = Scratch::new(repo)?;
        let dir = scratch.path().join("admin");
        fill(&dir)?;
        Ok(Self { scratch, dir })
    }

    /// Registers the directory for `worktree`, under an id close to `wanted` that nobody uses. A worktree that is
    /// already in its place leads there before git can look for it: git may prune one that leads nowhere.
    pub fn publish(self, repo: &Repo, wanted: &str, worktree: &Path) -> Result<PathBuf, GitError> {
        point_at(&self.dir, worktree)?;
        let worktrees = repo.common_dir().join(WORKTREES);
        let names = std::iter::once(wanted.to_owned()).chain((1..).map(|n| format!("{wanted}{n}")));
        for name in names.take(10_000) {
            // Git removes the parent when its last worktree goes.
            std::fs::create_dir_all(&worktrees).map_err(GitError::io(&worktrees))?;
            let git_dir = worktrees.join(name);
            if worktree.is_dir() {
                point_back(&git_dir, worktree)?;
            }
            match forge_os::rename_new(&self.dir, &git_dir) {
                Ok(()) => return Ok(git_dir),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(GitError::io(&git_dir)(error)),
            }
        }
        Err(GitError::io(self.scratch.path())(std::io::ErrorKind::AlreadyExists.into()))
    }
}

/// Removes a private directory with everything in it. A git that has just read its name still dies of it, as it does of
/// git's own removal; but it never finds an incomplete one.
pub(crate) fn withdraw(repo: &Repo, git_dir: &Path) -> Result<(), GitError> {
    let scratch = Scratch::new(repo)?;
    std::fs::rename(git_dir, scratch.path().join("admin")).map_err(GitError::io(git_dir))
}

/// The path with its parent resolved, so that a missing directory can still be compared.
pub(crate) fn real_place(path: &Path) -> PathBuf {
    match (path.parent().and_then(|parent| std::fs::canonicalize(parent).ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

/// Writes beside the target and renames; a link that lies at either place is not followed. Not synced, unlike the
/// floor's `replace`: git does not sync a worktree's entry either, and every claim would wait for it.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), GitError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".forge-new");
    let beside = PathBuf::from(beside);
    let write = || -> std::io::Result<()> {
        let _ = std::fs::remove_file(&beside);
        let mut file = std::fs::File::create_new(&beside)?;
        file.write_all(bytes)?;
        std::fs::rename(&beside, path)
    };
    write().map_err(GitError::io(path))
}
