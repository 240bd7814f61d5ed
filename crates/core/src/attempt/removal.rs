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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use forge_types::{
        Attempt, AttemptId, AttemptStatus, CreateTask, Executor, Millis, ProfileId, Project, Tokens,
    };

    /// An attempt of a task that was put away.
    pub(crate) async fn archived_attempt(forge: &Forge) -> Attempt {
        let now = Millis::now();
        let project = Project {
            id: ProjectId::random(),
            name: "demo".into(),
            git_repo_path: "/no/such/repository".into(),
            setup_script: None,
            dev_script: None,
            cleanup_script: None,
            copy_files: None,
            commit_prompt: None,
            default_base_branch: None,
            max_cost_usd: None,
            created_at: now,
            updated_at: now,
        };
        let wanted = serde_json::json!({ "project_id": project.id, "title": "put away" });
        let wanted: CreateTask = serde_json::from_value(wanted).expect("a request");
        let task = crate::task::new_task(wanted, TaskStatus::Archived).expect("a task");
        let profile = ProfileId::new(Executor::ClaudeCode);
        let attempt = Attempt {
            id: AttemptId::random(),
            task_id: task.id,
            container_ref: None,
            branch: "forge/put-away".into(),
            target_branch: "main".into(),
            executor: profile.to_string(),
            worktree_deleted: true,
            setup_completed_at: None,
            tokens: Tokens::default(),
            created_at: now,
            updated_at: now,
            status: AttemptStatus::Pending,
            project_id: project.id,
            executor_profile_id: profile,
            worktree_path: None,
            use_worktree: true,
            auto_pr: None,
            cost_usd: None,
            max_cost_usd: None,
        };
        let mut tx = forge.0.store.begin().await.expect("a transaction");
        tx.insert_project(&project).await.expect("a project");
        tx.insert_task(&task, false).await.expect("a task");
        tx.insert_attempt(&attempt).await.expect("an attempt");
        tx.commit().await.expect("a commit");
        attempt
    }
}
