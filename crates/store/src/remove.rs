//! Deleting tasks and projects with everything that depends on them.
//!
//! Invariant: the foreign keys delete; this module only determines beforehand, with one query per kind, what they will
//! delete, so that each removed entity gets its event.

use forge_types::{AttemptId, ProjectId, RunId, TaskId};

use crate::error::Result;
use crate::sql::{Row, bind};
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

fn run(row: &Row<'_>) -> sqlx::Result<(RunId, Option<AttemptId>)> {
    Ok((row.get("id")?, row.get("attempt_id")?))
}

fn attempt(row: &Row<'_>) -> sqlx::Result<(AttemptId, TaskId)> {
    Ok((row.get("id")?, row.get("task_id")?))
}

impl Tx {
    /// With its attempts, runs, merges and drafts. Returns whether there was one.
    pub async fn delete_task(&mut self, id: TaskId) -> Result<bool> {
        let runs = bind!(TASK_RUNS, id).all(self.conn()?, run).await?;
        let attempts = bind!(TASK_ATTEMPTS, id).all(self.conn()?, attempt).await?;
        let children = bind!(TASK_CHILDREN, id).values(self.conn()?).await?;
        let sql = "DELETE FROM tasks WHERE id = $1 RETURNING project_id";
        let Some(project) = bind!(sql, id).one(self.conn()?, |row| row.get("project_id")).await? else {
            return Ok(false);
        };
        self.note_removed(project, runs, attempts, vec![id], children);
        Ok(true)
    }

    /// With its tasks and errands and everything that depends on them. Returns whether there was one.
    pub async fn delete_project(&mut self, id: ProjectId) -> Result<bool> {
        let runs = bind!(PROJECT_RUNS, id).all(self.conn()?, run).await?;
        let attempts = bind!(PROJECT_ATTEMPTS, id).all(self.conn()?, attempt).await?;
        let tasks = bind!(PROJECT_TASKS, id).values(self.conn()?).await?;
        let children = bind!(PROJECT_CHILDREN, id).values(self.conn()?).await?;
        if bind!("DELETE FROM projects WHERE id = $1", id).run(self.conn()?).await? == 0 {
            return Ok(false);
        }
        self.note_removed(id, runs, attempts, tasks, children);
        self.touched.project_removed(id);
        Ok(true)
    }

    /// Leaves before branches; orphaned children are shown again without their parent.
    fn note_removed(
        &mut self,
        project: ProjectId,
        runs: Vec<(RunId, Option<AttemptId>)>,
        attempts: Vec<(AttemptId, TaskId)>,
        tasks: Vec<TaskId>,
        children: Vec<TaskId>,
    ) {
        for (run, attempt) in runs {
            self.touched.run_removed(run, attempt);
        }
        for (attempt, task) in attempts {
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
