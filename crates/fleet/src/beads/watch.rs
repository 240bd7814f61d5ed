//! Noticing that beads changed.
//!
//! Owns one task per [`Watch`]. Invariants: the first news is how things are; after that only what differs is told,
//! and only whole snapshots. Memory is bounded: while nobody listens, changes add up to one. Dropping the watch ends
//! its task.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::AbortHandle;

use super::cli::CliStore;
use super::error::BeadsError;
use super::jsonl::{self, BeadQueueReader, run_blocking};
use super::snapshot::{Hash, Snapshot, hash};

/// A burst of changes is one change.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// For file systems that do not tell about changes.
const FILE_POLL: Duration = Duration::from_secs(30);
/// For programs that keep their beads where they cannot be watched.
const PROGRAM_POLL: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub enum News {
    Changed(Arc<Snapshot>),
    /// The beads cannot be read now, for this reason. What was told before still holds.
    Trouble(String),
}

#[derive(Debug)]
pub struct Watch {
    news: mpsc::Receiver<News>,
    task: AbortHandle,
}

impl Watch {
    /// The next change.
    pub async fn next(&mut self) -> Option<News> {
        self.news.recv().await
    }

    pub(super) fn file(store: BeadQueueReader) -> Self {
        Self::file_at(store, FILE_POLL)
    }

    fn file_at(store: BeadQueueReader, poll: Duration) -> Self {
        Self::start(|tell| watch_file(store, poll, tell))
    }

    pub(super) fn program(store: CliStore, changes: watch::Receiver<u64>) -> Self {
        Self::start(|tell| watch_program(store, changes, tell))
    }

    fn start<F>(work: impl FnOnce(Teller) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        // One waits in the channel; the task waits with the next until that one is taken, and reads anew after it.
        let (sender, news) = mpsc::channel(1);
        let task = tokio::spawn(work(Teller { sender, last: None })).abort_handle();
        Self { news, task }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Tells what differs from what was told last.
struct Teller {
    sender: mpsc::Sender<News>,
    last: Option<Told>,
}

#[derive(PartialEq)]
enum Told {
    Content(Hash),
    Trouble(String),
}

impl Teller {
    fn has_told(&self, content: Hash) -> bool {
        self.last == Some(Told::Content(content))
    }

    /// `None` when nobody listens any more.
    async fn tell(&mut self, found: Result<Arc<Snapshot>, BeadsError>) -> Option<()> {
        let (told, news) = match found {
            Ok(snapshot) => (Told::Content(snapshot.hash()), News::Changed(snapshot)),
            Err(error) => (Told::Trouble(error.to_string()), News::Trouble(error.to_string())),
        };
        if self.last.as_ref() == Some(&told) {
            return Some(());
        }
        // After trouble the same content is told again: it says that the trouble is over.
        self.last = Some(told);
        self.sender.send(news).await.ok()
    }
}

async fn watch_file(store: BeadQueueReader, poll: Duration, mut teller: Teller) {
    let stirred = Arc::new(Notify::new());
    // The directory is watched: the file is replaced by another one at each change.
    let dir = store.path().parent().unwrap_or(store.path()).to_owned();
    let mut watcher = watcher(&store, Arc::clone(&stirred));
    let mut state = None;
    loop {
        if let Some(watcher) = &mut watcher
            && let Err(error) = watcher.watch(&dir, RecursiveMode::NonRecursive)
        {
            // The slow poll remains. Each turn tries again: the directory may have been replaced.
            tracing::debug!(dir = %dir.display(), %error, "beads are not watched");
        }
        let now = stat(store.path());
        if state.is_none() || state != Some(now) {
            state = Some(now);
            if look(&store, &mut teller).await.is_none() {
                return;
            }
        }
        tokio::select! {
            () = stirred.notified() => {
                tokio::time::sleep(DEBOUNCE).await;
                // What a watcher tells is looked at even when length and times are as before.
                state = None;
            }
            () = tokio::time::sleep(poll) => {}
        }
    }
}

/// Reads the file, and parses it when its content is new.
async fn look(store: &BeadQueueReader, teller: &mut Teller) -> Option<()> {
    let file = store.clone();
    let read = run_blocking(move || {
        let bytes = file.read()?;
        let content = hash(&bytes);
        Ok((bytes, content))
    });
    let found = match read.await {
        Ok((_, content)) if teller.has_told(content) => return Some(()),
        Ok((bytes, _)) => {
            let path = store.path().to_owned();
            run_blocking(move || jsonl::parse(&path, &bytes).map(Arc::new)).await
        }
        Err(error) => Err(error),
    };
    teller.tell(found).await
}

async fn watch_program(store: CliStore, mut changes: watch::Receiver<u64>, mut teller: Teller) {
    loop {
        changes.mark_unchanged();
        if teller.tell(store.snapshot().await).await.is_none() {
            return;
        }
        // The store is held here, so its sender cannot be gone.
        let _ = tokio::time::timeout(PROGRAM_POLL, changes.changed()).await;
    }
}

fn watcher(store: &BeadQueueReader, stirred: Arc<Notify>) -> Option<RecommendedWatcher> {
    let name = store.path().file_name()?.to_owned();
    let tell = move |event: notify::Result<notify::Event>| {
        // An error may stand for changes that were not told.
        let concerns = event.as_ref().map_or(true, |event| {
            let is_file = |path: &std::path::PathBuf| path.file_name() == Some(&name);
            event.need_rescan()
                || !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(is_file)
        });
        if concerns {
            stirred.notify_one();
        }
    };
    notify::recommended_watcher(tell).inspect_err(|error| tracing::debug!(%error, "no watcher")).ok()
}

/// What differs when a file was written or replaced.
fn stat(path: &Path) -> Option<(u64, u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec()))
}

#[cfg(test)]
mod tests;
