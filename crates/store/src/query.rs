//! The lists, and what readers and transactions both ask, as functions over a connection.
//!
//! Invariant: a list is one statement that uses an index. "Newest" means the first row in the order `created_ms DESC,
//! id`; runs are listed oldest first and their newest is the last one.

use std::collections::HashMap;

use forge_types::{
    Attempt, AttemptId, Draft, Errand, ErrandId, ListedAttempt, Merge, Project, ProjectId, Run, RunId, Task,
    TaskId, TaskSummary,
};

use crate::document::{SEPARATOR, TaskBlock};
use crate::entity::{Entity, select};
use crate::error::Result;
use crate::sql::{Conn, bind};
use crate::{AttemptsOf, Dropped, Page};

pub(crate) const TASK_COUNTS: &str = "SELECT project_id, status, COUNT(*) AS count FROM tasks WHERE hidden = FALSE GROUP BY project_id, status";
pub(crate) const PROJECTS: &str = select!(Project, "FROM projects ORDER BY created_ms DESC, id");
/// Takes a limit and an offset.
pub(crate) const TASKS: &str = select!(
    TaskSummary,
    "FROM tasks WHERE project_id = $1 AND hidden = FALSE ORDER BY created_ms DESC, id LIMIT $2 OFFSET $3"
);
/// A block of the list, starting at a task, as one row: thousands of rows would each be a message between two threads.
/// The index serves the first comparison; the aggregates see the rows in the order of the inner statement.
const TASKS_AT: &str = "SELECT string_agg(id, $6) AS ids, string_agg(document, $6) AS documents, \
     MIN(created_ms) AS last_created_ms, COUNT(*) AS count FROM (\
     SELECT id, created_ms, document FROM tasks WHERE project_id = $1 AND hidden = FALSE AND created_ms <= $2 \
     AND (created_ms < $2 OR id > $3) ORDER BY created_ms DESC, id LIMIT $4 OFFSET $5) AS block";
/// How many tasks are read at once.
const BLOCK: i64 = 1000;
pub(crate) const CHILD_TASKS: &str =
    select!(Task, "FROM tasks WHERE parent_attempt_id = $1 ORDER BY created_ms DESC, id");
const ATTEMPTS: &str =
    select!(ListedAttempt, "FROM attempts ORDER BY created_ms DESC, id LIMIT $1 OFFSET $2");
const TASK_ATTEMPTS: &str = select!(
    ListedAttempt,
    "FROM attempts WHERE task_id = $1 ORDER BY created_ms DESC, id LIMIT $2 OFFSET $3"
);
const PROJECT_ATTEMPTS: &str = select!(
    ListedAttempt,
    "FROM attempts WHERE task_id IN (SELECT tasks.id FROM tasks WHERE tasks.project_id = $1) \
     ORDER BY created_ms DESC, id LIMIT $2 OFFSET $3"
);
pub(crate) const LATEST_ATTEMPTS: &str = select!(
    Attempt,
    "FROM tasks JOIN attempts ON attempts.id = (SELECT newest.id FROM attempts AS newest \
     WHERE newest.task_id = tasks.id ORDER BY newest.created_ms DESC, newest.id LIMIT 1) \
     WHERE tasks.project_id = $1"
);
pub(crate) const ATTEMPT_BY_PATH: &str =
    select!(Attempt, "FROM attempts WHERE container_ref = $1 ORDER BY created_ms DESC, id LIMIT 1");
// Both the last completion and the last change must be old: what was touched recently is in use.
pub(crate) const IDLE_ATTEMPTS: &str = select!(
    Attempt,
    "FROM attempts WHERE worktree_deleted = FALSE AND use_worktree = TRUE AND updated_ms < $1 \
     AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.attempt_id = attempts.id \
     AND (runs.phase <> 'ended' OR runs.completed_ms >= $1)) ORDER BY updated_ms, id"
);
const RUNS: &str = select!(Run, "FROM runs WHERE attempt_id = $1 ORDER BY created_ms, id");
const KEPT_RUNS: &str =
    select!(Run, "FROM runs WHERE attempt_id = $1 AND dropped = FALSE ORDER BY created_ms, id");
const ERRAND_RUNS: &str = select!(Run, "FROM runs WHERE errand_id = $1 ORDER BY created_ms, id");
pub(crate) const OPEN_RUNS: &str =
    select!(Run, "FROM runs WHERE phase IN ('queued', 'starting', 'live') ORDER BY created_ms, id");
pub(crate) const PARKED_RUNS: &str = select!(Run, "FROM runs WHERE phase = 'parked' ORDER BY created_ms, id");
pub(crate) const ERRANDS: &str = select!(Errand, "FROM errands ORDER BY created_ms DESC, id");
pub(crate) const PROJECT_ERRANDS: &str =
    select!(Errand, "FROM errands WHERE project_id = $1 ORDER BY created_ms DESC, id");
