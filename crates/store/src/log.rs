//! The event log: appending to it, following it, pruning its old end.
//!
//! Invariant: sequence numbers are consecutive and in the order of commits. A follower that receives a first
//! event other than the one after its position knows that the events between were pruned.

use std::sync::{Arc, PoisonError};

use forge_types::{AttemptId, Event, EventRecord, Millis, ProjectId};
use tokio::sync::watch;

use crate::cell::json;
use crate::error::Result;
use crate::query;
use crate::ring::Sized;
use crate::sql::{Conn, Query, Row, ToCell, bind};
use crate::store::{Inner, Store};

/// Deleting more at once would keep writers waiting.
const PRUNE_STEP: i64 = 5000;

impl Store {
    /// Number of the newest event that was published.
    pub fn latest_seq(&self) -> i64 {
        *self.0.latest.borrow()
    }

    /// Number of the oldest event that has not been pruned; that of the next one when there is none.
    pub async fn oldest_seq(&self) -> Result<i64> {
        let oldest: Option<i64> =
            bind!("SELECT MIN(seq) FROM events").value(&mut *self.reader().await?).await?;
        Ok(oldest.unwrap_or_else(|| self.latest_seq() + 1))
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
        let sql = "SELECT seq, body FROM events WHERE seq > $1 ORDER BY seq LIMIT $2";
        let rows = bind!(sql, seq, limit).all(&mut *self.reader().await?, sized_event).await?;
        Ok(rows.into_iter().map(|(record, _)| record).collect())
    }

    /// Deletes all but the newest events and returns how many. The newest one always stays: it holds the count.
    pub async fn prune_events(&self, keep_newest: i64) -> Result<u64> {
        let mut pruned = 0;
        loop {
            let mut tx = self.begin().await?;
            let conn = tx.conn()?;
            let last = query::newest_seq(conn).await?.saturating_sub(keep_newest.max(1));
            let oldest: Option<i64> = bind!("SELECT MIN(seq) FROM events").value(conn).await?;
            let Some(oldest) = oldest.filter(|oldest| *oldest <= last) else { return Ok(pruned) };
            let until = last.min(oldest + PRUNE_STEP - 1);
            let done = bind!("DELETE FROM events WHERE seq <= $1", until).run(conn).await?;
            tx.commit().await?;
            pruned += done;
        }
    }
}

impl Inner {
    /// Wakes followers. The caller still holds the writer, so commits are published in their order.
    pub(crate) fn publish(&self, records: Vec<Sized>) {
        let Some(seq) = records.last().map(|(record, _)| record.seq) else { return };
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        records.into_iter().for_each(|record| ring.push(record));
        drop(ring);
        self.latest.send_replace(seq);
    }
}

/// How many events one statement takes.
const CHUNK: usize = 64;

/// Writes the events and commits. COMMIT goes with the last statement, which saves a round trip to the connection's
/// thread.
pub(crate) async fn append(conn: &mut Conn, events: Vec<Event>, at: Millis) -> Result<Vec<Sized>> {
    let mut records = Vec::with_capacity(events.len());
    let mut events = events.into_iter().peekable();
    while events.peek().is_some() {
        let chunk: Vec<Event> = events.by_ref().take(CHUNK).collect();
        let end = if events.peek().is_none() { "; COMMIT" } else { "" };
        append_chunk(conn, chunk, at, end, &mut records).await?;
    }
    Ok(records)
}

async fn append_chunk(
    conn: &mut Conn,
    events: Vec<Event>,
    at: Millis,
    end: &str,
    records: &mut Vec<Sized>,
) -> Result<()> {
    let bodies = bodies(&events)?;
    let mut query = Query::new(format!("{}{end}", insert_events(0, events.len())));
    bind_events(&mut query, &events, &bodies, at);
    // All rows, not one: reading stops at a first row, and then COMMIT would not be reached.
    let seqs = query.values(conn).await?;
    records.extend(number(seqs, events, &bodies)?);
    Ok(())
}

/// `seq, body` of the log: an event with the size of its body.
pub(crate) fn sized_event(row: &Row<'_>) -> sqlx::Result<Sized> {
    let (seq, body) = (row.get("seq")?, row.cell("body")?);
    Ok((Arc::new(EventRecord { seq, event: body.json()? }), body.text()?.len()))
}

pub(crate) fn bodies(events: &[Event]) -> Result<Vec<String>> {
    Ok(events.iter().map(json).collect::<sqlx::Result<_>>()?)
}

/// The statement that writes this many events, its placeholders numbered from `first` on.
pub(crate) fn insert_events(first: usize, count: usize) -> String {
    let rows = rows_of(first, count, 5);
    format!("INSERT INTO events (at_ms, kind, project_id, attempt_id, body) VALUES {rows} RETURNING seq")
}

pub(crate) fn bind_events(query: &mut Query, events: &[Event], bodies: &[String], at: Millis) {
    for (event, body) in events.iter().zip(bodies) {
        let (kind, project, attempt) = label(event);
        for value in [at.to_cell(), kind.to_cell(), project.to_cell(), attempt.to_cell(), body.to_cell()] {
            query.put(value);
        }
    }
}

/// Rows get their numbers in the order of VALUES, but may be returned in another.
pub(crate) fn number(mut seqs: Vec<i64>, events: Vec<Event>, bodies: &[String]) -> Result<Vec<Sized>> {
    seqs.sort_unstable();
    if seqs.len() != events.len() {
        return Err(sqlx::Error::RowNotFound.into());
    }
    let numbered = seqs.into_iter().zip(events).zip(bodies);
    Ok(numbered.map(|((seq, event), body)| (Arc::new(EventRecord { seq, event }), body.len())).collect())
}

/// `($1, $2), ($3, $4), …`: placeholders for `rows` rows of `columns` columns, numbered after `first`.
pub(crate) fn rows_of(first: usize, rows: usize, columns: usize) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(rows * columns * 5);
    for number in 0..rows * columns {
        let before = match (number, number % columns) {
            (0, _) => "(",
            (_, 0) => "), (",
            _ => ", ",
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "{before}${}", first + number + 1);
    }
    text.push(')');
    text
}

/// The columns of an event besides its body: kind, project and attempt, as far as the event names them.
fn label(event: &Event) -> (&'static str, Option<ProjectId>, Option<AttemptId>) {
    match event {
        Event::Project { project, .. } => ("project", Some(project.id), None),
        Event::ProjectRemoved { id } => ("project_removed", Some(*id), None),
        Event::Task { task, .. } => ("task", Some(task.task.project_id), None),
        Event::TaskRemoved { project_id, .. } => ("task_removed", Some(*project_id), None),
        Event::AttemptCreated { id, project_id, .. } => ("attempt_created", Some(*project_id), Some(*id)),
        Event::AttemptRemoved { id, project_id, .. } => ("attempt_removed", Some(*project_id), Some(*id)),
        Event::Run { run, .. } => ("run", None, run.owner.attempt()),
        Event::RunRemoved { attempt_id, .. } => ("run_removed", None, *attempt_id),
        Event::Draft { attempt_id, project_id, .. } => ("draft", Some(*project_id), Some(*attempt_id)),
        Event::Approval { .. } => ("approval", None, None),
        Event::Worker { .. } => ("worker", None, None),
        Event::WorkerRemoved { .. } => ("worker_removed", None, None),
        Event::Alert { .. } => ("alert", None, None),
        Event::Routing { .. } => ("routing", None, None),
    }
}
