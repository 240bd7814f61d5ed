//! Every SELECT, as functions over a connection, so that readers and transactions share them.
//!
//! Invariant: a list is one statement that uses an index. "Newest" means the first row in the order `created_ms DESC,
//! id`; runs are listed oldest first and their newest is the last one.

use std::collections::{BTreeMap, HashMap};

use forge_types::{
    Attempt, AttemptId, Draft, Errand, ErrandId, Merge, Millis, Project, ProjectId, Run, RunId, Task, TaskId,
    TaskSummary,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::document::{SEPARATOR, TaskBlock};
use crate::error::Result;
use crate::row::{
    self, attempt_columns, draft_columns, errand_columns, listed_columns, project_columns, run_columns,
    task_columns,
};
use crate::{AttemptsOf, Dropped, Page};

type Conn = SqliteConnection;

macro_rules! select {
    ($columns:ident, $rest:literal) => {
        concat!("SELECT ", $columns!(), " ", $rest)
    };
}

const TASK_COUNTS: &str =
    "SELECT project_id, status, COUNT(*) FROM tasks WHERE hidden = FALSE GROUP BY project_id, status";
const PROJECTS: &str = select!(project_columns, "FROM projects ORDER BY created_ms DESC, id");
/// Takes a limit and an offset.
pub(crate) const TASKS: &str = select!(
    task_columns,
    "FROM tasks WHERE project_id = $1 AND hidden = FALSE ORDER BY created_ms DESC, id LIMIT $2 OFFSET $3"
);
/// A block of the list, starting at a task, as one row: thousands of rows would each be a message between two threads.
/// The index serves the first comparison; the aggregates see the rows in the order of the inner statement.
const TASKS_AT: &str = "SELECT string_agg(id, $6), string_agg(document, $6), MIN(created_ms), COUNT(*) FROM (\
     SELECT id, created_ms, document FROM tasks WHERE project_id = $1 AND hidden = FALSE AND created_ms <= $2 \
     AND (created_ms < $2 OR id > $3) ORDER BY created_ms DESC, id LIMIT $4 OFFSET $5) AS block";
/// How many tasks are read at once.
const BLOCK: i64 = 1000;
const CHILD_TASKS: &str =
    select!(task_columns, "FROM tasks WHERE parent_attempt_id = $1 ORDER BY created_ms DESC, id");
const ATTEMPTS: &str =
    select!(listed_columns, "FROM attempts ORDER BY created_ms DESC, id LIMIT $1 OFFSET $2");
const TASK_ATTEMPTS: &str = select!(
    listed_columns,
    "FROM attempts WHERE task_id = $1 ORDER BY created_ms DESC, id LIMIT $2 OFFSET $3"
);
const PROJECT_ATTEMPTS: &str = select!(
    listed_columns,
    "FROM attempts WHERE task_id IN (SELECT tasks.id FROM tasks WHERE tasks.project_id = $1) \
     ORDER BY created_ms DESC, id LIMIT $2 OFFSET $3"
);
const LATEST_ATTEMPTS: &str = select!(
    attempt_columns,
    "FROM tasks JOIN attempts ON attempts.id = (SELECT newest.id FROM attempts AS newest \
     WHERE newest.task_id = tasks.id ORDER BY newest.created_ms DESC, newest.id LIMIT 1) \
     WHERE tasks.project_id = $1"
);
const ATTEMPT_BY_PATH: &str =
    select!(attempt_columns, "FROM attempts WHERE container_ref = $1 ORDER BY created_ms DESC, id LIMIT 1");
// Both the last completion and the last change must be old: what was touched recently is in use.
const IDLE_ATTEMPTS: &str = select!(
    attempt_columns,
    "FROM attempts WHERE worktree_deleted = FALSE AND use_worktree = TRUE AND updated_ms < $1 \
     AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.attempt_id = attempts.id \
     AND (runs.phase <> 'ended' OR runs.completed_ms >= $1)) ORDER BY updated_ms, id"
);
const RUNS: &str = select!(run_columns, "FROM runs WHERE attempt_id = $1 ORDER BY created_ms, id");
const KEPT_RUNS: &str =
    select!(run_columns, "FROM runs WHERE attempt_id = $1 AND dropped = FALSE ORDER BY created_ms, id");
const ERRAND_RUNS: &str = select!(run_columns, "FROM runs WHERE errand_id = $1 ORDER BY created_ms, id");
const OPEN_RUNS: &str =
    select!(run_columns, "FROM runs WHERE phase IN ('queued', 'starting', 'live') ORDER BY created_ms, id");
const PARKED_RUNS: &str = select!(run_columns, "FROM runs WHERE phase = 'parked' ORDER BY created_ms, id");
const ERRANDS: &str = select!(errand_columns, "FROM errands ORDER BY created_ms DESC, id");
const PROJECT_ERRANDS: &str =
    select!(errand_columns, "FROM errands WHERE project_id = $1 ORDER BY created_ms DESC, id");
const MERGES: &str = "SELECT id, attempt_id, kind, target_branch, created_ms, merge_commit, pr_number, pr_url, \
     pr_status, pr_merged_ms FROM merges WHERE attempt_id = $1 ORDER BY created_ms DESC, id";
const PROJECT_ATTEMPT_IDS: &str = "SELECT attempts.id FROM attempts WHERE attempts.task_id IN \
     (SELECT tasks.id FROM tasks WHERE tasks.project_id = $1) ORDER BY attempts.created_ms DESC, attempts.id";
const PROJECT_DRAFTS: &str = select!(
    draft_columns,
    "FROM drafts JOIN attempts ON attempts.id = drafts.attempt_id JOIN tasks ON tasks.id = attempts.task_id \
     WHERE tasks.project_id = $1 ORDER BY drafts.kind"
);

/// The bindings of `LIMIT` and `OFFSET`.
pub(crate) fn window(page: Page) -> (i64, i64) {
    (page.limit.map_or(i64::MAX, i64::from), i64::from(page.offset))
}

pub(crate) async fn one<T>(
    conn: &mut Conn,
    sql: &'static str,
    key: String,
    map: fn(&SqliteRow) -> sqlx::Result<T>,
) -> Result<Option<T>> {
    let row = sqlx::query(sql).bind(key).fetch_optional(conn).await?;
    Ok(row.as_ref().map(map).transpose()?)
}

pub(crate) async fn many<T>(
    conn: &mut Conn,
    sql: &'static str,
    key: String,
    map: fn(&SqliteRow) -> sqlx::Result<T>,
) -> Result<Vec<T>> {
    let rows = sqlx::query(sql).bind(key).fetch_all(conn).await?;
    Ok(rows.iter().map(map).collect::<sqlx::Result<_>>()?)
}

pub(crate) async fn all<T>(
    conn: &mut Conn,
    sql: &'static str,
    map: fn(&SqliteRow) -> sqlx::Result<T>,
) -> Result<Vec<T>> {
    let rows = sqlx::query(sql).fetch_all(conn).await?;
    Ok(rows.iter().map(map).collect::<sqlx::Result<_>>()?)
}

pub(crate) async fn newest_seq(conn: &mut Conn) -> Result<i64> {
    let seq: Option<i64> = sqlx::query_scalar("SELECT MAX(seq) FROM events").fetch_one(conn).await?;
    Ok(seq.unwrap_or(0))
}

pub(crate) async fn projects(conn: &mut Conn) -> Result<Vec<Project>> {
    all(conn, PROJECTS, row::project).await
}

pub(crate) async fn task_counts(conn: &mut Conn) -> Result<HashMap<ProjectId, BTreeMap<String, i64>>> {
    let mut counts: HashMap<ProjectId, BTreeMap<String, i64>> = HashMap::new();
    for (project, status, count) in all(conn, TASK_COUNTS, row::task_count).await? {
        counts.entry(project).or_default().insert(status, count);
    }
    Ok(counts)
}

pub(crate) async fn project(conn: &mut Conn, id: ProjectId) -> Result<Option<Project>> {
    one(conn, select!(project_columns, "FROM projects WHERE id = $1"), id.to_string(), row::project).await
}

pub(crate) async fn project_by_path(conn: &mut Conn, path: &str) -> Result<Option<Project>> {
    let sql = select!(project_columns, "FROM projects WHERE git_repo_path = $1");
    one(conn, sql, path.to_owned(), row::project).await
}

/// Visible tasks only.
pub(crate) async fn tasks(conn: &mut Conn, project: ProjectId) -> Result<Vec<TaskSummary>> {
    let (limit, offset) = window(Page::default());
    let query = sqlx::query(TASKS).bind(project.to_string()).bind(limit).bind(offset);
    let rows = query.fetch_all(conn).await?;
    Ok(rows.iter().map(row::summary).collect::<sqlx::Result<_>>()?)
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
    let query = sqlx::query(TASKS_AT).bind(project.to_string()).bind(cursor.created_ms).bind(&cursor.id);
    let query = query.bind(cursor.block()).bind(cursor.offset).bind(SEPARATOR);
    Ok(row::task_block(&query.fetch_one(conn).await?)?)
}

pub(crate) async fn task_summary(conn: &mut Conn, id: TaskId) -> Result<Option<TaskSummary>> {
    one(conn, select!(task_columns, "FROM tasks WHERE id = $1"), id.to_string(), row::summary).await
}

pub(crate) async fn task(conn: &mut Conn, id: TaskId) -> Result<Option<Task>> {
    Ok(task_summary(conn, id).await?.map(|summary| summary.task))
}

pub(crate) async fn child_tasks(conn: &mut Conn, parent: AttemptId) -> Result<Vec<Task>> {
    many(conn, CHILD_TASKS, parent.to_string(), row::task).await
}

pub(crate) async fn attempts<T>(
    conn: &mut Conn,
    of: AttemptsOf,
    page: Page,
    map: fn(&SqliteRow) -> sqlx::Result<T>,
) -> Result<Vec<T>> {
    let (limit, offset) = window(page);
    let query = match of {
        AttemptsOf::All => sqlx::query(ATTEMPTS),
        AttemptsOf::Project(project) => sqlx::query(PROJECT_ATTEMPTS).bind(project.to_string()),
        AttemptsOf::Task(task) => sqlx::query(TASK_ATTEMPTS).bind(task.to_string()),
    };
    let rows = query.bind(limit).bind(offset).fetch_all(conn).await?;
    Ok(rows.iter().map(map).collect::<sqlx::Result<_>>()?)
}

pub(crate) async fn latest_attempts(conn: &mut Conn, project: ProjectId) -> Result<HashMap<TaskId, Attempt>> {
    let attempts = many(conn, LATEST_ATTEMPTS, project.to_string(), row::attempt).await?;
    Ok(attempts.into_iter().map(|attempt| (attempt.task_id, attempt)).collect())
}

pub(crate) async fn attempt(conn: &mut Conn, id: AttemptId) -> Result<Option<Attempt>> {
    one(conn, select!(attempt_columns, "FROM attempts WHERE id = $1"), id.to_string(), row::attempt).await
}

pub(crate) async fn attempt_by_path(conn: &mut Conn, container_ref: &str) -> Result<Option<Attempt>> {
    one(conn, ATTEMPT_BY_PATH, container_ref.to_owned(), row::attempt).await
}

/// The newest attempt in the first of these directories; above the first one only worktrees count.
pub(crate) async fn attempt_around(conn: &mut Conn, places: &[String]) -> Result<Option<Attempt>> {
    let mut select = sqlx::QueryBuilder::<sqlx::Sqlite>::new(select!(
        attempt_columns,
        "FROM attempts WHERE attempts.container_ref IN ("
    ));
    let mut list = select.separated(", ");
    for place in places {
        list.push_bind(place);
    }
    select.push(") AND (attempts.use_worktree = TRUE OR attempts.container_ref = ");
    select.push_bind(places.first());
    select.push(
        ") ORDER BY LENGTH(attempts.container_ref) DESC, attempts.created_ms DESC, attempts.id LIMIT 1",
    );
    let row = select.build().fetch_optional(conn).await?;
    Ok(row.as_ref().map(row::attempt).transpose()?)
}

pub(crate) async fn idle_attempts(conn: &mut Conn, before: Millis) -> Result<Vec<Attempt>> {
    let rows = sqlx::query(IDLE_ATTEMPTS).bind(before.0).fetch_all(conn).await?;
    Ok(rows.iter().map(row::attempt).collect::<sqlx::Result<_>>()?)
}

pub(crate) async fn uncommitted_attempts(conn: &mut Conn) -> Result<Vec<AttemptId>> {
    const SQL: &str =
        "SELECT DISTINCT attempt_id FROM runs WHERE commit_error IS NOT NULL AND dropped = FALSE";
    let ids: Vec<String> = sqlx::query_scalar(SQL).fetch_all(conn).await?;
    Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
}

pub(crate) async fn runs(conn: &mut Conn, attempt: AttemptId, dropped: Dropped) -> Result<Vec<Run>> {
    let sql = match dropped {
        Dropped::Hidden => KEPT_RUNS,
        Dropped::Shown => RUNS,
    };
    many(conn, sql, attempt.to_string(), row::run).await
}

pub(crate) async fn errand_runs(conn: &mut Conn, errand: ErrandId) -> Result<Vec<Run>> {
    many(conn, ERRAND_RUNS, errand.to_string(), row::run).await
}

pub(crate) async fn run(conn: &mut Conn, id: RunId) -> Result<Option<Run>> {
    one(conn, select!(run_columns, "FROM runs WHERE id = $1"), id.to_string(), row::run).await
}

pub(crate) async fn open_runs(conn: &mut Conn) -> Result<Vec<Run>> {
    all(conn, OPEN_RUNS, row::run).await
}

pub(crate) async fn parked_runs(conn: &mut Conn) -> Result<Vec<Run>> {
    all(conn, PARKED_RUNS, row::run).await
}

pub(crate) async fn errands(conn: &mut Conn, project: Option<ProjectId>) -> Result<Vec<Errand>> {
    match project {
        Some(project) => many(conn, PROJECT_ERRANDS, project.to_string(), row::errand).await,
        None => all(conn, ERRANDS, row::errand).await,
    }
}

pub(crate) async fn errand(conn: &mut Conn, id: ErrandId) -> Result<Option<Errand>> {
    one(conn, select!(errand_columns, "FROM errands WHERE id = $1"), id.to_string(), row::errand).await
}

pub(crate) async fn merges(conn: &mut Conn, attempt: AttemptId) -> Result<Vec<Merge>> {
    many(conn, MERGES, attempt.to_string(), row::merge).await
}

/// Every attempt of the project, newest first, with its drafts.
pub(crate) async fn drafts(conn: &mut Conn, project: ProjectId) -> Result<Vec<(AttemptId, Vec<Draft>)>> {
    let mut of_attempt: HashMap<AttemptId, Vec<Draft>> = HashMap::new();
    for draft in many(conn, PROJECT_DRAFTS, project.to_string(), row::draft).await? {
        of_attempt.entry(draft.task_attempt_id).or_default().push(draft);
    }
    let ids: Vec<AttemptId> = many(conn, PROJECT_ATTEMPT_IDS, project.to_string(), row::id).await?;
    Ok(ids.into_iter().map(|id| (id, of_attempt.remove(&id).unwrap_or_default())).collect())
}

pub(crate) async fn meta(conn: &mut Conn, key: &str) -> Result<Option<String>> {
    one(conn, "SELECT value FROM meta WHERE key = $1", key.to_owned(), |row| row.try_get(0)).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::AssertSqlSafe;

    /// SQLite's plan of a statement, one step per line.
    async fn plan(conn: &mut Conn, sql: &str) -> String {
        let sql = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
        let rows = sqlx::query(sql).fetch_all(conn).await.unwrap();
        rows.iter().map(|row| row.get::<String, _>("detail")).collect::<Vec<_>>().join("\n")
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
