//! Noticing that a worktree changed.
//!
//! Owns: one watch per directory that git does not ignore, plus the private git directory for commits and checkouts.
//! Invariant: a burst of changes wakes the reader once, 200 ms after it began; what happens while nobody waits is not
//! lost. Memory is bounded: too many new directories at once lead to a fresh walk.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forge_os::file;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

use crate::{GitError, admin};

const DEBOUNCE: Duration = Duration::from_millis(200);
const MAX_DIRECTORIES: usize = 20_000;
const MAX_PENDING: usize = 1_000;
/// An ignore file has a few lines, or a few thousand.
const MAX_IGNORE_BYTES: u64 = 1 << 20;

pub struct Watch {
    worktree: PathBuf,
    watcher: RecommendedWatcher,
    watched: HashSet<PathBuf>,
    changes: Arc<Changes>,
}

#[derive(Default)]
struct Changes {
    arrived: Notify,
    directories: Mutex<Directories>,
}

/// New directories that need their own watch.
#[derive(Default)]
struct Directories {
    new: Vec<PathBuf>,
    overflow: bool,
}

/// Watches a worktree from now on.
pub fn watch(worktree: &Path) -> Result<Watch, GitError> {
    let worktree = std::fs::canonicalize(worktree).map_err(GitError::io(worktree))?;
    let git_dir = admin::private_dir(&worktree).unwrap_or_else(|| worktree.join(".git"));
    let git_dir = std::fs::canonicalize(&git_dir).unwrap_or(git_dir);
    let changes = Arc::new(Changes::default());
    let noticed = Arc::clone(&changes);
    let private = git_dir.clone();
    let on_event = move |event: notify::Result<notify::Event>| match event {
        Ok(event) => noticed.note(&private, &event),
        Err(_) => noticed.overflow(),
    };
    let watcher = notify::recommended_watcher(on_event).map_err(|error| failed(&worktree, error))?;
    let mut watch = Watch { worktree: worktree.clone(), watcher, watched: HashSet::new(), changes };
    watch.add(&worktree)?;
    for dir in [git_dir.join("logs"), git_dir] {
        if dir.is_dir() {
            watch.watcher.watch(&dir, RecursiveMode::NonRecursive).map_err(|error| failed(&dir, error))?;
        }
    }
    watch.add_below(&worktree);
    Ok(watch)
}

impl Watch {
    /// Returns once something changed, at most once per 200 ms.
    pub async fn changed(&mut self) {
        self.changes.arrived.notified().await;
        tokio::time::sleep(DEBOUNCE).await;
        let found = std::mem::take(&mut *self.changes.lock());
        // Directories first: what was written in them before the watch existed is read by the caller after this.
        if found.overflow {
            self.watched.retain(|dir| dir.is_dir());
            self.add_below(&self.worktree.clone());
        }
        for dir in found.new {
            // It may be a new directory under an old name, whose watch ended with the old one.
            self.watched.retain(|old| !old.starts_with(&dir));
            self.add_below(&dir);
        }
    }

    /// Adds every directory at or below `dir` that git does not ignore.
    fn add_below(&mut self, dir: &Path) {
        // A walk never ignores its own root, so a new directory is walked from its parent.
        let is_top = dir == self.worktree;
        let root = if is_top { dir } else { dir.parent().unwrap_or(dir) };
        let within = root.ancestors().take_while(|above| above.starts_with(&self.worktree));
        if let Some(odd) = within.into_iter().find(|above| !may_enter(&self.worktree, above)) {
            tracing::warn!(path = %odd.display(), "its .gitignore cannot be read as one; it is not watched");
            return;
        }
        let mut builder = ignore::WalkBuilder::new(root);
        builder.hidden(false).ignore(false).parents(true).require_git(false).follow_links(false);
        let (only, top) = (dir.to_owned(), self.worktree.clone());
        builder.filter_entry(move |entry| {
            entry.file_name() != ".git"
                && (is_top || entry.depth() != 1 || entry.path() == only)
                && (!entry.file_type().is_some_and(|kind| kind.is_dir()) || may_enter(&top, entry.path()))
        });
        let is_dir = |entry: &ignore::DirEntry| entry.file_type().is_some_and(|kind| kind.is_dir());
        for entry in builder.build().flatten().filter(is_dir) {
            if self.watched.len() >= MAX_DIRECTORIES {
                tracing::warn!(worktree = %self.worktree.display(), "too many directories to watch them all");
                return;
            }
            if let Err(error) = self.add(entry.path()) {
                tracing::warn!(path = %entry.path().display(), %error, "directory is not watched");
                return;
            }
        }
    }

    fn add(&mut self, dir: &Path) -> Result<(), GitError> {
        if !self.watched.contains(dir) {
            match self.watcher.watch(dir, RecursiveMode::NonRecursive) {
                Ok(()) => _ = self.watched.insert(dir.to_owned()),
                // It may be gone already.
                Err(_) if !dir.exists() => {}
                Err(error) => return Err(failed(dir, error)),
            }
        }
        Ok(())
    }
}

/// Whether the walk may enter a folder: it reads the `.gitignore` there whatever it is, also a pipe or a device.
fn may_enter(worktree: &Path, dir: &Path) -> bool {
    match file::if_any(file::open(worktree, &dir.join(".gitignore"))) {
        Ok(Some(found)) => found.metadata().is_ok_and(|about| about.len() <= MAX_IGNORE_BYTES),
        none => none.is_ok(),
    }
}

impl Changes {
    fn lock(&self) -> std::sync::MutexGuard<'_, Directories> {
        self.directories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn overflow(&self) {
        self.lock().overflow = true;
        self.arrived.notify_one();
    }

    fn note(&self, git_dir: &Path, event: &notify::Event) {
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        if event.need_rescan() {
            return self.overflow();
        }
        let interesting = |path: &&PathBuf| match path.strip_prefix(git_dir) {
            Ok(private) => ["HEAD", "index", "logs/HEAD"].iter().any(|name| private == Path::new(name)),
            Err(_) => true,
        };
        let paths: Vec<&PathBuf> = event.paths.iter().filter(interesting).collect();
        if paths.is_empty() {
            return;
        }
        let mut directories = self.lock();
        for path in paths.iter().filter(|path| !event.kind.is_remove() && path.is_dir()) {
            if directories.new.len() >= MAX_PENDING {
                directories.overflow = true;
                break;
            }
            directories.new.push(path.to_path_buf());
        }
        drop(directories);
        self.arrived.notify_one();
    }
}

fn failed(path: &Path, error: notify::Error) -> GitError {
    GitError::Io { path: path.to_owned(), source: std::io::Error::other(error) }
}
