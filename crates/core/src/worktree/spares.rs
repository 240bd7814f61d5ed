//! Spare worktrees: how many a project has, and when they are made.
//!
//! Owns: the demand. Invariant: a project has as many spares as starts came in its busiest ten minutes of the last day, at
//! least as many as configured and at most [`MOST`]; they are made one at a time, and let others have the machine first.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use forge_git::Owner;
use forge_types::{CreateProject, Millis, Project, ProjectId, RegisteredProject};

use crate::worktree::host::{FillSpares, TrimSpares};
use crate::worktree::upkeep::FoundDirectory;
use crate::{Forge, Result};

/// How long the making of spares waits for more starts to come.
const PAUSE: Duration = Duration::from_millis(250);
/// Whoever starts more at once waits for the checkout of the rest.
const MOST: usize = 24;
/// How long starts are remembered, and which of them count as one burst.
const DAY_MS: i64 = 24 * 3_600_000;
const BURST_MS: i64 = 600_000;

impl Forge {
    /// Registers a project, which gets spare worktrees at once.
    pub async fn create_project(&self, request: CreateProject) -> Result<RegisteredProject> {
        let registered = self.register_project(request).await?;
        self.warm_up(&registered.project);
        Ok(registered)
    }

    /// Keeps spare worktrees at the tip of the project's base branch, in the background.
    pub(crate) fn warm_up(&self, project: &Project) {
        if self.0.config.spares == 0 || !self.0.worktrees.warming().insert(project.id) {
            return;
        }
        let project = project.clone();
        self.run_until_close(|forge| async move {
            if let Err(error) = forge.fill_spares(&project).await {
                tracing::info!(project = %project.name, %error, "no warm worktrees");
            }
        });
    }

    async fn fill_spares(&self, project: &Project) -> Result<()> {
        // Starts that come together share one refill.
        tokio::time::sleep(PAUSE).await;
        self.0.worktrees.warming().remove(&project.id);
        let repo = self.repo(project).await?;
        let branch = match &project.default_base_branch {
            Some(branch) => branch.clone(),
            None => repo.current_branch().await?.unwrap_or_else(|| "main".to_owned()),
        };
        let Some(tip) = repo.resolve_branch(&branch).await? else { return Ok(()) };
        let wanted = self.wanted_spares(project.id).await?;
        let mut ready = 0;
        while ready < wanted {
            // Whoever starts one after the other needs the next one too; a crowd needs the machine.
            while self.0.worktrees.is_crowded() {
                tokio::time::sleep(PAUSE).await;
            }
            let (repo, commit) = (project.git_repo_path.clone().into(), tip.commit.clone());
            let filled = self.ask(FillSpares { repo, commit, wanted: ready + 1 }).await?;
            if filled.ready <= ready {
                // There is no room, or somebody took it: whoever starts comes here again.
                break;
            }
            ready = filled.ready;
        }
        Ok(())
    }

    async fn wanted_spares(&self, project: ProjectId) -> Result<usize> {
        if self.0.config.spares == 0 {
            return Ok(0);
        }
        let since = Millis(Millis::now().0 - DAY_MS);
        let burst = self.0.store.largest_burst(project, since, BURST_MS).await?;
        Ok(burst.min(MOST).max(self.0.config.spares))
    }

    /// Renews the spares of every project that has some, and puts away what is no longer needed.
    pub(crate) async fn look_after_spares(&self, found: &[FoundDirectory]) -> Result<()> {
        let spares = found.iter().filter(|found| found.owner == Some(Owner::Spare));
        let stocked: HashSet<&Path> =
            spares.filter_map(|found| found.line.repo.as_deref()).map(Path::new).collect();
        if stocked.is_empty() {
            return Ok(());
        }
        for project in self.0.store.projects().await? {
            // A repository that is gone has nothing to look after.
            if !self.repo(&project).await.is_ok_and(|repo| stocked.contains(repo.path())) {
                continue;
            }
            let (repo, wanted) =
                (project.git_repo_path.clone().into(), self.wanted_spares(project.id).await?);
            if let Err(error) = self.ask(TrimSpares { repo, wanted }).await {
                tracing::warn!(project = %project.name, %error, "spare worktrees stay that nobody needs");
            }
            self.warm_up(&project);
        }
        Ok(())
    }
}

impl super::Worktrees {
    fn warming(&self) -> MutexGuard<'_, HashSet<ProjectId>> {
        self.warming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
