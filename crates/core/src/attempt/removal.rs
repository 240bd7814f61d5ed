//! Putting work away: deleted projects, deleted and archived tasks.
//!
//! Invariant: nothing that runs is put away, and worktrees are retired, never deleted.

use forge_git::Owner;
use forge_store::{Dropped, Page};
use forge_types::{ErrandId, ErrorCode, ProjectId, Run, RunStatus, Task, TaskId, TaskStatus, UpdateTask};

use crate::task::Changed;
use crate::worktree::hold::{Hold, refuse_running};
use crate::worktree::host::Directory;
use crate::{Error, Forge, Result};

impl Forge {
    /// Changes a task. The worktrees of one that gets archived are retired in the background.
    pub async fn update_task(&self, id: TaskId, request: UpdateTask) -> Result<Task> {
        let Changed { was, task } = self.change_task(id, request).await?;
        if task.status == TaskStatus::Archived && was != TaskStatus::Archived {
            self.retire_task_worktrees(task.id);
        }
        Ok(task)
    }

    /// Forgets a task. Its worktrees are retired in the background, its branches stay.
    pub async fn delete_task(&self, id: TaskId) -> Result<()> {
        let task = self.task(id).await?;
        let project = self.project(task.project_id).await?;
        let attempts = self.0.store.attempts(Some(id), Page::default()).await?;
        for attempt in &attempts {
            self.refuse_while_running(attempt.id).await?;
        }
        let holds = self.hold_all(&project, &attempts).await?;
        let mut tx = self.0.store.begin().await?;
        for attempt in &attempts {
            refuse_running(attempt.id, &tx.runs(attempt.id, Dropped::Shown).await?)?;
        }
        tx.delete_task(id).await?;
        tx.commit().await?;
        let held = holds.into_iter().map(|(attempt, hold)| (Owner::Attempt(attempt), hold)).collect();
        self.retire_later(held);
        Ok(())
    }

    /// Forgets a project with everything Forge knows of it. The repository is not touched; worktrees are retired.
    pub async fn delete_project(&self, id: ProjectId) -> Result<()> {
        let project = self.project(id).await?;
        let attempts = self.0.store.project_attempts(id).await?;
        let errands = self.0.store.errands(Some(id)).await?;
        for attempt in &attempts {
            self.refuse_while_running(attempt.id).await?;
        }
        for errand in &errands {
            refuse_running_errand(errand.id, &self.0.store.errand_runs(errand.id).await?)?;
        }
        let holds = self.hold_all(&project, &attempts).await?;
        let mut held: Vec<(Owner, Hold)> =
            holds.into_iter().map(|(attempt, hold)| (Owner::Attempt(attempt), hold)).collect();
        for errand in &errands {
            let Some(at) = Directory::recorded_of_errand(&project, errand) else { continue };
            held.push((Owner::Errand(errand.id), self.take_lane(&at)?));
        }
        let mut tx = self.0.store.begin().await?;
        for attempt in &attempts {
            refuse_running(attempt.id, &tx.runs(attempt.id, Dropped::Shown).await?)?;
        }
        for errand in &errands {
            refuse_running_errand(errand.id, &tx.errand_runs(errand.id).await?)?;
        }
        tx.delete_project(id).await?;
        tx.commit().await?;
        self.retire_later(held);
        Ok(())
    }
}

fn refuse_running_errand(id: ErrandId, runs: &[Run]) -> Result<()> {
    match runs.iter().any(|run| run.status == RunStatus::Running) {
        true => Err(Error::conflict(format!("execution run {id} is still running"))
            .code(ErrorCode::StillRunning)
            .hint("stop it first")),
        false => Ok(()),
    }
}