pub(crate) const MERGES: &str =
    select!(Merge, "FROM merges WHERE attempt_id = $1 ORDER BY created_ms DESC, id");
const PROJECT_ATTEMPT_IDS: &str = "SELECT attempts.id FROM attempts WHERE attempts.task_id IN \
     (SELECT tasks.id FROM tasks WHERE tasks.project_id = $1) ORDER BY attempts.created_ms DESC, attempts.id";
const PROJECT_DRAFTS: &str = select!(
    Draft,
    "FROM drafts JOIN attempts ON attempts.id = drafts.attempt_id JOIN tasks ON tasks.id = attempts.task_id \
     WHERE tasks.project_id = $1 ORDER BY drafts.kind"
);

/// The bindings of `LIMIT` and `OFFSET`.
pub(crate) fn window(page: Page) -> (i64, i64) {
    (page.limit.map_or(i64::MAX, i64::from), i64::from(page.offset))
}

pub(crate) async fn newest_seq(conn: &mut Conn) -> Result<i64> {
    let seq: Option<i64> = bind!("SELECT MAX(seq) FROM events").value(conn).await?;
    Ok(seq.unwrap_or(0))
}

pub(crate) async fn project(conn: &mut Conn, id: ProjectId) -> Result<Option<Project>> {
    bind!(select!(Project, "FROM projects WHERE id = $1"), id).find(conn).await
}

/// Visible tasks only.
pub(crate) async fn tasks(conn: &mut Conn, project: ProjectId) -> Result<Vec<TaskSummary>> {
    let (limit, offset) = window(Page::default());
    bind!(TASKS, project, limit, offset).list(conn).await
}

/// Where the next block of a task list begins.
pub(crate) struct TaskCursor {
    created_ms: i64,
    id: String,
    offset: i64,
    left: i64,
}

impl TaskCursor {
    pub(crate) fn new(page: Page) -> Self {
        let (left, offset) = window(page);
        Self { created_ms: i64::MAX, id: String::new(), offset, left }
    }

    pub(crate) fn after(&self, block: &TaskBlock) -> Self {
        // A block that is not full was the last one.
        let left = if block.count < self.block() { 0 } else { self.left - block.count };
        Self { created_ms: block.last_created_ms, id: block.last_id().to_owned(), offset: 0, left }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.left <= 0
    }

    fn block(&self) -> i64 {
        self.left.min(BLOCK)
    }
}

/// One block of visible tasks; `None` when there are no more.
pub(crate) async fn tasks_at(
    conn: &mut Conn,
    project: ProjectId,
    cursor: &TaskCursor,
) -> Result<Option<TaskBlock>> {
    let at = bind!(TASKS_AT, project, cursor.created_ms, cursor.id, cursor.block(), cursor.offset, SEPARATOR);
    // All but the count are null when there are no rows.
    let block = at.one(conn, |row| {
        let (ids, documents, last) = (row.get("ids")?, row.get("documents")?, row.get("last_created_ms")?);
        let count = row.get("count")?;
        Ok(match (ids, documents, last) {
            (Some(ids), Some(documents), Some(last)) => Some(TaskBlock::new(ids, documents, last, count)),
            _ => None,
        })
    });
    Ok(block.await?.flatten())
}

pub(crate) async fn task_summary(conn: &mut Conn, id: TaskId) -> Result<Option<TaskSummary>> {
    bind!(select!(TaskSummary, "FROM tasks WHERE id = $1"), id).find(conn).await
}

pub(crate) async fn task(conn: &mut Conn, id: TaskId) -> Result<Option<Task>> {
    bind!(select!(Task, "FROM tasks WHERE id = $1"), id).find(conn).await
}

/// Attempts, with or without the titles of their tasks.
pub(crate) async fn attempts<E: Entity>(conn: &mut Conn, of: AttemptsOf, page: Page) -> Result<Vec<E>> {
    let (limit, offset) = window(page);
    let query = match of {
        AttemptsOf::All => bind!(ATTEMPTS, limit, offset),
        AttemptsOf::Project(project) => bind!(PROJECT_ATTEMPTS, project, limit, offset),
        AttemptsOf::Task(task) => bind!(TASK_ATTEMPTS, task, limit, offset),
    };
    query.list(conn).await
}

pub(crate) async fn attempt(conn: &mut Conn, id: AttemptId) -> Result<Option<Attempt>> {
    bind!(select!(Attempt, "FROM attempts WHERE id = $1"), id).find(conn).await
}

