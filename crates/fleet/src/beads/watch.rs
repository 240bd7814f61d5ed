//! Watches beads for changes.
//!
//! Owns one task per [`Watch`]. Invariants: the first news is the current state; after that only differences are sent,
//! as whole snapshots. Memory is bounded: while nobody listens, changes are merged into one. Dropping the watch ends
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
/// For file systems that do not report changes.
const FILE_POLL: Duration = Duration::from_secs(30);
/// For programs that store beads where they cannot be watched.
const PROGRAM_POLL: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub enum News {
    Changed(Arc<Snapshot>),
    /// The beads cannot be read now, for this reason. The last snapshot stays valid.
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
        Self::start(|reporter| watch_file(store, poll, reporter))
    }

    pub(super) fn program(store: CliStore, changes: watch::Receiver<u64>) -> Self {
        Self::start(|reporter| watch_program(store, changes, reporter))
    }

    fn start<F>(work: impl FnOnce(Reporter) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        // One waits in the channel; the task holds the next until that one is taken, then reads again.
        let (sender, news) = mpsc::channel(1);
        let task = tokio::spawn(work(Reporter { sender, last: None })).abort_handle();
        Self { news, task }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends what differs from what it sent last.
struct Reporter {
    sender: mpsc::Sender<News>,
    last: Option<Sent>,
}

#[derive(PartialEq)]
enum Sent {
    Content(Hash),
    Trouble(String),
}

impl Reporter {
    fn has_sent(&self, content: Hash) -> bool {
        self.last == Some(Sent::Content(content))
    }

    /// `None` when nobody listens any more.
    async fn report(&mut self, found: Result<Arc<Snapshot>, BeadsError>) -> Option<()> {
        let (sent, news) = match found {
            Ok(snapshot) => (Sent::Content(snapshot.hash()), News::Changed(snapshot)),
            Err(error) => (Sent::Trouble(error.to_string()), News::Trouble(error.to_string())),
        };
        if self.last.as_ref() == Some(&sent) {
            return Some(());
        }
        // After trouble the same content is sent again, to show that the trouble is over.
        self.last = Some(sent);
        self.sender.send(news).await.ok()
    }
}

async fn watch_file(store: BeadQueueReader, poll: Duration, mut reporter: Reporter) {
    let stirred = Arc::new(Notify::new());
    // The directory is watched, because each change replaces the file.
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
            if look(&store, &mut reporter).await.is_none() {
                return;
            }
        }
        tokio::select! {
            () = stirred.notified() => {
                tokio::time::sleep(DEBOUNCE).await;
                // A watcher's report is checked even if length and times are unchanged.
                state = None;
            }
            () = tokio::time::sleep(poll) => {}
        }
    }
}

/// Reads the file, and parses it when its content is new.
async fn look(store: &BeadQueueReader, reporter: &mut Reporter) -> Option<()> {
    let file = store.clone();
    let read = run_blocking(move || {
        let bytes = file.read()?;
        let content = hash(&bytes);
        Ok((bytes, content))
    });
    let found = match read.await {
        Ok((_, content)) if reporter.has_sent(content) => return Some(()),
        Ok((bytes, _)) => {
            let path = store.path().to_owned();
            run_blocking(move || jsonl::parse(&path, &bytes).map(Arc::new)).await
        }
        Err(error) => Err(error),
    };
    reporter.report(found).await
}

async fn watch_program(store: CliStore, mut changes: watch::Receiver<u64>, mut reporter: Reporter) {
    loop {
        changes.mark_unchanged();
        if reporter.report(store.snapshot().await).await.is_none() {
            return;
        }
        // The store is held here, so its sender cannot be gone.
        let _ = tokio::time::timeout(PROGRAM_POLL, changes.changed()).await;
    }
}

fn watcher(store: &BeadQueueReader, stirred: Arc<Notify>) -> Option<RecommendedWatcher> {
    let name = store.path().file_name()?.to_owned();
    let on_event = move |event: notify::Result<notify::Event>| {
        // An error may mean that changes were missed.
        let concerns = event.as_ref().map_or(true, |event| {
            let is_file = |path: &std::path::PathBuf| path.file_name() == Some(&name);
            event.need_rescan()
                || !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(is_file)
        });
        if concerns {
            stirred.notify_one();
        }
    };
    notify::recommended_watcher(on_event).inspect_err(|error| tracing::debug!(%error, "no watcher")).ok()
}

/// What differs when a file was written or replaced.
fn stat(path: &Path) -> Option<(u64, u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec()))
}

#[cfg(test)]
mod tests;
