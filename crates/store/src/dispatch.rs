//! How beads are given to agents: the rule of each project, and the task of each bead.
//!
//! Invariant: a bead has at most one task, and a task at most one bead.

use std::path::{Path, PathBuf};

use forge_types::{DispatchRule, ProjectId, Routing, TaskId};

use crate::alert::body;
use crate::cell::json;
use crate::entity::{entity, select};
use crate::error::Result;
use crate::sql::{Row, bind};
use crate::store::Store;
use crate::tx::Tx;

/// A bead and the task that it became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeadTask {
    pub workspace: PathBuf,
    pub bead: String,
    pub task_id: TaskId,
}

entity! { bead_tasks: BeadTask { key workspace, key bead, set task_id } }

impl Store {
    /// The project's own rule, if it has one.
    pub async fn dispatch_rule(&self, project: ProjectId) -> Result<Option<DispatchRule>> {
        let sql = "SELECT body FROM dispatch_rules WHERE project_id = $1";
        bind!(sql, project).one(&mut *self.reader().await?, body).await
    }

    pub async fn dispatch_rules(&self) -> Result<Vec<(ProjectId, DispatchRule)>> {
        let sql = "SELECT project_id, body FROM dispatch_rules ORDER BY project_id";
        let rule = |row: &Row<'_>| Ok((row.get("project_id")?, body(row)?));
        bind!(sql).all(&mut *self.reader().await?, rule).await
    }

    /// The beads of a workspace that became tasks.
    pub async fn bead_tasks(&self, workspace: &Path) -> Result<Vec<BeadTask>> {
        let sql = select!(BeadTask, "FROM bead_tasks WHERE workspace = $1 ORDER BY bead");
        bind!(sql, workspace).list(&mut *self.reader().await?).await
    }

    /// The bead of a task, if it has one.
    pub async fn bead_of_task(&self, task: TaskId) -> Result<Option<BeadTask>> {
        let sql = select!(BeadTask, "FROM bead_tasks WHERE task_id = $1");
        bind!(sql, task).find(&mut *self.reader().await?).await
    }

    /// Decisions whose outcome is not known yet, oldest first.
    pub async fn open_routings(&self) -> Result<Vec<Routing>> {
        let sql = "SELECT body FROM routings WHERE ended_ms IS NULL ORDER BY decided_ms, id";
        bind!(sql).all(&mut *self.reader().await?, body).await
    }
}

impl Tx {
    /// [`crate::StoreError::Missing`] when there is no such project.
    pub async fn put_dispatch_rule(&mut self, project: ProjectId, rule: &DispatchRule) -> Result<()> {
        let sql = "INSERT INTO dispatch_rules (project_id, body) VALUES ($1, $2) \
             ON CONFLICT (project_id) DO UPDATE SET body = excluded.body";
        bind!(sql, project, json(rule)?).run(self.conn()?).await.map(drop)
    }

    /// Records the task of a bead, replacing an earlier one.
    pub async fn link_bead(&mut self, link: &BeadTask) -> Result<()> {
        self.put(link).await
    }
}
