//! The store as its users hold it: one writer, a few readers, the newest events.
//!
//! Invariant: reads go through their own connections and never wait for the writer. A snapshot and its sequence
//! number come from one read transaction, so the events after that number are exactly what the snapshot lacks.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forge_types::{
    Attempt, AttemptId, Draft, Errand, ErrandId, ListedAttempt, Merge, Millis, Project, ProjectId, Run,
    RunId, Task, TaskId, TaskSummary,
};
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::{OwnedMutexGuard, mpsc, watch};
use tokio::time::timeout;

use crate::crowd::Crowd;
use crate::document::TaskBlock;
use crate::entity::select;
use crate::error::Result;
use crate::file::Files;
use crate::ring::Ring;
use crate::sql::{Pool, Query, Reader, Row, Snapshot, bind};
use crate::tx::{Tx, Writer};
use crate::{open, query};

const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Far longer than any transaction takes; a caller that waits this long has found a bug.
const WRITER_TIMEOUT: Duration = Duration::from_secs(30);

/// Everything Forge keeps in its database. Clones share it.
#[derive(Clone)]
pub struct Store(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) writer: Arc<tokio::sync::Mutex<Writer>>,
    pub(crate) crowd: Crowd,
    pub(crate) readers: Pool,
    pub(crate) files: Files,
    pub(crate) ring: Mutex<Ring>,
    pub(crate) latest: watch::Sender<i64>,
    pub(crate) start_seq: i64,
}

/// Which part of a list. The default is everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub limit: Option<u32>,
    pub offset: u32,
}

/// Whose attempts are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptsOf {
    All,
    Project(ProjectId),
    Task(TaskId),
}

/// Whether runs that a retry replaced are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    Hidden,
    Shown,
}

impl Store {
    /// Creates the database when there is none, and migrates an older one.
    pub async fn open(path: &Path) -> Result<Store> {
        let (mut conn, readers) = open::connect(path).await?;
        let start_seq = query::newest_seq(&mut conn).await?;
        let files = Files::of(path).map_err(|error| open::failed(path, error))?;
        Ok(Store(Arc::new(Inner {
            writer: Arc::new(tokio::sync::Mutex::new(Writer::new(conn))),
            crowd: Crowd::default(),
            readers,
            files,
            ring: Mutex::default(),
            latest: watch::Sender::new(start_seq),
            start_seq,
        })))
    }

    /// Ends every connection; the writer is last so that it folds the write-ahead log into the database. Connections
    /// that stay in use for more than a few seconds are not waited for.
    pub async fn close(&self) {
        if timeout(CLOSE_TIMEOUT, self.0.readers.close()).await.is_err() {
            tracing::warn!("a reader of the database is still busy; closing without it");
        }
        match timeout(CLOSE_TIMEOUT, self.0.writer.lock()).await {
            Ok(mut writer) => writer.close().await,
            Err(_) => tracing::warn!("the writer of the database is still busy; closing without it"),
        }
    }

    /// Whether the database is still the file that this store writes to.
    pub fn check(&self) -> Result<()> {
        self.0.files.check()
    }

    /// How often [`Tx::commit_synced`] synced the log.
    pub fn syncs(&self) -> u64 {
        self.0.files.syncs()
    }

    /// Waits for its turn, in order of arrival, and starts a transaction.
    pub async fn begin(&self) -> Result<Tx> {
        Tx::start(Arc::clone(&self.0), self.writer().await?).await
    }

    pub(crate) async fn writer(&self) -> Result<OwnedMutexGuard<Writer>> {
        let turn = timeout(WRITER_TIMEOUT, Arc::clone(&self.0.writer).lock_owned()).await;
        Ok(turn.map_err(|_| sqlx::Error::PoolTimedOut)?)
    }

    pub(crate) async fn reader(&self) -> Result<Reader> {
        Ok(self.0.readers.acquire().await?)
    }

    pub(crate) async fn snapshot(&self) -> Result<Snapshot> {
        Ok(self.0.readers.begin().await?)
    }

    /// Newest first.
    pub async fn projects(&self) -> Result<Vec<Project>> {
        bind!(query::PROJECTS).list(&mut *self.reader().await?).await
    }

    /// How many visible tasks each project has in each status; projects without tasks are left out.
    pub async fn task_counts(&self) -> Result<HashMap<ProjectId, BTreeMap<String, i64>>> {
        let read = |row: &Row<'_>| Ok((row.get("project_id")?, row.get("status")?, row.get("count")?));
        let mut counts: HashMap<ProjectId, BTreeMap<String, i64>> = HashMap::new();
        for (project, status, count) in
            bind!(query::TASK_COUNTS).all(&mut *self.reader().await?, read).await?
        {
            counts.entry(project).or_default().insert(status, count);
        }
        Ok(counts)
    }

