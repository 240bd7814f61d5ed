//! Attempts at tasks: started, stopped, continued, waited for, reported, put away.
//!
//! Owns what a person does with an attempt, from the first start to the verdict on its work. Invariant: a start that is
//! refused leaves nothing behind, and there is never a second agent in a worktree.

pub(crate) mod chat;
pub mod demo;
pub(crate) mod follow_up;
pub(crate) mod history;
pub(crate) mod queued_draft;
pub(crate) mod removal;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod start;
pub(crate) mod transcript;
pub(crate) mod verdict;
pub(crate) mod wait;
pub(crate) mod welcome;

use forge_store::Dropped;
use forge_types::{
    Action, AttemptId, ErrorCode, RunId, RunOwner, RunPhase, RunReason, RunStatus, ScriptContext,
};

use crate::run::new_run;
use crate::worktree::queue::Entry;
use crate::{Error, Forge, Result, WorkerEnd};

impl Forge {
    /// Stops everything an attempt runs; failures of single processes do not fail the stop.
    pub async fn stop_attempt(&self, id: AttemptId) -> Result<()> {
        self.attempt(id).await?;
        if let Some(worker) = self.worker_in(id).await? {
            self.stop_worker(&worker.id, WorkerEnd::default()).await?;
        }
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        // Also those that were asked before and have not ended.
        let running = runs.into_iter().filter(|run| run.phase != RunPhase::Ended);
        // Waiting runs first, so that none of them starts when its predecessor is stopped.
        let (waiting, living): (Vec<_>, Vec<_>) = running.partition(|run| run.phase == RunPhase::Queued);
        let mut still_running = None;
        for run in waiting.into_iter().chain(living) {
            if let Err(error) = self.end_run(&run).await {
                tracing::warn!(run = %run.id, %error, "a run did not stop as it should");
                if self.0.store.run(run.id).await?.is_some_and(|run| !run.phase.is_over()) {
                    still_running.get_or_insert(error);
                }
            }
        }
        still_running.map_or(Ok(()), Err)
    }

    /// Starts the project's dev server in the attempt's worktree; one per project.
    pub async fn start_dev_server(&self, id: AttemptId) -> Result<()> {
        let mut workplace = self.workplace(RunOwner::Attempt(id)).await?;
        let script = workplace.project.dev_script.clone().filter(|script| !script.trim().is_empty());
        let script = script.ok_or_else(|| {
            Error::refused("No dev server script configured for this project").code(ErrorCode::NoDevScript)
        })?;
        for run in self.0.store.open_runs().await? {
            if run.reason == RunReason::DevServer
                && run.status == RunStatus::Running
                && self.workplace(run.owner).await.is_ok_and(|other| other.project.id == workplace.project.id)
            {
                self.end_run(&run).await?;
            }
        }
        // Held until the row is there, which whoever wants to retire the worktree looks for.
        let hold = self.hold_beside_agent(id, &workplace.directory).await?;
        self.ensure_directory(&mut workplace).await?;
        self.refuse_leftovers(&workplace).await?;
        let action = Action::script(script, ScriptContext::DevServer);
        let head = self.checked_out(&workplace).await?;
        let run = new_run(RunId::random(), RunOwner::Attempt(id), action, head, Entry::Now);
        let mut tx = self.0.store.begin().await?;
        tx.insert_run(&run).await?;
        tx.commit().await?;
        drop(hold);
        self.launch_run(run, &workplace).await
    }
}
