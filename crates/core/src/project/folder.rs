//! Folders of this machine: listing one, finding repositories in many, and whose a worktree is.
//!
//! Invariant: hidden names are not shown, links are not followed on a search, and a search ends in time even when a
//! disk does not answer: what it has found until then is the answer.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use forge_types::Attempt;
use forge_types::wire::{DirectoryEntry, DirectoryListing};

use crate::{Error, Forge, Result};

/// After this long a search looks into no further folder.
const SOFT_LIMIT: Duration = Duration::from_millis(800);
/// After this long nobody waits for the search any more.
const HARD_LIMIT: Duration = Duration::from_millis(1200);
const DEPTH_BELOW_PATH: usize = 3;
const DEPTH_BELOW_HOME: usize = 4;
/// Where people keep repositories, below their home.
const USUAL: [&str; 5] = ["repos", "dev", "work", "code", "projects"];
/// Full of folders and never of the user's own repositories.
const SKIPPED: [&str; 5] = ["node_modules", "target", "dist", "build", "vendor"];
/// How far up the worktree of a path is looked for.
const MAX_ANCESTORS: usize = 64;

impl Forge {
    /// What is in a folder, or in the user's home: folders first, then by name.
    pub async fn list_folder(&self, path: Option<&Path>) -> Result<DirectoryListing> {
        let path = path.map_or_else(home, absolute);
        let listed = tokio::task::spawn_blocking(move || list(path)).await;
        listed.map_err(|cause| Error::internal("the folder cannot be listed", cause))?
    }

    /// Repositories below a folder, or where people usually keep them; the most recently changed first.
    pub async fn discover_repositories(&self, path: Option<&Path>) -> Result<Vec<DirectoryEntry>> {
        let (roots, depth) = match path.map(absolute) {
            Some(path) => {
                let checked = path.clone();
                let found = tokio::task::spawn_blocking(move || check(&checked)).await;
                found.map_err(|cause| Error::internal("the folder cannot be searched", cause))??;
                (vec![path], DEPTH_BELOW_PATH)
            }
            None => (usual_roots(), DEPTH_BELOW_HOME),
        };
        let search = Arc::new(Search { found: Mutex::default(), stopped: AtomicBool::new(false) });
        let walker = Arc::clone(&search);
        let walk = tokio::task::spawn_blocking(move || walker.walk(roots, depth));
        let finished = tokio::time::timeout(HARD_LIMIT, walk).await;
        search.stopped.store(true, Ordering::Relaxed);
        if finished.is_err() {
            tracing::info!("the search for repositories was cut off; what it found is answered");
        }
        let mut found = search.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        found.sort_by(|a, b| a.last_modified.cmp(&b.last_modified).then_with(|| a.path.cmp(&b.path)));
        Ok(found)
    }

    /// The attempt that works in this directory, or in one above it that is a worktree.
    pub async fn attempt_at(&self, path: &Path) -> Result<Attempt> {
        let real = tokio::fs::canonicalize(path).await.ok();
        // Without a slash at the end, as places are stored.
        let path: &Path = &path.components().collect::<PathBuf>();
        let mut places: Vec<String> = Vec::new();
        for path in [Some(path), real.as_deref()].into_iter().flatten() {
            places.extend(path.ancestors().take(MAX_ANCESTORS).map(|place| place.display().to_string()));
        }
        let found = self.0.store.attempt_around(&places).await?;
        found.ok_or_else(|| {
            Error::not_found(format!("no attempt works in {}", path.display())).of_field("ref")
        })
    }
}

fn home() -> PathBuf {
    std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"))
}

/// With `~` for the user's home.
fn absolute(path: &Path) -> PathBuf {
    match path.strip_prefix("~") {
        Ok(rest) => home().join(rest),
        Err(_) => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

fn usual_roots() -> Vec<PathBuf> {
    let home = home();
    let usual = USUAL.iter().map(|name| home.join(name));
    let mut roots: Vec<PathBuf> = std::env::current_dir().into_iter().chain(usual).collect();
    roots.push(home);
    roots
}

fn check(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(Error::refused("Path is not a directory")),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::refused("Directory does not exist"))
        }
        Err(cause) => Err(Error::refused(format!("Failed to read directory: {cause}"))),
    }
}

