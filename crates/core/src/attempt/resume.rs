//! Parked runs that continue.
//!
//! Invariant: a parked run continues as a run of its own, and only as long as the user allows it. One that cannot continue
//! has failed.

use forge_store::Why;
use forge_types::{Millis, Run, RunPhase, RunStatus, TaskStatus};

use crate::run::parking::ended;
use crate::{Forge, Result};

const GO_ON: &str = "Continue where you left off.";

impl Forge {
    /// Continues parked runs whose time has come, if the user allows it; returns when the next one may continue.
    pub(crate) async fn resume_parked(&self) -> Result<Option<Millis>> {
        if !self.settings().auto_resume {
            return Ok(None);
        }
        let now = Millis::now();
        let mut next = None;
        for run in self.0.store.parked_runs().await? {
            match run.parked_until {
                Some(until) if until > now => {
                    next = Some(next.map_or(until, |next: Millis| next.min(until)));
                }
                _ => {
                    let id = run.id;
                    if let Err(error) = self.go_on(run).await {
                        tracing::warn!(run = %id, %error, "a parked run cannot go on");
                    }
                }
            }
        }
        Ok(next)
    }

    /// Goes on as a run of its own, in the agent's own conversation where it has one.
    async fn go_on(&self, run: Run) -> Result<()> {
        let workplace = self.workplace(run.owner).await?;
        let carried = self.carry_on(&run, &workplace, GO_ON).await;
        if carried.is_err() {
            self.give_up(&run).await?;
        }
        carried
    }

    /// A run that cannot go on has failed.
    async fn give_up(&self, run: &Run) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        if let Some(stored) = tx.run(run.id).await?.filter(|stored| stored.phase == RunPhase::Parked) {
            tx.update_run(&ended(stored, RunStatus::Failed)).await?;
            if let Some(attempt) = run.owner.attempt()
                && let Some(attempt) = tx.attempt(attempt).await?
            {
                tx.move_task(attempt.task_id, TaskStatus::InReview, Why::Run(run.reason)).await?;
            }
        }
        tx.commit().await?;
        Ok(())
    }
}
