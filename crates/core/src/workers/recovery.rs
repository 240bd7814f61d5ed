//! What becomes of a worker that died, and of one that waits.
//!
//! Invariants: a death is judged once, because it takes the row out of its live phase; a restart is remembered in the
//! row before its launcher runs, so that a crash of this server cannot make more of them than allowed; waiting for a
//! provider spends none.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use forge_fleet::pane::{self, Sign};
use forge_fleet::recovery::{Step, decide};
use forge_fleet::status_file::{self, StatusFile};
use forge_fleet::worker::WorkerStatus;
use forge_store::Tx;
use forge_types::{AlertKind, Finding, Health, HealthLevel, Millis, Worker, WorkerId, WorkerPhase};

use super::lifecycle::Turn;
use super::remedy::automatic;
use super::session::Seat;
use crate::notify::alerts;
use crate::{Error, Forge, Result};

/// Exit code of an agent that somebody interrupted in its terminal.
const INTERRUPTED: i64 = 130;
/// The end of a log, in which a limit is looked for.
const LOG_TAIL: u64 = 8 << 10;
/// More restarts than this are not remembered; none of them counts any more.
const RESTARTS_KEPT: usize = 20;
const GO_ON: &str = "Continue where you left off.";

/// How a life ended.
enum Ending {
    Finished,
    /// Somebody ended it, but not through Forge.
    Stopped(String),
    /// Its provider does not serve it until then.
    Limited(Millis, String),
    Crashed(String),
}

impl Forge {
    pub(super) fn recent_restarts(&self, worker: &Worker, now: Millis) -> u32 {
        let window = i64::try_from(self.settings().fleet.recovery.window_secs * 1000).unwrap_or(i64::MAX);
        let recent = worker.restarts.iter().filter(|at| now.0 - at.0 <= window).count();
        u32::try_from(recent).unwrap_or(u32::MAX)
    }

    /// Judges the death of a live worker.
    pub(super) async fn mark_dead(
        &self,
        worker: &Worker,
        health: Health,
        file: Option<&StatusFile>,
        now: Millis,
    ) -> Result<()> {
        let ending = self.ending(worker, &health, file, now).await;
        let mut status = file.map(super::monitor::words);
        if let Some(status) = &mut status {
            self.worker_secrets(&worker.id).await?.mask_value(status);
        }
        let mut tx = self.0.store.begin().await?;
        let Some(stored) = tx.worker(&worker.id).await? else { return Ok(()) };
        if stored.phase != worker.phase || stored.process != worker.process {
            // Somebody has stopped it or started it again meanwhile.
            return Ok(());
        }
        let status = status.or(stored.status.clone());
        let stored = Worker { status, ..stored };
        let after = match ending {
            Ending::Finished => ended(stored, WorkerPhase::Finished, None),
            Ending::Stopped(note) => ended(stored, WorkerPhase::Stopped, Some(note)),
            Ending::Limited(until, message) => {
                let id = stored.id.clone();
                let words = format!("{id} is not served by its provider until {until}: {message}");
                alerts::raise(&mut tx, AlertKind::WorkerParked, &id, words).await?;
                let parked = ended(stored, WorkerPhase::Parked, Some(message));
                Worker { parked_until: Some(until), ..parked }
            }
            Ending::Crashed(note) => self.judge_crash(&mut tx, stored, health, note, now).await?,
        };
        if matches!(after.phase, WorkerPhase::Finished | WorkerPhase::Stopped) {
            alerts::resolve_all(&mut tx, &after.id).await?;
        }
        tracing::info!(worker = %after.id, phase = ?after.phase, note = after.note, "a worker has ended");
        tx.update_worker(&after).await?;
        tx.commit().await?;
        if matches!(after.phase, WorkerPhase::Failed | WorkerPhase::Recovering) {
            self.record_failure(&after.id).await;
        }
        self.fleet().changed.notify_one();
        self.meter_soon(&after.id);
        Ok(())
    }

    /// The file of a worker that died says so, too.
    pub(super) async fn record_failure(&self, id: &WorkerId) {
        if let Err(error) = self.write_status(id, status_file::fail).await {
            tracing::debug!(worker = %id, %error, "the status file does not say that the worker failed");
        }
    }

