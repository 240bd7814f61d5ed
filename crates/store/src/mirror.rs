//! What the beads and the tasks of a project last agreed on.
//!
//! Invariant: a bead and a task that were linked have one row, which outlives both of them. Only their link determines
//! whether they still belong together.

use std::path::{Path, PathBuf};

use forge_types::{ProjectId, TaskId};

use crate::entity::{entity, select};
use crate::error::Result;
use crate::sql::bind;
use crate::store::Store;
use crate::tx::Tx;

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

entity! {
    mirrors: Mirror {
        key workspace, key bead,
        set project_id, set task_id,
        set bead_text, set task_text,
        set bead_status, set task_status,
    }
}

impl Store {
    /// Every bead of a workspace that was ever linked to a task.
    pub async fn mirrors(&self, workspace: &Path) -> Result<Vec<Mirror>> {
        let sql = select!(Mirror, "FROM mirrors WHERE workspace = $1 ORDER BY bead");
        bind!(sql, workspace).list(&mut *self.reader().await?).await
    }
}

impl Tx {
    /// Records what a bead and its task agree on, replacing earlier records of either.
    pub async fn put_mirror(&mut self, new: &Mirror) -> Result<()> {
        let old = "DELETE FROM mirrors WHERE (workspace = $1 AND bead = $2) OR task_id = $3";
        bind!(old, new.workspace, new.bead, new.task_id).run(self.conn()?).await?;
        self.insert(new).await
    }

    /// The bead is gone: its task is independent from now on.
    pub async fn unlink_bead(&mut self, workspace: &Path, bead: &str) -> Result<()> {
        let sql = "DELETE FROM bead_tasks WHERE workspace = $1 AND bead = $2";
        bind!(sql, workspace, bead).run(self.conn()?).await.map(drop)
    }
}
