//! The agents of every project, read once and read again when their files change.
//!
//! Owns: one watcher for all projects, and the agents last read of each. Invariant: [`Roster::known`] reads no
//! file; its result is at most [`DEBOUNCE`] and one read behind the files. A project that cannot be watched is not
//! kept, so it is read each time instead of becoming stale.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

use super::genie::{self, Agents, Scan};

const DEBOUNCE: Duration = Duration::from_millis(500);

/// Clones share it.
#[derive(Clone)]
pub struct Roster(Arc<Inner>);

struct Inner {
    read: Mutex<HashMap<PathBuf, Arc<Agents>>>,
    watcher: Option<Mutex<RecommendedWatcher>>,
    state: Arc<WatchState>,
}

/// What the watcher watches and what has changed.
#[derive(Default)]
struct WatchState {
    /// Which projects use a folder.
    folders: Mutex<HashMap<PathBuf, BTreeSet<PathBuf>>>,
    changed: Mutex<BTreeSet<PathBuf>>,
    arrived: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Roster {
    fn default() -> Self {
        let state = Arc::new(WatchState::default());
        let shared = Arc::clone(&state);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| match event {
            Ok(event) => shared.note_event(&event),
            Err(_) => shared.mark_all_changed(),
        });
        let watcher = match watcher {
            Ok(watcher) => Some(Mutex::new(watcher)),
            Err(error) => {
                tracing::warn!(%error, "project agents are not watched; they are read at every start instead");
                None
            }
        };
        Roster(Arc::new(Inner { read: Mutex::default(), watcher, state }))
    }
}

impl Roster {
    /// The agents of a project, if they have been read.
    pub fn known(&self, project: &Path) -> Option<Arc<Agents>> {
        lock(&self.0.read).get(project).cloned()
    }

    /// Reads the agents of a project and watches for changes from now on. Reads files: do not call from async code.
    pub fn read(&self, project: &Path) -> Arc<Agents> {
        // The folders are watched first and then read again, so a change in between is seen either way.
        let first = genie::scan(project);
        let watched = self.watch(project, &first.folders);
        let Scan { agents, .. } = genie::scan(project);
        for problem in &agents.problems {
            tracing::warn!("project agent is not used: {problem}");
        }
        let agents = Arc::new(agents);
        let mut read = lock(&self.0.read);
        match watched && project.is_dir() {
            true => _ = read.insert(project.to_owned(), Arc::clone(&agents)),
            false => _ = read.remove(project),
        }
        agents
    }

    /// Watches exactly these folders, and the project folder for a new `.genie`.
    fn watch(&self, project: &Path, folders: &[PathBuf]) -> bool {
        let Some(watcher) = &self.0.watcher else { return false };
        let mut watcher = lock(watcher);
        let wanted: BTreeSet<&Path> = folders.iter().map(PathBuf::as_path).chain([project]).collect();
        for gone in self.0.state.remove(project, &wanted) {
            // A folder that is gone has taken its watch with it.
            let _ = watcher.unwatch(&gone);
        }
        for folder in &wanted {
            // Folders that are already watched too: a folder may have been replaced by another of the same name.
            if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive)
                && folder.exists()
            {
                tracing::warn!(folder = %folder.display(), %error, "folder of project agents is not watched");
                return false;
            }
        }
        self.0.state.add(project, &wanted);
        true
    }

    /// Reads changed projects again, forever.
    pub async fn keep_fresh(&self) {
        loop {
            self.0.state.arrived.notified().await;
            tokio::time::sleep(DEBOUNCE).await;
            let changed = std::mem::take(&mut *lock(&self.0.state.changed));
            for project in changed {
                let roster = self.clone();
                if tokio::task::spawn_blocking(move || roster.read(&project)).await.is_err() {
                    tracing::error!("reading project agents failed");
                }
            }
        }
    }
}

impl WatchState {
    fn add(&self, project: &Path, wanted: &BTreeSet<&Path>) {
        let mut folders = lock(&self.folders);
        for folder in wanted {
            folders.entry(folder.to_path_buf()).or_default().insert(project.to_owned());
        }
    }

    /// The folders that no project uses any more.
    fn remove(&self, project: &Path, wanted: &BTreeSet<&Path>) -> Vec<PathBuf> {
        let mut folders = lock(&self.folders);
        for (folder, projects) in folders.iter_mut() {
            if !wanted.contains(folder.as_path()) {
                projects.remove(project);
            }
        }
        folders.extract_if(|_, projects| projects.is_empty()).map(|(folder, _)| folder).collect()
    }

    fn note_event(&self, event: &notify::Event) {
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        if event.need_rescan() {
            return self.mark_all_changed();
        }
        let changed: Vec<PathBuf> = {
            let folders = lock(&self.folders);
            let of = |path: &PathBuf| {
                let place = path.parent().and_then(|parent| folders.get_key_value(parent));
                // Folders and Markdown files can be agents; everything else is ignored.
                let may_be_agent = path.extension().is_none_or(|end| end == "md");
                let (folder, projects) = place.filter(|_| may_be_agent)?;
                let is_genie = path.file_name().is_some_and(|name| name == ".genie");
                let of_interest = |project: &&PathBuf| folder != *project || is_genie;
                Some(projects.iter().filter(of_interest).cloned().collect::<Vec<_>>())
            };
            event.paths.iter().filter_map(of).flatten().collect()
        };
        if !changed.is_empty() {
            lock(&self.changed).extend(changed);
            self.arrived.notify_one();
        }
    }

    fn mark_all_changed(&self) {
        let all: Vec<PathBuf> = lock(&self.folders).values().flatten().cloned().collect();
        lock(&self.changed).extend(all);
        self.arrived.notify_one();
    }
}
