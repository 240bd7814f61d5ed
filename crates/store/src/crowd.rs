//! Creating tasks when many callers do so at once.
//!
//! Whoever gets the writer writes everything that waits for it in one transaction, so a crowd needs few of them.
//! Invariant: every caller gets the result of its own task, whatever happens to the others. When the caller that writes
//! the batch is dropped in the middle, the others get a failure; what was committed nevertheless is published to all
//! followers.

use std::sync::{Arc, Mutex, PoisonError};

use forge_types::{Change, Event, Millis, Task};
use tokio::sync::{OwnedMutexGuard, oneshot};

use crate::cell::json;
use crate::entity::{Cells, sql, written};
use crate::error::{Result, StoreError};
use crate::idempotency::{self, Keyed};
use crate::log::{self, rows_of};
use crate::sql::{Query, ToCell};
use crate::store::{Inner, Store};
use crate::table::TaskRow;
use crate::tx::{Tx, Writer};

/// More in one transaction would keep the others waiting for longer than it saves.
const BATCH: usize = 32;

/// Tasks together with their documents.
const INSERT: &str =
    sql!(Text::EMPTY.add("INSERT INTO tasks (").names::<TaskRow>().add(", document) VALUES "));
const COLUMNS: usize = written(TaskRow::COLUMNS) + 1;

/// A task, and the key of the request for it if it had one.
type Made = (Task, Option<Keyed>);

/// Tasks that wait for the writer.
#[derive(Default)]
pub(crate) struct Crowd(Mutex<Vec<Waiting>>);

struct Waiting {
    made: Made,
    done: oneshot::Sender<Result<()>>,
}

impl Crowd {
    fn join(&self, task: &Task, key: Option<Keyed>) -> oneshot::Receiver<Result<()>> {
        let (done, result) = oneshot::channel();
        let waiting = Waiting { made: (task.clone(), key), done };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(waiting);
        result
    }

    fn take(&self) -> Vec<Waiting> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = waiting.len().min(BATCH);
        waiting.drain(..count).collect()
    }
}

impl Store {
    /// Creates one visible task, together with others that are being created at the moment.
    pub async fn create_task(&self, task: &Task, key: Option<Keyed>) -> Result<()> {
        let mut result = self.0.crowd.join(task, key);
        loop {
            let writer = tokio::select! {
                biased;
                answer = &mut result => return answer.unwrap_or_else(|_| Err(cut_off())),
                writer = self.writer() => writer?,
            };
            let batch = self.0.crowd.take();
            if !batch.is_empty() {
                write(Arc::clone(&self.0), writer, batch).await;
            }
        }
    }
}

fn cut_off() -> StoreError {
    StoreError::Sql(sqlx::Error::WorkerCrashed)
}

async fn write(store: Arc<Inner>, writer: OwnedMutexGuard<Writer>, batch: Vec<Waiting>) {
    let (tasks, dones): (Vec<Made>, Vec<_>) = batch.into_iter().map(|one| (one.made, one.done)).unzip();
    let answers = match insert(store, writer, &tasks).await {
        Ok(answers) => answers,
        Err(error) => tasks.iter().map(|_| Err(again(&error))).collect(),
    };
    for (done, answer) in dones.into_iter().zip(answers) {
        // A caller that went away does not need the result.
        let _ = done.send(answer);
    }
}

/// The same failure for each caller that it affects.
fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Full => StoreError::Full,
        StoreError::Gone { path, what } => StoreError::Gone { path: path.clone(), what: what.clone() },
        other => StoreError::Sql(sqlx::Error::Protocol(other.to_string())),
    }
}

/// All at once when that works, else one by one: a row that names no project fails the statement for all.
async fn insert(
    store: Arc<Inner>,
    writer: OwnedMutexGuard<Writer>,
    tasks: &[Made],
) -> Result<Vec<Result<()>>> {
    let mut tx = Tx::join(store, writer);
    match tx.create_tasks(tasks).await {
        Ok(()) => return Ok(tasks.iter().map(|_| Ok(())).collect()),
        // They may be committed already, to a file that no longer has a name.
        Err(error @ StoreError::Gone { .. }) => return Err(error),
        Err(_) => {}
    }
    tx.restart().await?;
    let mut answers = Vec::with_capacity(tasks.len());
    for (task, key) in tasks {
        let answer = tx.insert_task(task, false).await;
        if let (Ok(()), Some(key)) = (&answer, key) {
            tx.put_keyed(key).await?;
        }
        answers.push(answer);
    }
    tx.finish().await?;
    Ok(answers)
}

impl Tx {
    /// The whole transaction as one call to the connection's thread.
    async fn create_tasks(&mut self, tasks: &[Made]) -> Result<()> {
        let keys: Vec<&Keyed> = tasks.iter().filter_map(|(_, key)| key.as_ref()).collect();
        let bound = COLUMNS * tasks.len();
        let insert_keys = match keys.len() {
            0 => String::new(),
            count => format!("{};", idempotency::insert(bound, count)),
        };
        let mut query = Query::new(format!(
            "BEGIN IMMEDIATE; {INSERT}{}; {insert_keys} {}; COMMIT",
            rows_of(0, tasks.len(), COLUMNS),
            log::insert_events(bound + idempotency::COLUMNS * keys.len(), tasks.len()),
        ));
        let mut events = Vec::with_capacity(tasks.len());
        for (task, _) in tasks {
            let row = TaskRow::new(task, false);
            row.write(&mut query)?;
            query.put(json(&row.task)?.to_cell());
            events.push(Event::Task { change: Change::Created, task: row.task, hidden: false });
        }
        for key in keys {
            key.write(&mut query)?;
        }
        let bodies = log::bodies(&events)?;
        log::bind_events(&mut query, &events, &bodies, Millis::now());
        self.run_whole(query, events, &bodies).await
    }
}
