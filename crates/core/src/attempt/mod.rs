//! Attempts: reading them and stopping them.

pub(crate) mod chat;
pub(crate) mod follow_up;
pub(crate) mod history;
pub(crate) mod once;
pub(crate) mod report;
pub(crate) mod start;
pub(crate) mod transcript;
pub(crate) mod wait;

use std::time::Duration;

use forge_store::{AttemptsOf, Dropped, Page};
use forge_types::{
    Action, Attempt, AttemptId, ListedAttempt, Merge, Millis, Run, RunId, RunOwner, RunPhase, RunReason,
    RunStatus, ScriptContext, TaskStatus,
};

use forge_run::{Live, TalkError};
use tokio_util::sync::CancellationToken;

use crate::attempt::start::new_run;
use crate::run::conversation::Conversation;
use crate::run::lifecycle::Attended;
use crate::task::moved;
use crate::worktree::queue::Entry;
use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Result, WorkerEnd};

/// Longer than the whole stop ladder of the keeper.
const STOP_LIMIT: Duration = Duration::from_secs(15);

impl Forge {
    pub async fn attempts(&self, task: Option<forge_types::TaskId>, page: Page) -> Result<Vec<Attempt>> {
        Ok(self.0.store.attempts(task, page).await?)
    }

    /// Attempts with the titles of their tasks, newest first.
    pub async fn listed_attempts(&self, of: AttemptsOf, page: Page) -> Result<Vec<ListedAttempt>> {
        Ok(self.0.store.listed_attempts(of, page).await?)
    }

    pub async fn attempt(&self, id: AttemptId) -> Result<Attempt> {
        let found = self.0.store.attempt(id).await?;
        found.ok_or_else(|| Error::not_found(format!("Task attempt not found: {id}")))
    }

    pub async fn merges(&self, id: AttemptId) -> Result<Vec<Merge>> {
        Ok(self.0.store.merges(id).await?)
    }

