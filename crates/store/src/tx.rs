//! One transaction of the single writer, from BEGIN to the publication of its events.
//!
//! Invariant: rows and their events are committed together, and published in the order of commits because the writer is
//! held until then. A transaction that is dropped leaves no trace; one that is dropped in the middle of its commit
//! leaves none or is published before the next one begins.

use std::sync::Arc;

use forge_types::{
    Attempt, AttemptId, ErrandId, Event, Millis, Project, ProjectId, Run, RunId, Task, TaskId,
};
use sqlx::Connection;
use tokio::runtime::Handle;
use tokio::sync::OwnedMutexGuard;

use crate::entity::sql;
use crate::error::{Result, StoreError};
use crate::ring::Sized;
use crate::sql::{Conn, Query, Row, bind};
use crate::store::{Dropped, Inner};
use crate::table::TaskRow;
use crate::touched::{Home, Touched};
use crate::{document, log, query};

/// The connection that writes.
///
/// BEGIN and COMMIT are plain statements: SQLite ends a transaction by itself when the disk is full, and a driver
/// that counts them would refuse every later one.
pub(crate) struct Writer {
    conn: Option<Conn>,
    /// A transaction may be open.
    open: bool,
}

impl Writer {
    pub(crate) fn new(conn: Conn) -> Self {
        Self { conn: Some(conn), open: false }
    }

    fn conn(&mut self) -> Result<&mut Conn> {
        self.conn.as_mut().ok_or(StoreError::Sql(sqlx::Error::PoolClosed))
    }

    async fn begin(&mut self) -> Result<()> {
        // Set first: the statement is executed even when this future is dropped.
        self.open = true;
        bind!("BEGIN IMMEDIATE").run(self.conn()?).await.map(drop)
    }

    /// Appends the events and commits.
    async fn commit(&mut self, events: Vec<Event>) -> Result<Vec<Sized>> {
        let conn = self.conn()?;
        let records = match events.is_empty() {
            false => log::append(conn, events, Millis::now()).await?,
            true => Vec::new(),
        };
        if records.is_empty() {
            bind!("COMMIT").run(conn).await?;
        }
        self.open = false;
        Ok(records)
    }

    async fn rollback(&mut self) {
        if self.open
            && let Ok(conn) = self.conn()
        {
            // Fails when SQLite has rolled back already; a transaction that is still open makes BEGIN fail.
            bind!("ROLLBACK").run(conn).await.ok();
            self.open = false;
        }
    }

    /// What was committed after the event `seq`.
    async fn committed_after(&mut self, seq: i64) -> Result<Vec<Sized>> {
        let sql = "SELECT seq, body FROM events WHERE seq > $1 ORDER BY seq";
        bind!(sql, seq).all(self.conn()?, log::sized_event).await
    }

    pub(crate) async fn close(&mut self) {
        self.rollback().await;
        if let Some(conn) = self.conn.take()
            && let Err(error) = conn.close().await
        {
            tracing::warn!(%error, "the database was not closed cleanly");
        }
    }
}

/// A transaction. Nothing is visible to others before [`Tx::commit`]; dropping it undoes everything.
pub struct Tx {
    store: Arc<Inner>,
    writer: OwnedMutexGuard<Writer>,
    pub(crate) touched: Touched,
}

// The columns that depend on other tables. Dev servers do not count as work on the task.
const REFRESH: &str = "UPDATE tasks SET \
     running_count = (SELECT COUNT(*) FROM runs JOIN attempts ON attempts.id = runs.attempt_id \
       WHERE attempts.task_id = tasks.id AND runs.status = 'running' AND runs.dropped = FALSE \
       AND runs.reason <> 'devserver'), \
     merged = EXISTS (SELECT 1 FROM merges JOIN attempts ON attempts.id = merges.attempt_id \
       WHERE attempts.task_id = tasks.id AND (merges.kind = 'direct' OR merges.pr_status = 'merged')), \
     last_failed = COALESCE((SELECT runs.status IN ('failed', 'killed') FROM runs \
       JOIN attempts ON attempts.id = runs.attempt_id \
       WHERE attempts.task_id = tasks.id AND runs.dropped = FALSE AND runs.reason <> 'devserver' \
       ORDER BY runs.created_ms DESC, runs.id DESC LIMIT 1), FALSE), \
     executor = COALESCE((SELECT attempts.executor FROM attempts WHERE attempts.task_id = tasks.id \
       ORDER BY attempts.created_ms DESC, attempts.id LIMIT 1), ''), \
     attempt_count = (SELECT COUNT(*) FROM attempts WHERE attempts.task_id = tasks.id) \
     WHERE id = $1";
const REFRESH_TASK: &str = sql!(Text::EMPTY.add(REFRESH).returning::<TaskRow>());

impl Tx {
    pub(crate) async fn start(store: Arc<Inner>, writer: OwnedMutexGuard<Writer>) -> Result<Tx> {
        let mut tx = Tx::join(store, writer);
        tx.restart().await?;
        Ok(tx)
    }

    pub(crate) fn conn(&mut self) -> Result<&mut Conn> {
        self.writer.conn()
    }

    /// A transaction that has yet to begin: its statement does that, or [`Tx::restart`] does.
    pub(crate) fn join(store: Arc<Inner>, writer: OwnedMutexGuard<Writer>) -> Tx {
        Tx { store, writer, touched: Touched::default() }
    }

    fn check(&mut self) -> Result<()> {
        // A store that was closed no longer has a log, and reports that it is closed.
        self.conn()?;
        self.store.files.check()
    }

