//! Where a run works and for whom.

use forge_git::MarkedTask;
use forge_types::{Attempt, Errand, Project, RunOwner, Task};

use crate::worktree::host::Directory;
use crate::worktree::queue::recorded_path;
use crate::{Error, Forge, Result};

/// The surroundings of a run.
#[derive(Clone)]
pub(crate) struct Workplace {
    pub(crate) project: Project,
    pub(crate) directory: Directory,
    pub(crate) task: Option<Task>,
    pub(crate) attempt: Option<Attempt>,
    /// An errand's directory: Forge's own, but never committed to.
    errand: bool,
}

impl Workplace {
    pub(crate) fn attempt(project: Project, task: Task, attempt: Attempt) -> Self {
        let directory = Directory::of_attempt(&project, &attempt);
        Self { project, directory, task: Some(task), attempt: Some(attempt), errand: false }
    }

    pub(crate) fn errand(project: Project, errand: &Errand) -> Self {
        let directory = Directory::of_errand(&project, errand);
        Self { project, directory, task: None, attempt: None, errand: true }
    }

    /// Whether the directory is a worktree that Forge made. The user's own checkout is never changed by Forge.
    pub(crate) fn is_forges(&self) -> bool {
        self.errand || self.attempt.as_ref().is_some_and(|attempt| attempt.use_worktree)
    }

    /// Whether an agent's work is committed when it ends.
    pub(crate) fn commits(&self) -> bool {
        !self.errand && self.is_forges()
    }
}

impl Forge {
    pub(crate) async fn directory_of(&self, attempt: &Attempt) -> Result<Directory> {
        let project = self.project(attempt.project_id).await?;
        Ok(Directory::new(project.git_repo_path, recorded_path(attempt)))
    }

    pub(crate) async fn workplace(&self, owner: RunOwner) -> Result<Workplace> {
        let store = &self.0.store;
        match owner {
            RunOwner::Attempt(id) => {
                let attempt = self.attempt(id).await?;
                let task = self.task(attempt.task_id).await?;
                let project = self.project(task.project_id).await?;
                Ok(Workplace::attempt(project, task, attempt))
            }
            RunOwner::Errand(id) => {
                let missing = || Error::no_errand(id);
                let errand = store.errand(id).await?.ok_or_else(missing)?;
                let project = self.project(errand.project_id).await?;
                Ok(Workplace::errand(project, &errand))
            }
        }
    }
}

/// What a worktree knows of its task without the server.
pub(crate) fn marked(task: &Task) -> MarkedTask {
    MarkedTask { id: task.id, title: task.title.clone() }
}
