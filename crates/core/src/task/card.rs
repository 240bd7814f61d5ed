//! Cards of the board, and the figures they show of what an attempt changed.
//!
//! Invariant: the figures are those of [`Forge::patch`]. They are counted where a run's work or the attempt's branch
//! came to rest; what cannot be counted is left empty and keeps nothing from going on.

use forge_types::{Millis, ProjectId, TaskCard, TaskId};

use crate::{Forge, Result};

impl Forge {
    /// One card for each visible task of a project that has an attempt, or that of one task.
    pub async fn cards(&self, project: ProjectId, task: Option<TaskId>) -> Result<Vec<TaskCard>> {
        self.project(project).await?;
        Ok(self.0.store.cards(project, task, Millis::now()).await?)
    }
}
