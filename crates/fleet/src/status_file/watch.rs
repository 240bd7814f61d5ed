//! Watches what workers write.
//!
//! Invariants: nothing is polled; every file is reported in its current state, at most once per state; an unreadable
//! file is read again a moment later before it is reported as an error, because not every writer writes in one step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{StatusFile, StatusFileError, is_status_file, read, read_all};
use crate::worker::WorkerStatus;

/// How long an unreadable file may still be being written.
const SECOND_LOOK: Duration = Duration::from_millis(150);

#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Written(StatusFile),
    /// The file as it was last.
    Removed(StatusFile),
}

pub struct Watch {
    dir: PathBuf,
    watcher: RecommendedWatcher,
    news: Arc<News>,
    known: BTreeMap<PathBuf, StatusFile>,
    /// Files to be read again, and when.
    doubtful: BTreeMap<PathBuf, Instant>,
    ready: Vec<Change>,
}

#[derive(Default)]
struct News {
    arrived: Notify,
    touched: Mutex<Touched>,
}

#[derive(Default)]
struct Touched {
    paths: BTreeSet<PathBuf>,
    /// Something was missed, or the folder was replaced.
    everything: bool,
}

/// Watches a folder, creating it if needed. Existing files are reported first.
pub fn watch(dir: &Path) -> Result<Watch, StatusFileError> {
    let failed = |source| StatusFileError::Io { path: dir.to_owned(), source };
    fs::create_dir_all(dir).map_err(failed)?;
    let dir = fs::canonicalize(dir).map_err(failed)?;
    let news = Arc::new(News::default());
    let sender = Arc::clone(&news);
    let folder = dir.clone();
    let on_event = move |event: notify::Result<notify::Event>| match event {
        Ok(event) => sender.add(&folder, event),
        Err(_) => sender.add_everything(),
    };
    let watcher =
        notify::recommended_watcher(on_event).map_err(|error| failed(std::io::Error::other(error)))?;
    let mut watch =
        Watch { dir, watcher, news, known: BTreeMap::new(), doubtful: BTreeMap::new(), ready: Vec::new() };
    watch.look_into().map_err(failed)?;
    // Sent as news, so that existing files and later changes are one stream without a gap.
    watch.news.add_everything();
    Ok(watch)
}

impl Watch {
    /// The next change. May be dropped and called again without losing one.
    pub async fn next(&mut self) -> Change {
        loop {
            if !self.ready.is_empty() {
                return self.ready.remove(0);
            }
            let due = self.doubtful.values().min().copied();
            tokio::select! {
                () = self.news.arrived.notified() => self.take_news(),
                () = sleep_until(due) => self.look_again(),
            }
        }
    }

    fn take_news(&mut self) {
        let touched = std::mem::take(&mut *self.news.lock());
        if touched.everything {
            if let Err(error) = self.look_into() {
                tracing::warn!(folder = %self.dir.display(), %error, "status files are not watched");
            }
            let found = read_all(&self.dir).unwrap_or_default();
            let all = found.into_iter().map(|file| file.path).chain(self.known.keys().cloned());
            for path in all.collect::<BTreeSet<_>>() {
                self.look_at(path);
            }
        }
        for path in touched.paths {
            self.look_at(path);
        }
    }

    fn look_again(&mut self) {
        let now = Instant::now();
        let due: Vec<PathBuf> =
            self.doubtful.iter().filter(|(_, at)| **at <= now).map(|(path, _)| path.clone()).collect();
        for path in due {
            self.doubtful.remove(&path);
            if let Some(file) = read(&path) {
                self.report(file);
            }
        }
    }

    fn look_at(&mut self, path: PathBuf) {
        match read(&path) {
            // Between two writes, a file may be empty or cut off.
            Some(file) if file.status == WorkerStatus::Error && file.fields.is_empty() => {
                self.doubtful.entry(path).or_insert_with(|| Instant::now() + SECOND_LOOK);
            }
            Some(file) => {
                self.doubtful.remove(&path);
                self.report(file);
            }
            None => {
                self.doubtful.remove(&path);
                self.ready.extend(self.known.remove(&path).map(Change::Removed));
            }
        }
    }

    fn report(&mut self, file: StatusFile) {
        if self.known.get(&file.path) != Some(&file) {
            self.known.insert(file.path.clone(), file.clone());
            self.ready.push(Change::Written(file));
        }
    }

    /// Also if the folder is already watched: it may have been replaced.
    fn look_into(&mut self) -> std::io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let _ = self.watcher.unwatch(&self.dir);
        self.watcher.watch(&self.dir, RecursiveMode::NonRecursive).map_err(std::io::Error::other)
    }
}

impl News {
    fn lock(&self) -> MutexGuard<'_, Touched> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_everything(&self) {
        self.lock().everything = true;
        self.arrived.notify_one();
    }

    fn add(&self, dir: &Path, event: notify::Event) {
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        if matches!(event.kind, EventKind::Access(_)) && event.kind != written {
            return;
        }
        if event.need_rescan() || event.kind.is_remove() && event.paths.iter().any(|path| path == dir) {
            return self.add_everything();
        }
        let mut paths = event.paths.into_iter().filter(|path| is_status_file(path)).peekable();
        if paths.peek().is_some() {
            self.lock().paths.extend(paths);
            self.arrived.notify_one();
        }
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_half_written_file_is_read_again_before_it_is_told() {
        let dir = tempfile::tempdir().expect("folder");
        let mut watch = watch(dir.path()).expect("watch");
        let path = watch.dir.join("a.json");
        fs::write(&path, "{\"status\": \"act").expect("written");
        watch.look_at(path.clone());
        assert!(watch.ready.is_empty(), "{:?}", watch.ready);
        fs::write(&path, "{\"status\": \"active\"}").expect("written");
        watch.doubtful.values_mut().for_each(|at| *at = Instant::now());
        watch.look_again();
        assert!(matches!(&watch.ready[..], [Change::Written(file)] if file.status == WorkerStatus::Active));
    }
}