    async fn ending(
        &self,
        worker: &Worker,
        health: &Health,
        file: Option<&StatusFile>,
        now: Millis,
    ) -> Ending {
        let code = file.and_then(|file| file.fields.get("exit_code")?.as_i64());
        let status = file.map(|file| file.status).filter(|status| !status.is_healthy());
        match (status, code) {
            (Some(WorkerStatus::Stopped | WorkerStatus::Failed), Some(0)) => return Ending::Finished,
            (Some(WorkerStatus::Stopped), None) => {
                return Ending::Stopped("it says that it was stopped".to_owned());
            }
            (Some(_), Some(INTERRUPTED)) if self.fleet().interrupted().contains_key(&worker.id) => {
                let why = "it was interrupted, because it was silent over its task";
                return Ending::Crashed(why.to_owned());
            }
            (Some(_), Some(INTERRUPTED)) => {
                return Ending::Stopped("somebody interrupted it in its session".to_owned());
            }
            _ => {}
        }
        if let Some((until, message)) = self.limit_in_log(worker, now).await {
            return Ending::Limited(until, message);
        }
        Ending::Crashed(match code {
            Some(code) => format!("its agent ended with exit code {code}"),
            None if health.findings.contains(&Finding::SessionGone) => "its session is gone".to_owned(),
            None if health.findings.contains(&Finding::ProcessGone) => "its process is gone".to_owned(),
            None => "its agent is gone, only a shell is left".to_owned(),
        })
    }

    /// What the end of the worker's log says about a limit of its provider, with the time when it ends.
    async fn limit_in_log(&self, worker: &Worker, now: Millis) -> Option<(Millis, String)> {
        let path = self.fleet().log_of(&worker.id);
        let begun = worker.started_at?;
        let text = tokio::task::spawn_blocking(move || read_tail(&path, begun)).await.ok()??;
        match pane::read(&text, &jiff::Zoned::now()) {
            Some(Sign::RateLimited { message, reset_at: Some(at) }) if at.0 > now.0 => {
                let secrets = self.worker_secrets(&worker.id).await.ok()?;
                Some((at, secrets.mask_text(&message).into_owned()))
            }
            _ => None,
        }
    }

    async fn judge_crash(
        &self,
        tx: &mut Tx,
        worker: Worker,
        mut health: Health,
        note: String,
        now: Millis,
    ) -> Result<Worker> {
        let id = worker.id.clone();
        let mut rules = self.settings().fleet.recovery;
        if self.fleet().interrupted().remove(&id).is_some() {
            rules = automatic(&rules);
        }
        let restarts: Vec<i64> = worker.restarts.iter().map(|at| at.0).collect();
        let step = match decide(&rules, &restarts, now.0, now.0, 0) {
            // It was started for one bead, which goes back to the queue: what follows is decided there.
            _ if worker.bead.as_ref().is_some_and(|bead| bead.attempt_id.is_some()) => Step::Leave,
            // It was not started by Forge, so nobody knows how.
            Step::WaitUntil { .. } | Step::Restart { .. } if worker.config.is_null() => Step::Notify,
            Step::WaitUntil { .. } | Step::Restart { .. } if health.level == HealthLevel::Failed => {
                Step::GiveUp { crashes: self.recent_restarts(&worker, now).saturating_add(1) }
            }
            step => step,
        };
        if step != Step::Leave {
            alerts::raise(tx, AlertKind::WorkerCrashed, &id, format!("{id} died: {note}")).await?;
        }
        let (phase, until, note) = match step {
            Step::Leave | Step::Notify => (WorkerPhase::Failed, None, note),
            Step::WaitUntil { at_ms } => (WorkerPhase::Recovering, Some(Millis(at_ms)), note),
            Step::Restart { .. } => (WorkerPhase::Recovering, Some(now), note),
            Step::GiveUp { crashes } => {
                let words = format!("{id} died {crashes} times and is not started again: {note}");
                alerts::raise(tx, AlertKind::RecoveryExhausted, &id, words).await?;
                health.level = HealthLevel::Failed;
                if !health.findings.contains(&Finding::RecoveryExhausted) {
                    health.findings.push(Finding::RecoveryExhausted);
                }
                (WorkerPhase::Failed, None, format!("it died {crashes} times; last: {note}"))
            }
        };
        Ok(Worker { health, parked_until: until, ..ended(worker, phase, Some(note)) })
    }

    /// Continues those whose time has come, and returns when the next one's comes.
    pub(super) async fn recover_due(&self) -> Result<Option<Millis>> {
        let now = Millis::now();
        let mut next = None;
        for worker in self.0.store.workers().await? {
            let Some(until) = worker.parked_until else { continue };
            if !matches!(worker.phase, WorkerPhase::Parked | WorkerPhase::Recovering) {
                continue;
            }
            if until.0 > now.0 {
                next = Some(next.map_or(until, |next: Millis| next.min(until)));
            } else if self.fleet().starting().len() < self.settings().fleet.recovery.at_once.max(1)
                // When a turn ends, the next one is looked for.
                && let Some(turn) = Turn::take(self, &worker.id)
            {
                let forge = self.clone();
                self.0.background.spawn(async move {
                    if let Err(error) = forge.bring_back(&turn, &worker).await {
                        tracing::warn!(worker = %worker.id, %error, "a worker does not go on");
                        forge.put_off(&worker).await;
                    }
                });
            }
        }
        Ok(next)
    }