fn list(path: PathBuf) -> Result<DirectoryListing> {
    check(&path)?;
    let unreadable = |cause| Error::refused(format!("Failed to read directory: {cause}"));
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(&path).map_err(unreadable)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let path = entry.path();
        // A link counts as what it points to; one that points nowhere is a file.
        let is_directory = path.is_dir();
        let is_git_repo = is_directory && path.join(".git").exists();
        entries.push(DirectoryEntry { name, path, is_directory, is_git_repo, last_modified: None });
    }
    entries.sort_by_cached_key(|entry| (!entry.is_directory, entry.name.to_lowercase()));
    Ok(DirectoryListing { entries, current_path: path })
}

/// A search under way; its finds can be read while it goes on.
struct Search {
    found: Mutex<Vec<DirectoryEntry>>,
    stopped: AtomicBool,
}

impl Search {
    fn walk(&self, roots: Vec<PathBuf>, depth: usize) {
        let begun = Instant::now();
        let mut folders: std::collections::VecDeque<(PathBuf, usize)> =
            roots.into_iter().map(|root| (root, 0)).collect();
        let mut seen = std::collections::HashSet::new();
        // Breadth first: what is near is what is meant, should the time not suffice for all.
        while let Some((folder, level)) = folders.pop_front() {
            if self.stopped.load(Ordering::Relaxed) || begun.elapsed() > SOFT_LIMIT {
                break;
            }
            if !seen.insert(folder.clone()) {
                continue;
            }
            // A linked worktree has a file there; its repository is found elsewhere.
            let is_repository = folder.join(".git").is_dir();
            if is_repository {
                self.note(&folder);
            }
            if level < depth && (level == 0 || !is_repository) {
                folders.extend(below(&folder).into_iter().map(|folder| (folder, level + 1)));
            }
        }
    }

    fn note(&self, path: &Path) {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let modified = std::fs::metadata(path).and_then(|found| found.modified()).ok();
        let last_modified = modified.map(|at| at.elapsed().unwrap_or_default().as_secs());
        let path = path.to_owned();
        let entry = DirectoryEntry { name, path, is_directory: true, is_git_repo: true, last_modified };
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }
}

/// The folders in a folder that are worth a look; links are not followed, so there are no circles.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let worth = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        entry.file_type().is_ok_and(|kind| kind.is_dir())
            && !name.starts_with('.')
            && !SKIPPED.contains(&name.as_ref())
    });
    worth.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(entries: &[DirectoryEntry]) -> Vec<&str> {
        entries.iter().map(|entry| entry.name.as_str()).collect()
    }

    #[test]
    fn a_folder_is_listed_without_hidden_names_folders_first() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["b/.git", "A", ".hidden"] {
            std::fs::create_dir_all(dir.path().join(name)).expect("mkdir");
        }
        std::fs::write(dir.path().join("0.txt"), "").expect("write");
        let listing = list(dir.path().to_owned()).expect("a listing");
        assert_eq!(names(&listing.entries), ["A", "b", "0.txt"]);
        assert!(listing.entries[1].is_git_repo && !listing.entries[0].is_git_repo);
        let refused = list(dir.path().join("0.txt")).expect_err("a file");
        assert_eq!(refused.message(), "Path is not a directory");
        let refused = list(dir.path().join("nothing")).expect_err("nothing");
        assert_eq!(refused.message(), "Directory does not exist");
    }

    #[test]
    fn repositories_are_found_to_a_depth_past_circles_and_not_inside_each_other() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["one/.git", "one/inner/.git", "a/b/three/.git", "a/b/c/four/.git", ".h/.git"] {
            std::fs::create_dir_all(dir.path().join(name)).expect("mkdir");
        }
        std::fs::create_dir_all(dir.path().join("linked")).expect("mkdir");
        std::fs::write(dir.path().join("linked/.git"), "gitdir: elsewhere").expect("write");
        std::os::unix::fs::symlink(dir.path(), dir.path().join("a/circle")).expect("symlink");
        let search = Search { found: Mutex::default(), stopped: AtomicBool::new(false) };
        search.walk(vec![dir.path().to_owned()], DEPTH_BELOW_PATH);
        let found = search.found.into_inner().expect("no poison");
        assert_eq!(names(&found), ["one", "three"]);
        assert!(found.iter().all(|entry| entry.last_modified.is_some()));
    }
}
