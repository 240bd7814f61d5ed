//! Runs whose provider does not serve them for now.
//!
//! Owns when such a run may go on and, when the user allows that, its going on. Invariant: a parked run has no process and
//! holds no directory; its work stays where it is. It ends when something else is started in its attempt, when it is
//! stopped, or when it goes on as a run of its own; a limit that comes back [`MAX_IN_A_ROW`] times is a failure.

use forge_run::fold::RunOutcome;
use forge_run::{Exit, ExitReason};
use forge_store::{Dropped, Tx};
use forge_types::{Millis, ModelUsage, Run, RunOwner, RunPhase, RunReason, RunStatus};

use crate::background::Bell;
use crate::worktree::workplace::Workplace;
use crate::{Forge, Result};

/// How long to wait when the provider does not say.
const DEFAULT_RESET_MS: i64 = 5 * 60 * 1000;
const MAX_IN_A_ROW: usize = 6;

impl Forge {
    /// When a run that just ended may go on, if that is all it needs.
    pub(crate) async fn parking_time(
        &self,
        run: &Run,
        exit: &Exit,
        outcome: &RunOutcome,
    ) -> Result<Option<Millis>> {
        let Some(limit) = &outcome.limit else { return Ok(None) };
        let by_itself = exit.reason == ExitReason::Exited && run.status == RunStatus::Failed;
        if !by_itself || run.reason != RunReason::CodingAgent {
            return Ok(None);
        }
        let runs = match run.owner {
            RunOwner::Attempt(id) => self.0.store.runs(id, Dropped::Hidden).await?,
            RunOwner::Errand(id) => self.0.store.errand_runs(id).await?,
        };
        let before = runs.iter().rev().filter(|known| known.id != run.id);
        let in_a_row = before.take_while(|known| known.parked_until.is_some()).count();
        if in_a_row + 1 >= MAX_IN_A_ROW {
            return Ok(None);
        }
        // Twice as long each time, so that a provider that stays silent is not pressed.
        let default_reset = Millis(exit.at_ms.saturating_add(DEFAULT_RESET_MS << in_a_row));
        Ok(Some(limit.reset_at.filter(|at| at.0 > exit.at_ms).unwrap_or(default_reset)))
    }

    /// Writes that a run waits for its provider, and lets its directory go.
    pub(crate) async fn park(
        &self,
        run: Run,
        workplace: &Workplace,
        until: Millis,
        outcome: RunOutcome,
    ) -> Result<()> {
        let after_head = self.head(workplace, &None).await;
        let parked = Run {
            status: RunStatus::Running,
            phase: RunPhase::Parked,
            exit_code: None,
            completed_at: None,
            parked_until: Some(until),
            after_head,
            ..run
        };
        self.write_parked(&parked, workplace, &outcome.usage).await?;
        self.keep_output(&parked, outcome.transcript_tail).await;
        tracing::info!(run = %parked.id, %until, "the provider does not serve this run for now");
        if let Some(waiting) = self.release(parked.id, &workplace.directory) {
            self.start_waiting(waiting);
        }
        self.seal_later(parked.id);
        self.0.background.ring(Bell::Parked);
        Ok(())
    }

    async fn write_parked(&self, run: &Run, workplace: &Workplace, usage: &ModelUsage) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        let stopped = tx.run(run.id).await?.filter(|stored| stored.status == RunStatus::Killed);
        let run = match stopped {
            // A stop was recorded before the limit was met.
            Some(_) => Run { parked_until: None, ..ended(run.clone(), RunStatus::Killed) },
            None => run.clone(),
        };
        tx.update_run(&run).await?;
        self.put_usage(&mut tx, &run, workplace.project.id, run.updated_at, usage).await?;
        crate::run::approval::close_all_of(&mut tx, run.id).await?;
        if let Some(attempt) = &workplace.attempt
            && let Some(mut attempt) = tx.attempt(attempt.id).await?
        {
            attempt.tokens = tx.attempt_tokens(attempt.id).await?;
            attempt.updated_at = Millis::now();
            tx.update_attempt(&attempt).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

/// Something else begins: what was parked there does not go on any more.
pub(crate) async fn end_parked(tx: &mut Tx, owner: RunOwner) -> Result<()> {
    let runs = match owner {
        RunOwner::Attempt(id) => tx.runs(id, Dropped::Shown).await?,
        RunOwner::Errand(id) => tx.errand_runs(id).await?,
    };
    for run in runs.into_iter().filter(|run| run.phase == RunPhase::Parked) {
        tx.update_run(&ended(run, RunStatus::Killed)).await?;
    }
    Ok(())
}

pub(crate) fn ended(run: Run, status: RunStatus) -> Run {
    let now = Millis::now();
    let completed_at = Some(run.end_time(now));
    Run { status, phase: RunPhase::Ended, completed_at, updated_at: now, ..run }
}
