//! What is done about a worker that lives and does not get on: too large, or silent over its task.
//!
//! Invariants: nothing is done that the policy does not say; whatever is done raises an alert; a restart counts like
//! one after a death, so that neither goes on without end.

use forge_fleet::health::Vitals;
use forge_fleet::recovery::{Remedy, Step, decide, remedy_memory, remedy_stuck};
use forge_types::{
    AlertKind, HealthLevel, Millis, RecoveryPolicy, RecoveryRules, Severity, Worker, WorkerId, WorkerPhase,
};

use super::lifecycle::WorkerEnd;
use super::session::Seat;
use crate::notify::alerts;
use crate::{Forge, Result};

impl Forge {
    pub(super) async fn help_worker(&self, worker: &Worker, vitals: &Vitals, now: Millis) -> Result<()> {
        if worker.phase != WorkerPhase::Running {
            return Ok(());
        }
        let rules = self.settings().fleet.recovery;
        let id = &worker.id;
        let used = vitals.memory_mb.unwrap_or_default();
        let limit = rules.memory_kill_mb.unwrap_or_default();
        let large = format!("{id} uses {used} MB, more than the {limit} MB of fleet.recovery.memory_kill_mb");
        self.apply(remedy_memory(&rules, used), worker, AlertKind::MemoryHigh, &large, now).await?;

        let silent = vitals.silent_secs.filter(|_| vitals.has_task).unwrap_or_default();
        let since = self.fleet().interrupted().get(id).map(|at| (now.0 - at.0).max(0).unsigned_abs() / 1000);
        let remedy = remedy_stuck(&rules, vitals.silent_secs.filter(|_| vitals.has_task), since);
        if remedy == Remedy::Leave && since.is_some() && silent < rules.stuck_after_mins.saturating_mul(60) {
            self.fleet().interrupted().remove(id);
        }
        let stuck = format!("{id} has a task and has said nothing for {} min", silent / 60);
        self.apply(remedy, worker, AlertKind::TaskStuck, &stuck, now).await
    }

    async fn apply(
        &self,
        remedy: Remedy,
        worker: &Worker,
        kind: AlertKind,
        words: &str,
        now: Millis,
    ) -> Result<()> {
        let id = &worker.id;
        // It was not started by Forge, so nobody knows how.
        let remedy =
            if remedy == Remedy::Restart && worker.config.is_null() { Remedy::Notify } else { remedy };
        match remedy {
            Remedy::Leave => Ok(()),
            Remedy::Notify => self.report_worse(id, kind, words.to_owned()).await,
            Remedy::Interrupt => {
                let Some(Seat { tmux, session }) = self.worker_session(id).await? else { return Ok(()) };
                self.fleet().interrupted().insert(id.clone(), now);
                self.report_worse(id, kind, format!("{words}; it was interrupted")).await?;
                Ok(tmux.interrupt(&session.name).await?)
            }
            Remedy::Restart => self.restart_unwell(worker, kind, words, now).await,
        }
    }

    /// A condition that got worse is reported once.
    async fn report_worse(&self, id: &WorkerId, kind: AlertKind, words: String) -> Result<()> {
        let open = self.0.store.open_alerts().await?;
        let is_reported = |severity| severity == Severity::Critical;
        if open
            .iter()
            .any(|alert| alert.kind == kind && alert.subject == id.as_str() && is_reported(alert.severity))
        {
            return Ok(());
        }
        let mut tx = self.0.store.begin().await?;
        alerts::raise_as(&mut tx, kind, Severity::Critical, id.as_str(), words).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Takes the worker out of its live phase; whoever brings it back ends its session first.
    async fn restart_unwell(&self, worker: &Worker, kind: AlertKind, words: &str, now: Millis) -> Result<()> {
        let id = &worker.id;
        let mut tx = self.0.store.begin().await?;
        let Some(stored) = tx.worker(id).await? else { return Ok(()) };
        if stored.phase != worker.phase || stored.process != worker.process {
            return Ok(());
        }
        let restarts: Vec<i64> = stored.restarts.iter().map(|at| at.0).collect();
        let rules = self.settings().fleet.recovery;
        let (phase, until, note) = match decide(&automatic(&rules), &restarts, now.0, now.0, 0) {
            Step::Leave | Step::Notify => return Ok(()),
            Step::Restart { .. } => {
                (WorkerPhase::Recovering, Some(now), format!("{words}; it is started again"))
            }
            Step::WaitUntil { at_ms } => {
                (WorkerPhase::Recovering, Some(Millis(at_ms)), format!("{words}; it is started again"))
            }
            Step::GiveUp { crashes } => {
                let note = format!("{words}; it was started again {} times and is ended", crashes - 1);
                let exhausted = AlertKind::RecoveryExhausted;
                alerts::raise_as(&mut tx, exhausted, exhausted.severity(), id.as_str(), note.clone()).await?;
                (WorkerPhase::Failed, None, note)
            }
        };
        alerts::raise_as(&mut tx, kind, Severity::Critical, id.as_str(), note.clone()).await?;
        tracing::info!(worker = %id, ?phase, note, "a worker does not get on");
        let mut health = stored.health.clone();
        if phase == WorkerPhase::Failed {
            health.level = HealthLevel::Failed;
        }
        let note = Some(note);
        let after = Worker { phase, health, parked_until: until, note, updated_at: now, ..stored };
        tx.update_worker(&after).await?;
        tx.commit().await?;
        self.fleet().interrupted().remove(id);
        self.fleet().changed.notify_one();
        if phase == WorkerPhase::Failed {
            let (forge, id) = (self.clone(), id.clone());
            self.0.background.spawn(async move {
                if let Err(error) = forge.end_session(&id, WorkerEnd::Kill).await {
                    tracing::warn!(worker = %id, %error, "the session of a worker that was given up is left");
                }
            });
        }
        Ok(())
    }
}

/// The limits of restarts, whatever is done about deaths.
pub(super) fn automatic(rules: &RecoveryRules) -> RecoveryRules {
    RecoveryRules { dead_worker_policy: RecoveryPolicy::Auto, ..*rules }
}
