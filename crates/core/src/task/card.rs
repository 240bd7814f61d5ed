//! Cards of the board, and the figures they show of what an attempt changed.
//!
//! Invariant: the figures are those that [`Forge::patch`] tells. They are counted where a run's work or the attempt's branch
//! came to rest; what cannot be counted is left empty and keeps nothing from going on.

use forge_types::{AttemptId, Changes, Millis, ProjectId, Run, RunReason, TaskCard, TaskId};

use crate::review::patch::ChangeStat;
use crate::worktree::workplace::Workplace;
use crate::{Forge, Kind, Result};

impl Forge {
    /// One card for each visible task of a project that has an attempt, or that of one task.
    pub async fn cards(&self, project: ProjectId, task: Option<TaskId>) -> Result<Vec<TaskCard>> {
        self.project(project).await?;
        Ok(self.0.store.cards(project, task, Millis::now()).await?)
    }

    /// What an attempt has come to with a run that just ended; `None` when such a run changes no figures.
    pub(crate) async fn changes_after(
        &self,
        run: &Run,
        site: &Workplace,
    ) -> Option<(AttemptId, Option<Changes>)> {
        match run.reason {
            RunReason::CodingAgent | RunReason::CleanupScript => {}
            RunReason::SetupScript | RunReason::DevServer => return None,
        }
        // In the user's own checkout there is no telling who changed what.
        let attempt = site.attempt.as_ref().filter(|attempt| attempt.use_worktree)?.id;
        Some((attempt, self.count_changes(attempt).await))
    }

    /// Counts anew after the branch or its target moved.
    pub(crate) async fn recount(&self, attempt: AttemptId) {
        let changes = self.count_changes(attempt).await;
        let noted = async {
            let mut tx = self.0.store.begin().await?;
            tx.put_changes(attempt, changes).await?;
            tx.commit().await
        };
        if let Err(error) = noted.await {
            tracing::warn!(%attempt, %error, "cannot note what an attempt changed");
        }
    }

    async fn count_changes(&self, attempt: AttemptId) -> Option<Changes> {
        let _turn = self.0.worktrees.turn().await.ok()?;
        match self.stat(attempt).await {
            Ok(ChangeStat { file_count, additions, deletions, .. }) => Some(Changes {
                files_changed: i64::try_from(file_count).ok()?,
                additions: additions.try_into().ok()?,
                deletions: deletions.try_into().ok()?,
            }),
            // The attempt was deleted while its run was ending.
            Err(error) if error.kind() == Kind::NotFound => None,
            Err(error) => {
                tracing::warn!(%attempt, %error, "cannot count what an attempt changed");
                None
            }
        }
    }
}