pub(crate) async fn runs(conn: &mut Conn, attempt: AttemptId, dropped: Dropped) -> Result<Vec<Run>> {
    let sql = match dropped {
        Dropped::Hidden => KEPT_RUNS,
        Dropped::Shown => RUNS,
    };
    bind!(sql, attempt).list(conn).await
}

pub(crate) async fn errand_runs(conn: &mut Conn, errand: ErrandId) -> Result<Vec<Run>> {
    bind!(ERRAND_RUNS, errand).list(conn).await
}

pub(crate) async fn run(conn: &mut Conn, id: RunId) -> Result<Option<Run>> {
    bind!(select!(Run, "FROM runs WHERE id = $1"), id).find(conn).await
}

/// Every attempt of the project, newest first, with its drafts.
pub(crate) async fn drafts(conn: &mut Conn, project: ProjectId) -> Result<Vec<(AttemptId, Vec<Draft>)>> {
    let mut of_attempt: HashMap<AttemptId, Vec<Draft>> = HashMap::new();
    for draft in bind!(PROJECT_DRAFTS, project).list::<Draft>(conn).await? {
        of_attempt.entry(draft.task_attempt_id).or_default().push(draft);
    }
    let ids: Vec<AttemptId> = bind!(PROJECT_ATTEMPT_IDS, project).values(conn).await?;
    Ok(ids.into_iter().map(|id| (id, of_attempt.remove(&id).unwrap_or_default())).collect())
}

pub(crate) async fn meta(conn: &mut Conn, key: &str) -> Result<Option<String>> {
    bind!("SELECT value FROM meta WHERE key = $1", key).one(conn, |row| row.get("value")).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Query;

    /// SQLite's plan of a statement, one step per line.
    async fn plan(conn: &mut Conn, sql: &str) -> String {
        let query = Query::new(format!("EXPLAIN QUERY PLAN {sql}"));
        query.all(conn, |row| row.get::<String>("detail")).await.unwrap().join("\n")
    }

    #[tokio::test]
    async fn every_list_is_answered_by_an_index() {
        let dir = tempfile::tempdir().unwrap();
        let (mut conn, _) = crate::open::connect(&dir.path().join("db")).await.unwrap();
        let lists = [
            (PROJECTS, "projects_newest"),
            (TASKS, "tasks_newest"),
            (TASKS_AT, "tasks_newest"),
            (CHILD_TASKS, "tasks_of_parent"),
            (ATTEMPTS, "attempts_newest"),
            (TASK_ATTEMPTS, "attempts_of_task"),
            (PROJECT_ATTEMPTS, "attempts_of_task"),
            (LATEST_ATTEMPTS, "attempts_of_task"),
            (ATTEMPT_BY_PATH, "attempts_by_path"),
            (IDLE_ATTEMPTS, "attempts_by_use"),
            (RUNS, "runs_of_attempt"),
            (KEPT_RUNS, "runs_of_attempt"),
            (ERRAND_RUNS, "runs_of_errand"),
            (OPEN_RUNS, "runs_by_phase"),
            (PARKED_RUNS, "runs_by_phase"),
            (ERRANDS, "errands_newest"),
            (PROJECT_ERRANDS, "errands_of_project"),
            (MERGES, "merges_of_attempt"),
            (PROJECT_ATTEMPT_IDS, "attempts_of_task"),
            (PROJECT_DRAFTS, "drafts"),
            (crate::card::PROJECT_CARDS, "tasks_newest"),
            (crate::card::TASK_CARD, "attempts_of_task"),
            (crate::pulls::OPEN_PULLS, "merges_open"),
            (crate::pulls::TO_PUBLISH, "attempts_to_publish"),
        ];
        for (sql, index) in lists {
            let plan = plan(&mut conn, sql).await;
            assert!(plan.contains(index), "{sql}\n{plan}");
            // Rows that an index already selected may be scanned.
            let steps = plan.lines().filter(|step| !["SCAN block", "SCAN spent"].contains(step));
            let scans = steps.into_iter().any(|step| step.contains("SCAN") && !step.contains("USING"));
            assert!(!scans, "{sql}\n{plan}");
        }
    }

    #[tokio::test]
    async fn lists_that_people_page_through_are_not_sorted() {
        let dir = tempfile::tempdir().unwrap();
        let (mut conn, _) = crate::open::connect(&dir.path().join("db")).await.unwrap();
        for sql in
            [PROJECTS, TASKS, TASKS_AT, CHILD_TASKS, ATTEMPTS, TASK_ATTEMPTS, KEPT_RUNS, ERRANDS, MERGES]
        {
            let plan = plan(&mut conn, sql).await;
            assert!(!plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
        }
    }
}
