//! The meter of a living run: what it has used so far, and whether it may go on.
//!
//! Invariants: use is noted within about a second of being reported, with at most one write under way, and checked against
//! budgets at every change. A budget that is reached stops the agent in the middle of its turn; at the end of a turn
//! it may end by itself first, and is stopped when it begins another. What has no price is said once in the log.

use std::time::Duration;

use forge_run::fold::RunOutcome;
use forge_run::{Kind as RecordKind, Record};
use forge_types::{Day, EntryPatch, Millis, ModelUsage, Run};
use tokio::time::Instant;

use crate::background::Bell;
use crate::cost::budget::{Limits, Reached};
use crate::worktree::workplace::Workplace;
use crate::{Forge, Result};

/// Between two notes of a run that no budget concerns.
const PAUSE: Duration = Duration::from_secs(1);
/// How long an agent whose turn is over may take to end by itself.
const GRACE: Duration = Duration::from_secs(3);
/// How a remark about use without a price begins.
const UNPRICED: &str = "budget not enforced: ";

#[derive(Default)]
pub(crate) struct Meter {
    noted: ModelUsage,
    noted_at: Option<Instant>,
    /// When to look again although nothing is new.
    due: Option<Instant>,
    /// The time of the newest record.
    at: Option<Millis>,
    warned: bool,
    state: State,
}

#[derive(Default)]
enum State {
    #[default]
    Running,
    /// A budget was reached at the end of a turn.
    Ending {
        reached: Reached,
        until: Instant,
        busy: bool,
    },
    Stopped,
}

impl Meter {
    /// Takes a record and what it changed in the readable log.
    pub(crate) fn see(&mut self, record: &Record, patches: &[EntryPatch]) {
        self.at = Some(Millis(record.at_ms));
        self.warned |= record.kind == RecordKind::Note && record.bytes.starts_with(UNPRICED.as_bytes());
        if let State::Ending { busy, .. } = &mut self.state {
            *busy |= record.kind == RecordKind::Stdout && !patches.is_empty();
        }
    }

    /// Until the meter is to be read although nothing is new.
    pub(crate) async fn wait(&self) {
        match self.due {
            Some(due) => tokio::time::sleep_until(due).await,
            None => std::future::pending().await,
        }
    }

    fn day(&self) -> Day {
        Day::of(self.at.unwrap_or_else(Millis::now))
    }
}

impl Forge {
    /// Notes what is new and stops the run when a budget is reached.
    pub(crate) async fn read_meter(
        &self,
        run: &Run,
        workplace: &Workplace,
        meter: &mut Meter,
        outcome: &RunOutcome,
    ) {
        let now = Instant::now();
        meter.due = None;
        match meter.state {
            State::Stopped => return,
            State::Ending { reached, until, busy } if busy || now >= until => {
                return self.stop_spending(run, meter, reached);
            }
            State::Ending { until, .. } => meter.due = Some(until),
            State::Running => {}
        }
        if outcome.usage == meter.noted {
            return;
        }
        if let Err(error) = self.take_reading(run, workplace, meter, outcome, now).await {
            tracing::warn!(run = %run.id, %error, "cannot note what a run used; trying again");
            meter.due = Some(now + PAUSE);
        }
    }

    async fn take_reading(
        &self,
        run: &Run,
        workplace: &Workplace,
        meter: &mut Meter,
        outcome: &RunOutcome,
        now: Instant,
    ) -> Result<()> {
        let (attempt, project) = (run.owner.attempt(), workplace.project.id);
        let limits = self.limits(attempt, project).await?;
        let next = meter.noted_at.map(|at| at + PAUSE).filter(|next| *next > now);
        if limits.is_none() && next.is_some() {
            meter.due = next;
            return Ok(());
        }
        let mut tx = self.0.store.begin().await?;
        self.put_usage(
            &mut tx,
            run,
            workplace.project.id,
            meter.at.unwrap_or_else(Millis::now),
            &outcome.usage,
        )
        .await?;
        tx.commit().await?;
        self.0.background.ring(Bell::Spending);
        meter.noted = outcome.usage.clone();
        meter.noted_at = Some(now);
        if limits.is_none() {
            return Ok(());
        }
        self.warn_of_unpriced(run, meter, &limits).await;
        let spent = self.0.store.spent(attempt, Some(project), meter.day()).await?;
        match (limits.reached(&spent), &meter.state) {
            (None, _) => meter.state = State::Running,
            (Some(reached), State::Running) if outcome.verdict.is_some() => {
                let until = now + GRACE;
                meter.state = State::Ending { reached, until, busy: false };
                meter.due = Some(until);
            }
            (Some(reached), _) => self.stop_spending(run, meter, reached),
        }
        Ok(())
    }

    fn stop_spending(&self, run: &Run, meter: &mut Meter, reached: Reached) {
        meter.state = State::Stopped;
        let (forge, run) = (self.clone(), run.clone());
        // Not awaited: a stop waits for the run's end, which this reader of its log has still to see.
        self.0.background.spawn(async move {
            let note = format!("stopped: {reached}");
            tracing::info!(run = %run.id, "{note}");
            if let Err(error) = forge.end_run_because(&run, Some(&note)).await {
                tracing::warn!(run = %run.id, %error, "a run over its budget did not stop as it should");
            }
        });
    }

    /// Says once in the run's log that its budget cannot be kept.
    async fn warn_of_unpriced(&self, run: &Run, meter: &mut Meter, limits: &Limits) {
        let lines = self.0.costs.prices().settle(&meter.noted);
        let unpriced = lines.iter().find(|line| line.usage.cost_microusd.is_none() && !line.usage.is_zero());
        let Some(line) = unpriced.filter(|_| !meter.warned && !limits.is_none()) else { return };
        meter.warned = true;
        let live = self.attended().get(&run.id).map(|attended| attended.live.clone());
        let Some(live) = live else { return };
        let note = format!(
            "{UNPRICED}the price of the model '{}' is not known; add it to prices.json in Forge's home",
            line.model
        );
        if let Err(error) = live.note(&note).await {
            tracing::warn!(run = %run.id, %error, "{note}");
        }
    }
}
