//! Reading the event log from a position on, without gap and without end; and signs, which are not in the log.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forge_store::Store;
use forge_types::wire::{BranchChange, ConflictsChange};
use forge_types::{AttemptId, ConflictReport, EventRecord, ProjectId};
use tokio::sync::{broadcast, watch};

use crate::{Error, Forge, Result};

/// How many events are fetched at once; bounds what a slow reader can make us hold.
const BATCH: usize = 256;

pub struct EventFeed {
    store: Store,
    wake: watch::Receiver<i64>,
    position: i64,
}

impl Forge {
    /// Events after `after`, in order; the newest known one is [`Forge::latest_seq`].
    pub fn feed(&self, after: i64) -> EventFeed {
        let store = self.0.store.clone();
        EventFeed { wake: store.subscribe(), store, position: after }
    }

    /// Where a reader goes on that has seen the events up to `after`: there, or now when it has seen none, or when the log
    /// does not go back that far, or never came that far.
    pub async fn resume_after(&self, after: Option<i64>) -> Result<i64> {
        let latest = self.latest_seq();
        let Some(after) = after.filter(|after| *after <= latest) else { return Ok(latest) };
        let is_there = after == latest || self.0.store.oldest_seq().await? <= after + 1;
        Ok(if is_there { after } else { latest })
    }

    /// The newest event that existed when this server started.
    pub fn start_seq(&self) -> i64 {
        self.0.store.start_seq()
    }

    pub fn latest_seq(&self) -> i64 {
        self.0.store.latest_seq()
    }
}

impl EventFeed {
    /// Waits for the next events; never empty. Cancel-safe.
    pub async fn next(&mut self) -> Result<Vec<Arc<EventRecord>>> {
        loop {
            // Marked as seen before reading, so that an event committed in between wakes us again.
            self.wake.borrow_and_update();
            let events = self.store.events_after(self.position, BATCH).await?;
            if let Some(last) = events.last() {
                self.position = last.seq;
                return Ok(events);
            }
            let closed = |cause| Error::internal("the event log was closed", cause);
            self.wake.changed().await.map_err(closed)?;
        }
    }

    pub fn position(&self) -> i64 {
        self.position
    }
}

/// How many events stay in the log for readers that come back.
const EVENTS_KEPT: i64 = 200_000;

impl Forge {
    pub(crate) async fn prune_events(&self) -> Result<()> {
        Ok(self.0.store.prune_events(EVENTS_KEPT).await.map(drop)?)
    }
}

/// A change of what lies in git or in files, and so is in no log. Whoever misses one has to look again.
#[derive(Clone, Debug)]
pub enum Sign {
    Branch(Arc<BranchChange>),
    Conflicts(Arc<ConflictsChange>),
    /// The beads of a project.
    Beads(ProjectId),
}

/// How many branches are watched at once; whoever looks at more has to ask.
const BRANCHES_MAX: usize = 32;
/// How many signs wait for a slow listener.
const SIGNS_MAX: usize = 256;

/// Who listens for signs, and what they were shown. Invariant: only what was asked for is watched, and only while
/// somebody listens.
pub(crate) struct Signs {
    sender: broadcast::Sender<Sign>,
    shown: Mutex<Shown>,
}

/// What was last shown of what changes without an event.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) branches: VecDeque<BranchChange>,
    pub(crate) conflicts: HashMap<ProjectId, ConflictReport>,
    pub(crate) beads: HashSet<ProjectId>,
}

impl Default for Signs {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(SIGNS_MAX), shown: Mutex::default() }
    }
}

impl Signs {
    pub(crate) fn is_heard(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Returns when nobody listens any more.
    pub(crate) async fn unheard(&self) {
        self.sender.closed().await;
    }

    pub(crate) fn send(&self, sign: Sign) {
        // Nobody may listen any more.
        let _ = self.sender.send(sign);
    }

    pub(crate) fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody has to be told that it changed; beads are forgotten by those who watch them.
    pub(crate) fn forget_shown(&self) {
        let mut shown = self.shown();
        (shown.branches, shown.conflicts) = Default::default();
    }

    pub(crate) fn forget_branch(&self, id: AttemptId) {
        self.shown().branches.retain(|change| change.attempt_id != id);
    }
}

impl Shown {
    /// Notes what a branch looks like now; true when something else was shown before.
    pub(crate) fn put_branch(&mut self, change: BranchChange) -> bool {
        let known = self.branches.iter().position(|known| known.attempt_id == change.attempt_id);
        let before = known.and_then(|at| self.branches.remove(at));
        let is_other = before.is_some_and(|before| before != change);
        self.branches.push_back(change);
        if self.branches.len() > BRANCHES_MAX {
            self.branches.pop_front();
        }
        is_other
    }

    /// The same for the conflicts of a project; when they were looked for makes no difference.
    pub(crate) fn put_conflicts(&mut self, project: ProjectId, report: &ConflictReport) -> bool {
        let before = self.conflicts.insert(project, report.clone());
        before.is_some_and(|before| ConflictReport { checked_at: report.checked_at, ..before } != *report)
    }
}

impl Forge {
    /// What changes outside the log, from now on. While somebody listens, what was asked for is watched.
    pub fn signs(&self) -> broadcast::Receiver<Sign> {
        self.0.background.signs.sender.subscribe()
    }
}
