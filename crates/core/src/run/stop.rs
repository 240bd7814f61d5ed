//! Stopping a run.
//!
//! Invariant: the wish is recorded first, then the process tree ends, then the end is settled.

use std::time::Duration;

use forge_run::{Live, OrderError};
use forge_store::Why;
use forge_types::{ErrandId, ErrorCode, Millis, Run, RunId, RunPhase, RunReason, RunStatus, TaskStatus};
use tokio_util::sync::CancellationToken;

use crate::run::conversation::Conversation;
use crate::run::lifecycle::Attended;
use crate::task::draft;
use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Result};

/// Longer than the whole stop ladder of the keeper.
const STOP_LIMIT: Duration = Duration::from_secs(15);

impl Forge {
    pub async fn stop_run(&self, id: RunId) -> Result<()> {
        let run = self.run(id).await?;
        if run.status != RunStatus::Running {
            let ended =
                Error::conflict(format!("process {id} is not running (it is {})", run.status.as_str()));
            return Err(ended.code(ErrorCode::NotRunning));
        }
        self.end_run(&run).await
    }

    /// Ends a running run: the wish is recorded first, then the process tree ends, then the end is settled.
    pub(crate) async fn end_run(&self, run: &Run) -> Result<()> {
        self.end_run_because(run, None).await
    }

    /// As [`Self::end_run`], with a reason that the run's log shows.
    pub(crate) async fn end_run_because(&self, run: &Run, note: Option<&str>) -> Result<()> {
        let workplace = self.workplace(run.owner).await?;
        // What it was when the stop was recorded: its turn may have come since the caller looked.
        let Some(phase) = self.record_stop(run.id, &workplace).await? else {
            return match self.wait_for_process(run.id).await? {
                Some((_, _, settled)) => wait_for_end(run.id, &settled).await,
                None => Ok(()),
            };
        };
        if phase == RunPhase::Parked {
            return Ok(());
        }
        if phase == RunPhase::Queued {
            if let Some(next) = self.leave(&workplace.directory, run.id) {
                self.start_waiting(next);
            }
            return Ok(());
        }
        let Some((live, conversation, settled)) = self.wait_for_process(run.id).await? else {
            return Ok(());
        };
        let interrupt = conversation.and_then(|conversation| conversation.interrupt());
        live.stop_because(interrupt.as_deref(), note).await.map_err(|error| match error {
            OrderError::Timeout { .. } => Error::conflict(format!(
                "run {} is asked to stop, but {error}; its agent may still be running. It ends when the keeper continues",
                run.id
            )).hint("try again"),
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
                let changed = self.0.runs.changed.notified();
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
        let late = |_| Error::conflict(format!("run {id} neither started nor ended")).hint("try again");
        tokio::time::timeout(STOP_LIMIT, wait).await.map_err(late)?
    }

    /// Marks a run as killed; a waiting run ends with that. Returns who was responsible for it, `None` when it was not
    /// running any more.
    async fn record_stop(&self, id: RunId, workplace: &Workplace) -> Result<Option<RunPhase>> {
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
        if let Some(attempt) = workplace.attempt.as_ref().filter(|_| run.reason != RunReason::DevServer) {
            draft::unqueue(&mut tx, attempt.id).await?;
        }
        if let Some(task) = &workplace.task {
            tx.move_task(task.id, TaskStatus::InReview, Why::Run(run.reason)).await?;
        }
        tx.commit().await?;
        Ok(Some(phase))
    }

    /// Stops the newest agent run of an errand.
    pub async fn stop_errand(&self, id: ErrandId) -> Result<()> {
        let runs = self.errand_runs(id).await?;
        match runs.iter().rev().find(|run| run.reason == RunReason::CodingAgent) {
            None => Ok(()),
            Some(run) if run.status == RunStatus::Running => self.end_run(run).await,
            Some(run) => {
                let status = run.status.as_str();
                let message = format!("the agent of execution run {id} is not running (it is {status})");
                Err(Error::conflict(message).code(ErrorCode::NotRunning))
            }
        }
    }
}

async fn wait_for_end(id: RunId, settled: &CancellationToken) -> Result<()> {
    let late = |_| Error::conflict(format!("run {id} is asked to stop, but its end is not recorded yet"));
    tokio::time::timeout(STOP_LIMIT, settled.cancelled()).await.map_err(late)
}
