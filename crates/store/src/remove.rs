//! Deleting tasks and projects with everything that depends on them.
//!
//! Invariant: the foreign keys delete; this module only determines beforehand, with one query per kind, what they will
//! delete, so that each removed entity gets its event.

use forge_types::{AttemptId, ProjectId, RunId, TaskId};
use sqlx::sqlite::SqliteRow;

use crate::error::Result;
use crate::row;
use crate::touched::Home;
use crate::tx::Tx;

const TASK_RUNS: &str = "SELECT runs.id, runs.attempt_id FROM runs JOIN attempts ON attempts.id = runs.attempt_id \
     WHERE attempts.task_id = $1 ORDER BY runs.created_ms, runs.id";
const TASK_ATTEMPTS: &str = "SELECT id, task_id FROM attempts WHERE task_id = $1 ORDER BY created_ms, id";
const TASK_CHILDREN: &str = "SELECT tasks.id FROM tasks \
     JOIN attempts ON attempts.id = tasks.parent_attempt_id WHERE attempts.task_id = $1 AND tasks.id <> $1";

const PROJECT_RUNS: &str = "SELECT runs.id, runs.attempt_id FROM runs \
     JOIN attempts ON attempts.id = runs.attempt_id JOIN tasks ON tasks.id = attempts.task_id \
     WHERE tasks.project_id = $1 \
     UNION ALL SELECT runs.id, runs.attempt_id FROM runs \
     JOIN errands ON errands.id = runs.errand_id WHERE errands.project_id = $1";
const PROJECT_ATTEMPTS: &str = "SELECT attempts.id, attempts.task_id FROM attempts \
     JOIN tasks ON tasks.id = attempts.task_id WHERE tasks.project_id = $1";
const PROJECT_TASKS: &str = "SELECT id FROM tasks WHERE project_id = $1";
// Children in other projects outlive the attempts that spawned them.
const PROJECT_CHILDREN: &str = "SELECT tasks.id FROM tasks \
     JOIN attempts ON attempts.id = tasks.parent_attempt_id \
     JOIN tasks AS parents ON parents.id = attempts.task_id \
     WHERE parents.project_id = $1 AND tasks.project_id <> $1";

impl Tx {
    /// With its attempts, runs, merges and drafts. Returns whether there was one.
    pub async fn delete_task(&mut self, id: TaskId) -> Result<bool> {
        let key = id.to_string();
        let runs = self.collect(TASK_RUNS, &key, row::id_pair).await?;
        let attempts = self.collect(TASK_ATTEMPTS, &key, row::id_pair).await?;
        let children = self.collect(TASK_CHILDREN, &key, row::id).await?;
        let sql = "DELETE FROM tasks WHERE id = $1 RETURNING project_id";
        let Some(row) = sqlx::query(sql).bind(key).fetch_optional(self.conn()?).await? else {
            return Ok(false);
        };
        let project = row::id(&row)?;
        self.note_removed(project, runs, attempts, vec![id], children);
        Ok(true)
    }

    /// With its tasks and errands and everything that depends on them. Returns whether there was one.
    pub async fn delete_project(&mut self, id: ProjectId) -> Result<bool> {
        let key = id.to_string();
        let runs = self.collect(PROJECT_RUNS, &key, row::id_pair).await?;
        let attempts = self.collect(PROJECT_ATTEMPTS, &key, row::id_pair).await?;
        let tasks = self.collect(PROJECT_TASKS, &key, row::id).await?;
        let children = self.collect(PROJECT_CHILDREN, &key, row::id).await?;
        let done = sqlx::query("DELETE FROM projects WHERE id = $1").bind(key).execute(self.conn()?).await?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        self.note_removed(id, runs, attempts, tasks, children);
        self.touched.project_removed(id);
        Ok(true)
    }

    async fn collect<T>(
        &mut self,
        sql: &'static str,
        key: &str,
        map: fn(&SqliteRow) -> sqlx::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = sqlx::query(sql).bind(key).fetch_all(self.conn()?).await?;
        Ok(rows.iter().map(map).collect::<sqlx::Result<_>>()?)
    }

    /// Leaves before branches; orphaned children are shown again without their parent.
    fn note_removed(
        &mut self,
        project: ProjectId,
        runs: Vec<(RunId, Option<AttemptId>)>,
        attempts: Vec<(AttemptId, Option<TaskId>)>,
        tasks: Vec<TaskId>,
        children: Vec<TaskId>,
    ) {
        for (run, attempt) in runs {
            self.touched.run_removed(run, attempt);
        }
        for (attempt, task) in attempts {
            let Some(task) = task else { continue };
            self.touched.attempt_removed(attempt, Home { task, project });
        }
        for task in tasks {
            self.touched.task_removed(task, project);
        }
        for child in children {
            self.touched.stale_task(child);
        }
    }
}