    /// Stops everything an attempt runs; failures of single processes do not fail the stop.
    pub async fn stop_attempt(&self, id: AttemptId) -> Result<()> {
        self.attempt(id).await?;
        if let Some(worker) = self.worker_in(id).await? {
            self.stop_worker(&worker.id, WorkerEnd::default()).await?;
        }
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        // Also those that were told before and have not ended.
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

    pub async fn stop_run(&self, id: RunId) -> Result<()> {
        let run = self.run(id).await?;
        if run.status != RunStatus::Running {
            return Err(Error::conflict(format!(
                "ExecutionProcessError: process {id} is not running (it is {})",
                run.status.as_str()
            )));
        }
        self.end_run(&run).await
    }

    /// Ends a running run: the wish is recorded first, then the process tree ends, then the end is settled.
    pub(crate) async fn end_run(&self, run: &Run) -> Result<()> {
        self.end_run_because(run, None).await
    }

    /// As [`Self::end_run`], with a reason that the run's log shows.
    pub(crate) async fn end_run_because(&self, run: &Run, note: Option<&str>) -> Result<()> {
        let site = self.site(run.owner).await?;
        // What it was when the stop was recorded: its turn may have come since the caller looked.
        let Some(phase) = self.record_stop(run.id, &site).await? else {
            return match self.wait_for_process(run.id).await? {
                Some((_, _, settled)) => wait_for_end(run.id, &settled).await,
                None => Ok(()),
            };
        };
        if phase == RunPhase::Parked {
            return Ok(());
        }
        if phase == RunPhase::Queued {
            if let Some(next) = self.0.worktrees.lanes().leave(&site.place, run.id) {
                self.start_waiting(next);
            }
            return Ok(());
        }
        let Some((live, conversation, settled)) = self.wait_for_process(run.id).await? else {
            return Ok(());
        };
        let interrupt = conversation.and_then(|conversation| conversation.interrupt());
        live.stop_because(interrupt.as_deref(), note).await.map_err(|error| match error {
            TalkError::Timeout { .. } => Error::conflict(format!(
                "run {} is told to stop, but {error}; its agent may still be at work. It ends when the keeper goes on; try again",
                run.id
            )),
            error => error.into(),
        })?;
        wait_for_end(run.id, &settled).await
    }

    /// The process of a run that has a row but perhaps no process yet; `None` when it ended instead.
    async fn wait_for_process(
        &self,
        id: RunId,
    ) -> Result<Option<(Live, Option<Conversation>, CancellationToken)>> {
        let wait = async {
            loop {
                let changed = self.0.runs.changed().notified();
                if let Some(attended) = self.attended().get(&id) {
                    let Attended { live, conversation, settled } = attended;
                    return Ok(Some((live.clone(), conversation.clone(), settled.clone())));
                }
                if self.run(id).await?.phase.is_over() {
                    return Ok(None);
                }
                // The pause covers a notification that came between the look and the wait.
                let _ = tokio::time::timeout(Duration::from_millis(50), changed).await;
            }
        };
        let late = |_| Error::conflict(format!("run {id} neither started nor ended; try again"));
        tokio::time::timeout(STOP_LIMIT, wait).await.map_err(late)?
    }

    /// Marks a run as killed; a waiting run ends with that. Answers who was responsible for it, `None` when it was not
    /// running any more.
    async fn record_stop(&self, id: RunId, site: &Workplace) -> Result<Option<RunPhase>> {
        let mut tx = self.0.store.begin().await?;
        let Some(mut run) = tx.run(id).await?.filter(|run| run.status == RunStatus::Running) else {
            return Ok(None);
        };
        let phase = run.phase;
        let now = Millis::now();
        run.status = RunStatus::Killed;
        run.updated_at = now;
        if matches!(run.phase, RunPhase::Queued | RunPhase::Parked) {
            run.phase = RunPhase::Ended;
            run.completed_at = Some(run.end_time(now));
        }
        tx.update_run(&run).await?;
        if let Some(attempt) = site.attempt.as_ref().filter(|_| run.reason != RunReason::DevServer) {
            crate::task::draft::unqueue(&mut tx, attempt.id).await?;
        }
        if let Some(task) = &site.task
            && let Some(task) = tx.task(task.id).await?
            && task.status == TaskStatus::InProgress
            && let Some(task) = moved(&task, TaskStatus::InReview, run.reason)
        {
            tx.update_task(&task).await?;
        }
        tx.commit().await?;
        Ok(Some(phase))
    }

    /// Starts the project's dev server in the attempt's worktree; one per project.
    pub async fn start_dev_server(&self, id: AttemptId) -> Result<()> {
        let mut site = self.site(RunOwner::Attempt(id)).await?;
        let script = site.project.dev_script.clone().filter(|script| !script.trim().is_empty());
        let script =
            script.ok_or_else(|| Error::refused("No dev server script configured for this project"))?;
        for run in self.0.store.open_runs().await? {
            if run.reason == RunReason::DevServer
                && run.status == RunStatus::Running
                && self.site(run.owner).await.is_ok_and(|other| other.project.id == site.project.id)
            {
                self.end_run(&run).await?;
            }
        }
        // Held until the row is there, which whoever wants to retire the worktree looks for.
        let hold = self.hold_beside_agent(id, site.place.clone()).await?;
        self.ensure_place(&mut site).await?;
        self.refuse_leftovers(&site).await?;
        let action = Action::script(script, ScriptContext::DevServer);
        let head = self.repo(&site.project).await?.head_of(&site.place).await.ok();
        let run = new_run(RunId::random(), RunOwner::Attempt(id), action, head, Entry::Now);
        let mut tx = self.0.store.begin().await?;
        tx.insert_run(&run).await?;
        tx.commit().await?;
        drop(hold);
        self.go(run, &site).await
    }
}

async fn wait_for_end(id: RunId, settled: &CancellationToken) -> Result<()> {
    let late = |_| Error::conflict(format!("run {id} is told to stop, but its end is not recorded yet"));
    tokio::time::timeout(STOP_LIMIT, settled.cancelled()).await.map_err(late)
}
