//! What the beads and the tasks of a project last agreed on.
//!
//! Invariant: a bead and a task that were linked have one row, which outlives both of them. Only their link determines
//! whether they still belong together.

use std::path::{Path, PathBuf};

use forge_types::{ProjectId, TaskId};
use sqlx::sqlite::SqliteRow;

use crate::error::Result;
use crate::query;
use crate::row::{Cells, Read};
use crate::store::Store;
use crate::tx::Tx;
use crate::write::bind;

/// A bead and its task as they were when they last agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    pub workspace: PathBuf,
    pub bead: String,
    pub project_id: ProjectId,
    pub task_id: TaskId,
    /// Hashes of title and description of each.
    pub bead_text: String,
    pub task_text: String,
    pub bead_status: String,
    pub task_status: String,
}

fn mirror(row: &SqliteRow) -> Read<Mirror> {
    let mut cells = Cells::of(row);
    Ok(Mirror {
        workspace: cells.take::<String>()?.into(),
        bead: cells.take()?,
        project_id: cells.parse()?,
        task_id: cells.parse()?,
        bead_text: cells.take()?,
        task_text: cells.take()?,
        bead_status: cells.take()?,
        task_status: cells.take()?,
    })
}

impl Store {
    /// Every bead of a workspace that was ever linked to a task.
    pub async fn mirrors(&self, workspace: &Path) -> Result<Vec<Mirror>> {
        let sql = "SELECT workspace, bead, project_id, task_id, bead_text, task_text, bead_status, task_status \
             FROM mirrors WHERE workspace = $1 ORDER BY bead";
        query::many(&mut *self.reader().await?, sql, workspace.to_string_lossy().into_owned(), mirror).await
    }
}

impl Tx {
    /// Records what a bead and its task agree on, replacing earlier records of either.
    pub async fn put_mirror(&mut self, new: &Mirror) -> Result<()> {
        let (workspace, task) = (new.workspace.to_string_lossy().into_owned(), new.task_id.to_string());
        let old = "DELETE FROM mirrors WHERE (workspace = $1 AND bead = $2) OR task_id = $3";
        bind!(old, &workspace, &new.bead, &task).execute(self.conn()?).await?;
        let sql = "INSERT INTO mirrors (workspace, bead, project_id, task_id, bead_text, task_text, bead_status, \
             task_status) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let insert = bind!(
            sql,
            &workspace,
            &new.bead,
            new.project_id.to_string(),
            &task,
            &new.bead_text,
            &new.task_text,
            &new.bead_status,
            &new.task_status,
        );
        insert.execute(self.conn()?).await?;
        Ok(())
    }

    /// The bead is gone: its task is independent from now on.
    pub async fn unlink_bead(&mut self, workspace: &Path, bead: &str) -> Result<()> {
        let sql = "DELETE FROM bead_tasks WHERE workspace = $1 AND bead = $2";
        bind!(sql, workspace.to_string_lossy().into_owned(), bead).execute(self.conn()?).await?;
        Ok(())
    }
}
