//! Starting an errand: as an attempt, without a task and without scripts.

use forge_git::{Naming, Owner, Worktree};
use forge_types::{Action, CreateAttemptOptions, CreateErrand, Errand, ErrandId, Millis, Run, RunOwner};

use super::Checked;
use crate::run::new_run;
use crate::worktree::host::Directory;
use crate::worktree::workplace::Workplace;
use crate::{Forge, Result};

pub struct StartedErrand {
    pub errand: Errand,
    pub run: Option<Run>,
    pub warning: Option<String>,
}

impl Forge {
    pub async fn start_errand(&self, request: CreateErrand) -> Result<StartedErrand> {
        let options = CreateAttemptOptions {
            executor_profile_id: request.executor_profile_id,
            base_branch: request.base_branch,
            use_worktree: None,
            auto_pr: None,
            max_cost_usd: None,
        };
        let checked = self.check(request.project_id, "project_id", &options).await?;
        let _turn = self.0.worktrees.turn().await?;
        let id = ErrandId::random();
        let worktree = self.claim(&checked, &Naming::Errand { id }).await?;
        let errand = new_errand(id, request.prompt, &checked, &worktree);
        let action = Action::agent(errand.prompt.clone(), checked.profile.clone(), None);
        let run_id = forge_types::RunId::random();
        let at = Directory::claimed(&checked.project, &worktree);
        let entry = self.enter(&at, run_id);
        let run = new_run(run_id, RunOwner::Errand(id), action, Some(checked.tip.commit.clone()), entry);
        if let Err(error) = self.write_errand(&errand, &run).await {
            self.leave(&at, run_id);
            self.undo_claim(&checked, Owner::Errand(id), Some(&worktree)).await;
            return Err(error);
        }
        self.warm_up(&checked.project);
        let workplace = Workplace::errand(checked.project, &errand);
        let warning = self.launch_run(run, &workplace).await.err().map(|error| error.to_string());
        let run = match warning {
            Some(_) => None,
            None => Some(self.run(run_id).await?),
        };
        Ok(StartedErrand { errand, run, warning })
    }

    async fn write_errand(&self, errand: &Errand, run: &Run) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        tx.insert_errand(errand).await?;
        tx.insert_run(run).await?;
        tx.commit().await?;
        Ok(())
    }
}

fn new_errand(id: ErrandId, prompt: String, checked: &Checked, worktree: &Worktree) -> Errand {
    let now = Millis::now();
    Errand {
        id,
        project_id: checked.project.id,
        branch: worktree.branch.clone(),
        target_branch: checked.base_branch.clone(),
        executor: checked.profile.executor.to_string(),
        variant: checked.profile.variant.clone(),
        container_ref: Some(worktree.path.to_string_lossy().into_owned()),
        prompt,
        worktree_deleted: false,
        created_at: now,
        updated_at: now,
    }
}
