//! Waiting for an attempt to need somebody: nothing runs any more, or its agent asks.
//!
//! Invariant: the wait begins before the first look, so nothing that happens in between is missed; it asks the store only
//! when an event says that the attempt changed.

use forge_store::Dropped;
use forge_types::{AttemptId, Event, Run, RunId, RunPhase, RunReason};

use crate::{Forge, Result};

/// Why a wait for an attempt is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// No script and no agent of it runs or waits to run.
    Ended,
    /// Its agent waits for the answer to a question.
    Asks,
}

impl Forge {
    /// Waits for the attempt's next pause, without a bound of its own. May be dropped at any time.
    pub async fn await_attempt(&self, id: AttemptId) -> Result<Pause> {
        let mut feed = self.feed(self.latest_seq());
        let mut runs = self.open_runs_of(id).await?;
        loop {
            if let Some(pause) = self.pause(&runs).await? {
                return Ok(pause);
            }
            let events = feed.next().await?;
            let is_about = |event: &Event| match event {
                Event::Run { run, .. } => run.owner.attempt() == Some(id),
                Event::RunRemoved { attempt_id, .. } => *attempt_id == Some(id),
                Event::AttemptRemoved { id: gone, .. } => *gone == id,
                Event::Approval { approval, .. } => approval.run_id.is_some_and(|run| runs.contains(&run)),
                _ => false,
            };
            if events.iter().any(|record| is_about(&record.event)) {
                runs = self.open_runs_of(id).await?;
            }
        }
    }

    async fn pause(&self, open: &[RunId]) -> Result<Option<Pause>> {
        if open.is_empty() {
            return Ok(Some(Pause::Ended));
        }
        let asks = self.pending_approvals().await?;
        let asks = asks.iter().any(|approval| approval.run_id.is_some_and(|run| open.contains(&run)));
        Ok(asks.then_some(Pause::Asks))
    }

    /// A dev server is nothing to wait for.
    async fn open_runs_of(&self, id: AttemptId) -> Result<Vec<RunId>> {
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        if runs.is_empty() {
            self.attempt(id).await?;
        }
        let is_open = |run: &&Run| run.phase != RunPhase::Ended && run.reason != RunReason::DevServer;
        Ok(runs.iter().filter(is_open).map(|run| run.id).collect())
    }
}
