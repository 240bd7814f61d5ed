//! Reading the event log from a position on, without gap and without end.

use std::sync::Arc;

use forge_store::Store;
use forge_types::EventRecord;
use tokio::sync::watch;

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
