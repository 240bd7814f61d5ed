//! How beads are given to agents: the rule of each project, and the task of each bead.
//!
//! Invariant: a bead has at most one task, and a task at most one bead.

use std::path::{Path, PathBuf};

use forge_types::{DispatchRule, ProjectId, Routing, TaskId};
use sqlx::sqlite::SqliteRow;

use crate::error::Result;
use crate::query;
use crate::row::{Cells, Read};
use crate::store::Store;
use crate::tx::Tx;
use crate::write::{bind, json};

/// A bead and the task that it became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeadTask {
    pub workspace: PathBuf,
    pub bead: String,
    pub task_id: TaskId,
}

fn link(row: &SqliteRow) -> Read<BeadTask> {
    let mut cells = Cells::of(row);
    Ok(BeadTask { workspace: cells.take::<String>()?.into(), bead: cells.take()?, task_id: cells.parse()? })
}

fn body<T: serde::de::DeserializeOwned>(row: &SqliteRow) -> Read<T> {
    Cells::of(row).json()
}

fn rule(row: &SqliteRow) -> Read<(ProjectId, DispatchRule)> {
    let mut cells = Cells::of(row);
    Ok((cells.parse()?, cells.json()?))
}

impl Store {
    /// The project's own rule, if it has one.
    pub async fn dispatch_rule(&self, project: ProjectId) -> Result<Option<DispatchRule>> {
        let sql = "SELECT body FROM dispatch_rules WHERE project_id = $1";
        query::one(&mut *self.reader().await?, sql, project.to_string(), body).await
    }

    pub async fn dispatch_rules(&self) -> Result<Vec<(ProjectId, DispatchRule)>> {
        let sql = "SELECT project_id, body FROM dispatch_rules ORDER BY project_id";
        query::all(&mut *self.reader().await?, sql, rule).await
    }

    /// The beads of a workspace that became tasks.
    pub async fn bead_tasks(&self, workspace: &Path) -> Result<Vec<BeadTask>> {
        let sql = "SELECT workspace, bead, task_id FROM bead_tasks WHERE workspace = $1 ORDER BY bead";
        query::many(&mut *self.reader().await?, sql, workspace.to_string_lossy().into_owned(), link).await
    }

    /// The bead of a task, if it has one.
    pub async fn bead_of_task(&self, task: TaskId) -> Result<Option<BeadTask>> {
        let sql = "SELECT workspace, bead, task_id FROM bead_tasks WHERE task_id = $1";
        query::one(&mut *self.reader().await?, sql, task.to_string(), link).await
    }

    /// Decisions whose outcome is not known yet, oldest first.
    pub async fn open_routings(&self) -> Result<Vec<Routing>> {
        let sql = "SELECT body FROM routings WHERE ended_ms IS NULL ORDER BY decided_ms, id";
        query::all(&mut *self.reader().await?, sql, body).await
    }
}

impl Tx {
    /// [`crate::StoreError::Missing`] when there is no such project.
    pub async fn put_dispatch_rule(&mut self, project: ProjectId, rule: &DispatchRule) -> Result<()> {
        let sql = "INSERT INTO dispatch_rules (project_id, body) VALUES ($1, $2) \
             ON CONFLICT (project_id) DO UPDATE SET body = excluded.body";
        bind!(sql, project.to_string(), json(rule)?).execute(self.conn()?).await?;
        Ok(())
    }

    /// Records the task of a bead, replacing an earlier one.
    pub async fn link_bead(&mut self, link: &BeadTask) -> Result<()> {
        let sql = "INSERT INTO bead_tasks (workspace, bead, task_id) VALUES ($1, $2, $3) \
             ON CONFLICT (workspace, bead) DO UPDATE SET task_id = excluded.task_id";
        let workspace = link.workspace.to_string_lossy().into_owned();
        bind!(sql, workspace, &link.bead, link.task_id.to_string()).execute(self.conn()?).await?;
        Ok(())
    }
}
