//! Creating tasks when many callers do so at once.
//!
//! Whoever gets the writer writes everything that waits for it in one transaction, so a crowd needs few of them.
//! Invariant: every caller gets the result of its own task, whatever happens to the others. When the caller that writes
//! the batch is dropped in the middle, the others get a failure; what was committed nevertheless is published to all
//! followers.

use std::sync::{Arc, Mutex, PoisonError};

use forge_types::{Event, Millis, Task};
use sqlx::AssertSqlSafe;
use tokio::sync::{OwnedMutexGuard, oneshot};

use crate::document;
use crate::error::{Result, StoreError};
use crate::idempotency::{self, Keyed};
use crate::log::{self, rows_of};
use crate::store::{Inner, Store};
use crate::tx::{Tx, Writer};
use crate::write::json;

/// More in one transaction would keep the others waiting for longer than it saves.
const BATCH: usize = 32;

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
        let created = tasks.iter().map(|(task, _)| document::created(task)).collect::<Result<Vec<_>>>()?;
        let (events, documents): (Vec<Event>, Vec<String>) = created.into_iter().unzip();
        let bodies = log::bodies(&events)?;
        let keys: Vec<&Keyed> = tasks.iter().filter_map(|(_, key)| key.as_ref()).collect();
        let bound = 11 * tasks.len();
        let insert_keys = match keys.len() {
            0 => String::new(),
            count => format!("{};", idempotency::insert(bound, count)),
        };
        let sql = format!(
            "BEGIN IMMEDIATE; INSERT INTO tasks (id, project_id, title, description, status, parent_attempt_id, hidden, \
             created_ms, updated_ms, labels, document) VALUES {}; {insert_keys} {}; COMMIT",
            rows_of(0, tasks.len(), 11),
            log::insert_events(bound + idempotency::COLUMNS * keys.len(), events.len()),
        );
        let mut query = sqlx::query_scalar(AssertSqlSafe(sql));
        for ((task, _), document) in tasks.iter().zip(&documents) {
            query = query
                .bind(task.id.to_string())
                .bind(task.project_id.to_string())
                .bind(&task.title)
                .bind(&task.description)
                .bind(task.status.as_str())
                .bind(task.parent_task_attempt.map(|id| id.to_string()))
                .bind(false)
                .bind(task.created_at.0)
                .bind(task.updated_at.0)
                .bind(json(&task.labels)?)
                .bind(document);
        }
        for row in keys {
            query = query.bind(&row.key).bind(&row.route).bind(&row.fingerprint);
            query = query.bind(&row.effect).bind(&row.answer).bind(row.created_at.0);
        }
        let query = log::bind_events(query, &events, &bodies, Millis::now());
        self.run_whole(query, events, &bodies).await
    }
}