    pub async fn project(&self, id: ProjectId) -> Result<Option<Project>> {
        query::project(&mut *self.reader().await?, id).await
    }

    pub async fn project_by_path(&self, path: &str) -> Result<Option<Project>> {
        let sql = select!(Project, "FROM projects WHERE git_repo_path = $1");
        bind!(sql, path).find(&mut *self.reader().await?).await
    }

    /// Visible tasks, newest first, read a thousand at a time and one block ahead of the consumer. A slow consumer
    /// keeps no reader from others.
    pub fn stream_tasks(
        &self,
        project: ProjectId,
        page: Page,
    ) -> impl Stream<Item = Result<TaskBlock>> + Send + use<> {
        let (blocks, ahead) = mpsc::channel(1);
        let store = self.clone();
        tokio::spawn(async move {
            if let Err(error) = store.read_tasks(project, page, &blocks).await {
                // When this fails too, nobody listens any more.
                let _ = blocks.send(Err(error)).await;
            }
        });
        stream::unfold(ahead, async |mut ahead| Some((ahead.recv().await?, ahead))).boxed()
    }

    async fn read_tasks(
        &self,
        project: ProjectId,
        page: Page,
        blocks: &mpsc::Sender<Result<TaskBlock>>,
    ) -> Result<()> {
        let mut cursor = query::TaskCursor::new(page);
        while !cursor.is_at_end() {
            let block = query::tasks_at(&mut *self.reader().await?, project, &cursor).await?;
            let Some(block) = block else { break };
            cursor = cursor.after(&block);
            if blocks.send(Ok(block)).await.is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Visible tasks, newest first, and the newest event they include.
    pub async fn tasks_snapshot(&self, project: ProjectId) -> Result<(i64, Vec<TaskSummary>)> {
        let mut tx = self.snapshot().await?;
        let seq = query::newest_seq(&mut tx).await?;
        Ok((seq, query::tasks(&mut tx, project).await?))
    }

    /// The same as JSON.
    pub async fn task_blocks_snapshot(&self, project: ProjectId) -> Result<(i64, Vec<TaskBlock>)> {
        let mut tx = self.snapshot().await?;
        let seq = query::newest_seq(&mut tx).await?;
        let (mut cursor, mut blocks) = (query::TaskCursor::new(Page::default()), Vec::new());
        while !cursor.is_at_end()
            && let Some(block) = query::tasks_at(&mut tx, project, &cursor).await?
        {
            cursor = cursor.after(&block);
            blocks.push(block);
        }
        Ok((seq, blocks))
    }

    pub async fn runs_snapshot(&self, attempt: AttemptId, dropped: Dropped) -> Result<(i64, Vec<Run>)> {
        let mut tx = self.snapshot().await?;
        let seq = query::newest_seq(&mut tx).await?;
        Ok((seq, query::runs(&mut tx, attempt, dropped).await?))
    }

    /// Every attempt of the project, also those without a draft.
    pub async fn drafts_snapshot(&self, project: ProjectId) -> Result<(i64, Vec<(AttemptId, Vec<Draft>)>)> {
        let mut tx = self.snapshot().await?;
        let seq = query::newest_seq(&mut tx).await?;
        Ok((seq, query::drafts(&mut tx, project).await?))
    }

    pub async fn task(&self, id: TaskId) -> Result<Option<Task>> {
        query::task(&mut *self.reader().await?, id).await
    }

    pub async fn task_summary(&self, id: TaskId) -> Result<Option<TaskSummary>> {
        query::task_summary(&mut *self.reader().await?, id).await
    }

    /// Tasks that this attempt spawned, newest first.
    pub async fn child_tasks(&self, parent: AttemptId) -> Result<Vec<Task>> {
        bind!(query::CHILD_TASKS, parent).list(&mut *self.reader().await?).await
    }

    /// Attempts of one task or of all, newest first.
    pub async fn attempts(&self, task: Option<TaskId>, page: Page) -> Result<Vec<Attempt>> {
        let of = task.map_or(AttemptsOf::All, AttemptsOf::Task);
        query::attempts(&mut *self.reader().await?, of, page).await
    }

    /// Attempts with the titles of their tasks, newest first.
    pub async fn listed_attempts(&self, of: AttemptsOf, page: Page) -> Result<Vec<ListedAttempt>> {
        query::attempts(&mut *self.reader().await?, of, page).await
    }

    /// The newest attempt of each task that has one.
    pub async fn latest_attempts(&self, project: ProjectId) -> Result<HashMap<TaskId, Attempt>> {
        let attempts: Vec<Attempt> =
            bind!(query::LATEST_ATTEMPTS, project).list(&mut *self.reader().await?).await?;
        Ok(attempts.into_iter().map(|attempt| (attempt.task_id, attempt)).collect())
    }

    /// Newest first.
    pub async fn project_attempts(&self, project: ProjectId) -> Result<Vec<Attempt>> {
        let of = AttemptsOf::Project(project);
        query::attempts(&mut *self.reader().await?, of, Page::default()).await
    }

    pub async fn attempt(&self, id: AttemptId) -> Result<Option<Attempt>> {
        query::attempt(&mut *self.reader().await?, id).await
    }

    /// The newest attempt that works in this directory.
    pub async fn attempt_by_path(&self, container_ref: &str) -> Result<Option<Attempt>> {
        bind!(query::ATTEMPT_BY_PATH, container_ref).find(&mut *self.reader().await?).await
    }

    /// The newest attempt in the innermost of a directory and those above it; above the first only worktrees count.
    pub async fn attempt_around(&self, places: &[String]) -> Result<Option<Attempt>> {
        let mut query = Query::new(select!(Attempt, "FROM attempts WHERE attempts.container_ref IN ("));
        query.push_list(places).push(") AND (attempts.use_worktree = TRUE OR attempts.container_ref = ");
        query.push_bind(&places.first()).push(
            ") ORDER BY LENGTH(attempts.container_ref) DESC, attempts.created_ms DESC, attempts.id LIMIT 1",
        );
        query.find(&mut *self.reader().await?).await
    }

    /// Oldest first.
    pub async fn runs(&self, attempt: AttemptId, dropped: Dropped) -> Result<Vec<Run>> {
        query::runs(&mut *self.reader().await?, attempt, dropped).await
    }

    /// Oldest first.
    pub async fn errand_runs(&self, errand: ErrandId) -> Result<Vec<Run>> {
        query::errand_runs(&mut *self.reader().await?, errand).await
    }

    pub async fn run(&self, id: RunId) -> Result<Option<Run>> {
        query::run(&mut *self.reader().await?, id).await
    }

    /// Every run that has not ended, oldest first: what recovery after a restart handles.
    pub async fn open_runs(&self) -> Result<Vec<Run>> {
        bind!(query::OPEN_RUNS).list(&mut *self.reader().await?).await
    }

    /// Oldest first.
    pub async fn parked_runs(&self) -> Result<Vec<Run>> {
        bind!(query::PARKED_RUNS).list(&mut *self.reader().await?).await
    }

    /// Newest first.
    pub async fn errands(&self, project: Option<ProjectId>) -> Result<Vec<Errand>> {
        let query = match project {
            Some(project) => bind!(query::PROJECT_ERRANDS, project),
            None => bind!(query::ERRANDS),
        };
        query.list(&mut *self.reader().await?).await
    }

    pub async fn errand(&self, id: ErrandId) -> Result<Option<Errand>> {
        bind!(select!(Errand, "FROM errands WHERE id = $1"), id).find(&mut *self.reader().await?).await
    }

    /// Newest first.
    pub async fn merges(&self, attempt: AttemptId) -> Result<Vec<Merge>> {
        bind!(query::MERGES, attempt).list(&mut *self.reader().await?).await
    }

    /// Attempts with their own worktree, no open run, and nothing done or changed since `before`.
    pub async fn idle_attempts(&self, before: Millis) -> Result<Vec<Attempt>> {
        bind!(query::IDLE_ATTEMPTS, before).list(&mut *self.reader().await?).await
    }

    /// The most attempts in worktrees that a project got within `window_ms`, since a time.
    pub async fn largest_burst(&self, project: ProjectId, since: Millis, window_ms: i64) -> Result<usize> {
        let sql = "SELECT MAX(starts) FROM (SELECT COUNT(*) AS starts FROM attempts \
             JOIN tasks ON tasks.id = attempts.task_id WHERE attempts.created_ms >= $1 \
             AND attempts.use_worktree = TRUE AND tasks.project_id = $2 GROUP BY attempts.created_ms / $3) AS slots";
        let most: Option<i64> =
            bind!(sql, since, project, window_ms).value(&mut *self.reader().await?).await?;
        Ok(usize::try_from(most.unwrap_or(0)).unwrap_or(0))
    }

    /// Every attempt there is.
    pub async fn attempt_ids(&self) -> Result<Vec<AttemptId>> {
        bind!("SELECT id FROM attempts").values(&mut *self.reader().await?).await
    }

    /// Attempts with work that could not be committed.
    pub async fn uncommitted_attempts(&self) -> Result<Vec<AttemptId>> {
        let sql = "SELECT DISTINCT attempt_id FROM runs WHERE commit_error IS NOT NULL AND dropped = FALSE";
        let ids: Vec<Option<AttemptId>> = bind!(sql).values(&mut *self.reader().await?).await?;
        Ok(ids.into_iter().flatten().collect())
    }

    pub async fn meta(&self, key: &str) -> Result<Option<String>> {
        query::meta(&mut *self.reader().await?, key).await
    }
}
