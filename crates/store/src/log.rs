//! The event log: appending to it, following it, cutting off its old end.
//!
//! Invariant: sequence numbers are consecutive and in the order of commits. A follower that receives a first
//! event other than the one after its position knows that the events between were pruned.

use std::sync::{Arc, PoisonError};

use forge_types::{Event, EventRecord, Millis};
use sqlx::SqliteConnection;
use tokio::sync::watch;

use crate::error::Result;
use crate::ring::Sized;
use crate::store::{Inner, Store};
use crate::{query, row};

/// Deleting more at once would keep writers waiting.
const PRUNE_STEP: i64 = 5000;

impl Store {
    /// Number of the newest event that subscribers were told of.
    pub fn latest_seq(&self) -> i64 {
        *self.0.latest.borrow()
    }

    /// Newest number that existed when this store was opened.
    pub fn start_seq(&self) -> i64 {
        self.0.start_seq
    }

    /// Wakes with the number of the newest event after each commit that made one.
    pub fn subscribe(&self) -> watch::Receiver<i64> {
        self.0.latest.subscribe()
    }

    /// The oldest `limit` events after `seq`: from memory when it reaches back far enough, else from disk.
    pub async fn events_after(&self, seq: i64, limit: usize) -> Result<Vec<Arc<EventRecord>>> {
        if seq >= self.latest_seq() {
            return Ok(Vec::new());
        }
        let recent = self.0.ring.lock().unwrap_or_else(PoisonError::into_inner).after(seq, limit);
        if let Some(recent) = recent {
            return Ok(recent);
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = sqlx::query("SELECT seq, body FROM events WHERE seq > $1 ORDER BY seq LIMIT $2")
            .bind(seq)
            .bind(limit)
            .fetch_all(&self.0.readers)
            .await?;
        Ok(rows.iter().map(|row| row::event(row).map(Arc::new)).collect::<sqlx::Result<_>>()?)
    }

    /// Deletes all but the newest events and says how many. The newest one always stays: it holds the count.
    pub async fn prune_events(&self, keep_newest: i64) -> Result<u64> {
        let mut pruned = 0;
        loop {
            let mut tx = self.begin().await?;
            let conn = tx.conn()?;
            let last = query::newest_seq(conn).await?.saturating_sub(keep_newest.max(1));
            let oldest: Option<i64> =
                sqlx::query_scalar("SELECT MIN(seq) FROM events").fetch_one(&mut *conn).await?;
            let Some(oldest) = oldest.filter(|oldest| *oldest <= last) else { return Ok(pruned) };
            let until = last.min(oldest + PRUNE_STEP - 1);
            let done = sqlx::query("DELETE FROM events WHERE seq <= $1").bind(until).execute(conn).await?;
            tx.commit().await?;
            pruned += done.rows_affected();
        }
    }
}

impl Inner {
    /// Tells followers. The caller still holds the writer, so commits are told of in their order.
    pub(crate) fn publish(&self, records: Vec<Sized>) {
        let Some(seq) = records.last().map(|(record, _)| record.seq) else { return };
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        records.into_iter().for_each(|record| ring.push(record));
        drop(ring);
        self.latest.send_replace(seq);
    }
}

macro_rules! insert_event {
    () => {
        "INSERT INTO events (at_ms, kind, project_id, attempt_id, body) VALUES ($1, $2, $3, $4, $5) RETURNING seq"
    };
}

/// What follows the writing of an event. The last one takes COMMIT along: creating a task then makes three round
/// trips to the connection's thread instead of four.
#[derive(Clone, Copy)]
pub(crate) enum Then {
    Stay,
    Commit,
}

/// Writes one event into the log.
pub(crate) async fn append(
    conn: &mut SqliteConnection,
    event: Event,
    at: Millis,
    then: Then,
) -> Result<Sized> {
    let body = serde_json::to_string(&event).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let bytes = body.len();
    let (kind, project, attempt) = label(&event);
    let sql = match then {
        Then::Stay => insert_event!(),
        Then::Commit => concat!(insert_event!(), "; COMMIT"),
    };
    let query = sqlx::query_scalar(sql).bind(at.0).bind(kind).bind(project).bind(attempt).bind(body);
    // All rows, not one: reading stops at a first row, and then COMMIT would not be reached.
    let seqs: Vec<i64> = query.fetch_all(conn).await?;
    let seq = *seqs.first().ok_or(sqlx::Error::RowNotFound)?;
    Ok((Arc::new(EventRecord { seq, event }), bytes))
}

/// What the log shows of an event without its body: kind, project and attempt, as far as the event names them.
fn label(event: &Event) -> (&'static str, Option<String>, Option<String>) {
    match event {
        Event::Project { project, .. } => ("project", Some(project.id.to_string()), None),
        Event::ProjectRemoved { id } => ("project_removed", Some(id.to_string()), None),
        Event::Task { task, .. } => ("task", Some(task.task.project_id.to_string()), None),
        Event::TaskRemoved { project_id, .. } => ("task_removed", Some(project_id.to_string()), None),
        Event::AttemptCreated { id, project_id, .. } => {
            ("attempt_created", Some(project_id.to_string()), Some(id.to_string()))
        }
        Event::AttemptRemoved { id, project_id, .. } => {
            ("attempt_removed", Some(project_id.to_string()), Some(id.to_string()))
        }
        Event::Run { run, .. } => ("run", None, run.owner.attempt().map(|id| id.to_string())),
        Event::RunRemoved { attempt_id, .. } => ("run_removed", None, attempt_id.map(|id| id.to_string())),
        Event::Draft { attempt_id, project_id, .. } => {
            ("draft", Some(project_id.to_string()), Some(attempt_id.to_string()))
        }
    }
}