    pub(crate) async fn restart(&mut self) -> Result<()> {
        self.check()?;
        self.store.mend(&mut self.writer).await?;
        self.writer.begin().await
    }

    /// Runs a statement that begins, writes its events, and commits.
    pub(crate) async fn run_whole(
        &mut self,
        query: Query,
        events: Vec<Event>,
        bodies: &[String],
    ) -> Result<()> {
        self.check()?;
        self.store.mend(&mut self.writer).await?;
        self.writer.open = true;
        let seqs = query.values(self.writer.conn()?).await?;
        self.writer.open = false;
        let records = log::number(seqs, events, bodies)?;
        self.store.publish(records);
        self.store.files.check()
    }

    /// Commits, notifies the subscribers, and returns the number of the newest event. Once called it runs to its end
    /// even when the caller goes away.
    pub async fn commit(self) -> Result<i64> {
        match tokio::spawn(self.finish()).await {
            Ok(done) => done,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(StoreError::Sql(sqlx::Error::WorkerCrashed)),
        }
    }

    /// Like [`Tx::commit`], and a power cut does not undo it: the log is synced before this returns. Others write
    /// meanwhile. For what people act upon elsewhere, since it costs a disk sync.
    pub async fn commit_synced(self) -> Result<i64> {
        let store = Arc::clone(&self.store);
        let newest = self.commit().await?;
        store.files.sync().await?;
        Ok(newest)
    }

    pub(crate) async fn finish(mut self) -> Result<i64> {
        let mut touched = std::mem::take(&mut self.touched);
        for id in touched.stale_tasks() {
            if let Some(TaskRow { task, hidden }) = bind!(REFRESH_TASK, id).find(self.conn()?).await? {
                touched.refreshed(task, hidden);
            }
        }
        for id in touched.new_attempts() {
            if let Some(attempt) = self.attempt(id).await? {
                touched.attempt_read(attempt);
            }
        }
        for task in touched.known_tasks() {
            document::write(self.conn()?, task).await?;
        }
        let records = self.writer.commit(touched.into_events()).await?;
        self.store.publish(records);
        self.store.files.check()?;
        Ok(*self.store.latest.borrow())
    }

    /// The task and the project of an attempt.
    pub(crate) async fn home(&mut self, attempt: AttemptId) -> Result<Home> {
        if let Some(home) = self.touched.home(attempt) {
            return Ok(home);
        }
        let sql = "SELECT tasks.id, tasks.project_id FROM attempts JOIN tasks ON tasks.id = attempts.task_id \
             WHERE attempts.id = $1";
        let read = |row: &Row<'_>| Ok(Home { task: row.get("id")?, project: row.get("project_id")? });
        let home = bind!(sql, attempt).one(self.conn()?, read).await?.ok_or(StoreError::Missing)?;
        self.touched.remember_home(attempt, home);
        Ok(home)
    }

    pub async fn project(&mut self, id: ProjectId) -> Result<Option<Project>> {
        query::project(self.conn()?, id).await
    }

    pub async fn task(&mut self, id: TaskId) -> Result<Option<Task>> {
        query::task(self.conn()?, id).await
    }

    pub async fn attempt(&mut self, id: AttemptId) -> Result<Option<Attempt>> {
        query::attempt(self.conn()?, id).await
    }

    pub async fn run(&mut self, id: RunId) -> Result<Option<Run>> {
        query::run(self.conn()?, id).await
    }

    pub async fn runs(&mut self, attempt: AttemptId, dropped: Dropped) -> Result<Vec<Run>> {
        query::runs(self.conn()?, attempt, dropped).await
    }

    pub async fn errand_runs(&mut self, errand: ErrandId) -> Result<Vec<Run>> {
        query::errand_runs(self.conn()?, errand).await
    }
}

impl Inner {
    /// Undoes what an abandoned transaction left open, or publishes it when it was already committed: the connection's
    /// thread executes a statement even when nobody waits for it any more.
    async fn mend(&self, writer: &mut Writer) -> Result<()> {
        if !writer.open {
            return Ok(());
        }
        writer.rollback().await;
        let published = *self.latest.borrow();
        self.publish(writer.committed_after(published).await?);
        Ok(())
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        if !self.writer.open {
            return;
        }
        // Without a runtime the next transaction, or closing, does it.
        if let Ok(runtime) = Handle::try_current() {
            let store = Arc::clone(&self.store);
            runtime.spawn(async move {
                let mut writer = store.writer.lock().await;
                if let Err(error) = store.mend(&mut writer).await {
                    tracing::warn!(%error, "cannot undo a transaction; the next one tries again");
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::bind;
    use crate::{Store, StoreError};

    #[tokio::test]
    async fn a_full_disk_loses_only_the_transaction_that_met_it() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("db")).await.unwrap();
        let limit = async |pages: &'static str| {
            let mut writer = store.0.writer.lock().await;
            bind!(pages).run(writer.conn().unwrap()).await.unwrap();
        };
        limit("PRAGMA max_page_count = 80").await;
        let big = "x".repeat(2 << 20);
        let mut tx = store.begin().await.unwrap();
        tx.put_meta("small", "lost with the rest").await.unwrap();
        assert!(matches!(tx.put_meta("big", &big).await, Err(StoreError::Full)));
        drop(tx);
        assert_eq!(store.meta("small").await.unwrap(), None);

        limit("PRAGMA max_page_count = 100000").await;
        let mut tx = store.begin().await.unwrap();
        tx.put_meta("big", &big).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(store.meta("big").await.unwrap(), Some(big));
    }
}