    /// Tried again later, so that what fails at once is not tried without end.
    async fn put_off(&self, worker: &Worker) {
        let later = self.change_worker(&worker.id, |stored| {
            let waits = Worker { parked_until: Some(Forge::later()), ..stored.clone() };
            Ok((stored.phase == worker.phase).then_some(waits))
        });
        if let Err(error) = later.await {
            tracing::warn!(worker = %worker.id, %error, "a worker cannot be put off");
        }
    }

    async fn bring_back(&self, _turn: &Turn, worker: &Worker) -> Result<()> {
        let id = &worker.id;
        if worker.phase == WorkerPhase::Parked && self.unpark_worker(id).await? {
            return Ok(());
        }
        let Some(starting) = self.begin_again(worker).await? else { return Ok(()) };
        let launched = tokio::select! {
            launched = self.try_launch(&starting) => launched,
            // The launcher is ended with this; the row says `Starting`, which the next server understands.
            () = self.0.background.closing() => return Ok(()),
        };
        match launched {
            Ok(handle) => self.note_launched(id, handle).await.map(drop),
            Err(error) => self.note_not_brought_back(id, &error).await,
        }
    }

    /// Whether the session of a parked worker was still there; then it is asked to continue.
    async fn unpark_worker(&self, id: &WorkerId) -> Result<bool> {
        let Some(Seat { tmux, session }) = self.worker_session(id).await? else { return Ok(false) };
        let text = tmux.capture(&session.name, LOG_TAIL as usize / 80).await.unwrap_or_default();
        let running = self
            .change_worker(id, |stored| {
                let (parked_until, note) = (None, None);
                let running = Worker { phase: WorkerPhase::Running, parked_until, note, ..stored.clone() };
                Ok((stored.phase == WorkerPhase::Parked).then_some(running))
            })
            .await?;
        let still_limited = matches!(pane::read(&text, &jiff::Zoned::now()), Some(Sign::RateLimited { .. }));
        if running.phase == WorkerPhase::Running && still_limited {
            tmux.send_line(&session.name, GO_ON).await?;
        }
        Ok(true)
    }

    /// Writes that a worker is started again. `None` when somebody has decided otherwise meanwhile.
    async fn begin_again(&self, worker: &Worker) -> Result<Option<Worker>> {
        let mut tx = self.0.store.begin().await?;
        let Some(stored) = tx.worker(&worker.id).await?.filter(|stored| stored.phase == worker.phase) else {
            return Ok(None);
        };
        let now = Millis::now();
        let mut after = Worker {
            phase: WorkerPhase::Starting,
            parked_until: None,
            process: None,
            pane: None,
            started_at: None,
            updated_at: now,
            ..stored.clone()
        };
        if stored.phase == WorkerPhase::Recovering {
            after.restarts.push(now);
            let extra = after.restarts.len().saturating_sub(RESTARTS_KEPT);
            after.restarts.drain(..extra);
            let (id, attempt) = (&after.id, self.recent_restarts(&after, now));
            let most = self.settings().fleet.recovery.max_restart_attempts;
            let words = format!("{id} is started again, {attempt} of {most}");
            alerts::raise(&mut tx, AlertKind::AutoRestart, id, words).await?;
        }
        tx.update_worker(&after).await?;
        tx.commit().await?;
        Ok(Some(after))
    }

    /// A start that failed is one more death.
    async fn note_not_brought_back(&self, id: &WorkerId, error: &Error) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        let Some(stored) = tx.worker(id).await?.filter(|stored| stored.phase == WorkerPhase::Starting) else {
            return Ok(());
        };
        let findings = vec![Finding::SessionGone];
        let health = Health { level: HealthLevel::Critical, findings, memory_mb: None };
        let note = format!("it could not be started again: {error}");
        let after = self.judge_crash(&mut tx, stored, health, note, Millis::now()).await?;
        tx.update_worker(&after).await?;
        tx.commit().await?;
        self.record_failure(id).await;
        Ok(())
    }
}

fn ended(worker: Worker, phase: WorkerPhase, note: Option<String>) -> Worker {
    let health = Health::default();
    Worker { phase, note, health, parked_until: None, updated_at: Millis::now(), ..worker }
}

/// The end of a file that was written to since then.
fn read_tail(path: &Path, since: Millis) -> Option<String> {
    let mut file = forge_os::file::open(path.parent()?, path).ok()?;
    let about = file.metadata().ok()?;
    let written = about.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis();
    if i64::try_from(written).ok()? < since.0 {
        return None;
    }
    file.seek(SeekFrom::Start(about.len().saturating_sub(LOG_TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(LOG_TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
