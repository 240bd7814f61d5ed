//! Starting, stopping, pausing and forgetting workers.
//!
//! Invariant: the row says what is wanted before anything is done to a session.

use std::time::Duration;

use forge_fleet::launcher::{Grace, LauncherError, SpawnRequest, WorkerHandle};
use forge_fleet::process::{Identity, Signal};
use forge_fleet::status_file::{self, StatusFile, StatusFileError};
use forge_types::{
    AssignedBead, Health, HealthLevel, LauncherAnswer, Millis, SpawnWorker, Worker, WorkerId, WorkerPhase,
};
use serde::Deserialize;

use super::session::Seat;
use super::{identity, mark, read_table};
use crate::background::Bell;
use crate::notify::alerts;
use crate::{Error, Forge, Result};

/// How a worker is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerEnd {
    /// It is asked, and killed when it does not go in this time.
    Ask(Duration),
    Kill,
}

impl WorkerEnd {
    fn grace(self) -> Grace {
        match self {
            WorkerEnd::Ask(patience) => Grace { patience, ..Grace::default() },
            WorkerEnd::Kill => Grace::none(),
        }
    }
}

impl Default for WorkerEnd {
    fn default() -> Self {
        WorkerEnd::Ask(Grace::default().patience)
    }
}

/// Says for as long as it lives that this server runs the launcher of a worker.
pub(super) struct Turn {
    forge: Forge,
    id: WorkerId,
}

impl Turn {
    /// `None` when somebody else starts it right now.
    pub(super) fn take(forge: &Forge, id: &WorkerId) -> Option<Turn> {
        let taken = forge.fleet().starting().insert(id.clone());
        taken.then(|| Turn { forge: forge.clone(), id: id.clone() })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let fleet = self.forge.fleet();
        fleet.starting().remove(&self.id);
        fleet.changed.notify_one();
    }
}

impl Forge {
    /// Starts a worker and returns when its session stands.
    pub async fn spawn_worker(&self, wanted: SpawnWorker) -> Result<Worker> {
        let bead = wanted.bead.clone();
        let mut worker = self.read_order(wanted).await?;
        self.check_fleet_budget().await?;
        self.admit().await?;
        if let Some(bead) = bead {
            self.assign_bead(&mut worker, &bead).await?;
        }
        let turn = Turn::take(self, &worker.id).ok_or_else(|| being_started(&worker.id))?;
        let worker = self.enter_worker(worker).await?;
        self.launch_worker(&turn, &worker).await
    }

    /// Starts a worker in the background that has a bead already. Its row stands when this returns.
    pub(crate) async fn spawn_assigned(&self, wanted: SpawnWorker, bead: AssignedBead) -> Result<()> {
        let worker = self.read_order(wanted).await?;
        let worker = Worker { bead: Some(bead), ..worker };
        let turn = Turn::take(self, &worker.id).ok_or_else(|| being_started(&worker.id))?;
        let worker = self.enter_worker(worker).await?;
        let forge = self.clone();
        self.0.background.spawn(async move {
            if let Err(error) = forge.launch_worker(&turn, &worker).await {
                tracing::warn!(worker = %worker.id, %error, "a worker did not start");
            }
        });
        Ok(())
    }

    /// Writes the row of a worker that is about to be started. One of the same name that has ended makes room.
    async fn enter_worker(&self, worker: Worker) -> Result<Worker> {
        let mut tx = self.0.store.begin().await?;
        // Nobody else writes while this transaction is open.
        let all = self.0.store.workers().await?;
        let most = self.settings().fleet.max_workers;
        if all.iter().filter(|other| other.phase.is_kept()).count() >= most as usize {
            return Err(Error::conflict(format!("{most} workers are the most that run at once"))
                .hint("stop one, or raise fleet.max_workers in config.json"));
        }
        let known = all.into_iter().find(|other| other.id == worker.id);
        let worker = match known {
            None => {
                tx.insert_worker(&worker).await?;
                worker
            }
            Some(known) if known.phase.is_kept() => {
                return Err(Error::conflict(format!(
                    "worker '{}' is there already, in the session {}",
                    known.id, known.session
                ))
                .hint("stop it, or choose another id"));
            }
            Some(known) => {
                let worker = Worker { created_at: known.created_at, ..worker };
                alerts::resolve_all(&mut tx, &worker.id).await?;
                tx.update_worker(&worker).await?;
                worker
            }
        };
        tx.commit().await?;
        Ok(worker)
    }

    /// Runs the launcher of a worker whose row says that it starts.
    async fn launch_worker(&self, turn: &Turn, worker: &Worker) -> Result<Worker> {
        match self.try_launch(worker).await {
            Ok(handle) => self.note_launched(&turn.id, handle).await,
            // It had ended before anybody could look; the next check reads how.
            Err(_) if self.has_ended(worker).await => {
                self.change_worker(&turn.id, |stored| {
                    let started_at = Some(worker.updated_at);
                    let running = Worker { phase: WorkerPhase::Running, started_at, ..stored.clone() };
                    Ok((stored.phase == WorkerPhase::Starting).then_some(running))
                })
                .await
            }
            Err(error) => {
                let note = error.to_string();
                self.change_worker(&turn.id, |stored| {
                    let health = Health { level: HealthLevel::Failed, ..stored.health.clone() };
                    let failed =
                        Worker { phase: WorkerPhase::Failed, note: Some(note), health, ..stored.clone() };
                    Ok((stored.phase == WorkerPhase::Starting).then_some(failed))
                })
                .await?;
                self.record_failure(&turn.id).await;
                Err(error)
            }
        }
    }

    /// Whether the worker's file reports the end of the life that has just begun.
    async fn has_ended(&self, worker: &Worker) -> bool {
        let (dir, id) = (self.fleet().status_dir.clone(), worker.id.clone());
        let file = tokio::task::spawn_blocking(move || status_file::find(&dir, &id)).await.ok().flatten();
        file.is_some_and(|file| {
            // Writers know the time to the second.
            file.updated_at.0 / 1000 >= worker.updated_at.0 / 1000 && file.fields.contains_key("exit_code")
        })
    }

    /// Ends everything that is left of a worker's life, also where its session is gone.
    pub(crate) async fn end_remains(&self, worker: &Worker) -> Result<()> {
        self.end_session(&worker.id, WorkerEnd::Kill).await?;
        let Some(pane) = worker.pane.as_ref().and_then(identity) else { return Ok(()) };
        let left = self.fleet().launcher.end_remains(pane).await;
        match left.is_empty() {
            true => Ok(()),
            false => Err(refuse_to_end(&worker.id, &left)),
        }
    }

    /// Ends what is left of the worker's former life and runs its launcher.
    pub(super) async fn try_launch(&self, worker: &Worker) -> Result<WorkerHandle> {
        self.claim_assigned(worker).await?;
        let how = if worker.process.is_some() { WorkerEnd::default() } else { WorkerEnd::Kill };
        self.end_session(&worker.id, how).await?;
        // A file that cannot be understood says nothing about an end either.
        if let Err(error) = self.write_status(&worker.id, status_file::begin).await {
            tracing::debug!(worker = %worker.id, %error, "the words of a former life stay");
        }
        // The agent may report before its launcher has ended.
        let started_at = Millis::now();
        let request = request(self, worker)?;
        self.keep_worker_secrets(&worker.id, self.fleet().launcher.environment(&request)).await?;
        match self.fleet().launcher.spawn(request).await {
            Ok(handle) => Ok(WorkerHandle { started_at, ..handle }),
            // A launcher's complaint is passed on word for word.
            Err(error) => Err(Error::from(error).masked(&self.worker_secrets(&worker.id).await?)),
        }
    }

    pub(super) async fn note_launched(&self, id: &WorkerId, handle: WorkerHandle) -> Result<Worker> {
        let answer = LauncherAnswer {
            model: handle.model.filter(|model| !model.is_empty()),
            message: handle.message,
            bead_id: handle.bead_id,
            bead_title: handle.bead_title,
        };
        let worker = self
            .change_worker(id, |stored| {
                let running = Worker {
                    phase: WorkerPhase::Running,
                    model: answer.model.clone().unwrap_or_else(|| stored.model.clone()),
                    answer: Some(answer),
                    session: handle.session.name.clone(),
                    process: Some(mark(handle.process)),
                    pane: Identity::of(handle.session.pane_pid).map(mark),
                    started_at: Some(handle.started_at),
                    note: None,
                    ..stored.clone()
                };
                Ok((stored.phase == WorkerPhase::Starting).then_some(running))
            })
            .await?;
        if worker.phase == WorkerPhase::Running {
            return Ok(worker);
        }
        // Somebody stopped it while its launcher ran.
        self.end_session(id, WorkerEnd::Kill).await?;
        Err(Error::conflict(format!("worker '{id}' was stopped while it was being started")))
    }

    /// Stops a worker with everything that runs in its session.
    pub async fn stop_worker(&self, id: &WorkerId, how: WorkerEnd) -> Result<Worker> {
        let before = self.worker(id).await?;
        let stopped = self
            .change_worker(id, |stored| {
                let stopped = Worker {
                    phase: WorkerPhase::Stopped,
                    health: Health::default(),
                    parked_until: None,
                    note: None,
                    ..stored.clone()
                };
                Ok(stored.phase.is_kept().then_some(stopped))
            })
            .await?;
        if before.phase == WorkerPhase::Paused {
            // Who does not run cannot be asked.
            self.signal_session(id, Signal::CONT).await?;
        }
        match self.end_session(id, how).await {
            Ok(()) => {
                // It may have said more since its row was written.
                self.meter_soon(id);
                Ok(stopped)
            }
            Err(error) => {
                let note = format!("its session could not be ended: {error}");
                self.change_worker(id, |stored| Ok(Some(Worker { note: Some(note), ..stored.clone() })))
                    .await?;
                Err(error)
            }
        }
    }

    /// Ends the session that bears the worker's mark, if there is one.
    pub(super) async fn end_session(&self, id: &WorkerId, how: WorkerEnd) -> Result<()> {
        let launcher = match self.0.store.worker(id).await? {
            Some(worker) => self.fleet().launcher.clone().on(self.fleet().tmux_of(&worker)),
            None => self.fleet().launcher.clone(),
        };
        match launcher.stop_with(id, &how.grace()).await {
            Err(LauncherError::NoWorker { .. }) => Ok(()),
            Err(error) => Err(error.into()),
            Ok(stopped) if stopped.left.is_empty() => Ok(()),
            Ok(stopped) => Err(refuse_to_end(id, &stopped.left)),
        }
    }

    /// Starts a worker again as it was started before. A person does this, so that earlier crashes no longer count.
    pub async fn restart_worker(&self, id: &WorkerId) -> Result<Worker> {
        self.worker(id).await?;
        let turn = Turn::take(self, id).ok_or_else(|| being_started(id))?;
        let worker = self
            .change_worker(id, |stored| {
                request(self, stored)?;
                let starting = WorkerPhase::Starting;
                let (restarts, note) = (Vec::new(), None);
                let (parked_until, started_at) = (None, None);
                Ok(Some(Worker {
                    phase: starting,
                    restarts,
                    note,
                    parked_until,
                    started_at,
                    ..stored.clone()
                }))
            })
            .await?;
        self.launch_worker(&turn, &worker).await
    }

    /// The worker takes nothing new; with `freeze` its processes do not run either.
    pub async fn pause_worker(&self, id: &WorkerId, reason: &str, freeze: bool) -> Result<Worker> {
        self.worker(id).await?;
        let paused = self
            .change_worker(id, |stored| match stored.phase {
                // From now on it is a person's pause.
                WorkerPhase::Paused if stored.paused_by_file => {
                    Ok(Some(Worker { paused_by_file: false, ..stored.clone() }))
                }
                WorkerPhase::Paused => Ok(None),
                WorkerPhase::Running => {
                    let note = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
                    let paused_by_file = false;
                    Ok(Some(Worker { phase: WorkerPhase::Paused, note, paused_by_file, ..stored.clone() }))
                }
                phase => Err(refuse_phase(id, "paused", phase)),
            })
            .await?;
        let reason = reason.to_owned();
        self.write_status(id, move |dir, id| status_file::pause(dir, id, &reason)).await?;
        if freeze {
            self.signal_session(id, Signal::STOP).await?;
        }
        Ok(paused)
    }

    /// The worker goes on, also one that waits for its provider or for its next start.
    pub async fn resume_worker(&self, id: &WorkerId) -> Result<Worker> {
        if self.worker(id).await?.phase == WorkerPhase::Paused {
            // First, for a file that says paused would pause it again.
            self.write_status(id, status_file::resume).await?;
        }
        let resumed = self
            .change_worker(id, |stored| match stored.phase {
                WorkerPhase::Running => Ok(None),
                WorkerPhase::Paused => {
                    Ok(Some(Worker { phase: WorkerPhase::Running, note: None, ..stored.clone() }))
                }
                WorkerPhase::Parked | WorkerPhase::Recovering => {
                    Ok(Some(Worker { parked_until: Some(Millis::now()), ..stored.clone() }))
                }
                phase => Err(refuse_phase(id, "resumed", phase)),
            })
            .await?;
        if resumed.phase != WorkerPhase::Running {
            self.fleet().changed.notify_one();
            return Ok(resumed);
        }
        self.signal_session(id, Signal::CONT).await?;
        Ok(resumed)
    }

    /// Forgets a worker that has ended.
    pub async fn delete_worker(&self, id: &WorkerId) -> Result<()> {
        self.worker(id).await?;
        self.meter_worker(id).await?;
        let mut tx = self.0.store.begin().await?;
        let worker = tx.worker(id).await?.ok_or_else(|| super::unknown(id))?;
        if worker.phase.is_kept() {
            return Err(Error::conflict(format!("worker '{id}' has not ended")).hint("stop it first"));
        }
        let leases = self.0.store.leases().await?;
        if leases.iter().any(|lease| worker.bead.as_ref().is_some_and(|bead| bead.actor == lease.actor)) {
            self.0.background.ring(Bell::Beads);
            return Err(Error::conflict(format!("the bead of worker '{id}' is not given back yet"))
                .hint("try again in a moment"));
        }
        alerts::resolve_all(&mut tx, id).await?;
        tx.remove_worker(id).await?;
        tx.commit().await?;
        if let Err(error) = self.forget_worker_secrets(id).await {
            tracing::warn!(worker = %id, %error, "secrets stay of a worker that is forgotten");
        }
        Ok(())
    }

    pub(super) async fn write_status<F>(&self, id: &WorkerId, write: F) -> Result<()>
    where
        F: FnOnce(&std::path::Path, &WorkerId) -> std::result::Result<Option<StatusFile>, StatusFileError>
            + Send
            + 'static,
    {
        let (dir, id) = (self.fleet().status_dir.clone(), id.clone());
        let written = tokio::task::spawn_blocking(move || write(&dir, &id)).await;
        written.map_err(|cause| Error::internal("a status file cannot be written", cause))??;
        Ok(())
    }

    /// Sends a signal to everything that runs in the session with the worker's mark.
    async fn signal_session(&self, id: &WorkerId, signal: Signal) -> Result<()> {
        let seat = self.worker_session(id).await?.filter(|seat| !seat.session.pane_dead);
        let Some(Seat { session, .. }) = seat else { return Ok(()) };
        let table = read_table().await?;
        let members = table.pane(session.pane_pid);
        // tmux wakes the whole group when it sees the first process of a pane stop; the others are those who work.
        let spared = (signal == Signal::STOP && members.len() > 1).then_some(session.pane_pid);
        for entry in members.into_iter().filter(|entry| Some(entry.identity.pid) != spared) {
            entry.identity.signal(signal);
        }
        Ok(())
    }
}

/// The launch of a worker as its row has it.
pub(super) fn request(forge: &Forge, worker: &Worker) -> Result<SpawnRequest> {
    let id = &worker.id;
    let config = forge_fleet::launcher::LaunchConfig::deserialize(&worker.config).map_err(|_| {
        Error::conflict(format!("worker '{id}' was not started by Forge, which cannot start it again"))
    })?;
    let mut config = config;
    let logs_dir = &forge.fleet().logs_dir;
    config.env.entry("FORGE_LOGS_DIR".to_owned()).or_insert_with(|| logs_dir.display().to_string());
    let backend_url = &forge.0.config.backend_url;
    config.env.entry("FORGE_BACKEND_URL".to_owned()).or_insert_with(|| backend_url.clone());
    Ok(SpawnRequest { worker_id: id.to_string(), config, withheld: forge.settings().withheld() })
}

fn refuse_to_end(id: &WorkerId, left: &[Identity]) -> Error {
    let pids: Vec<String> = left.iter().map(|process| process.pid.to_string()).collect();
    Error::conflict(format!("processes of '{id}' do not end: {}", pids.join(", ")))
}

fn being_started(id: &WorkerId) -> Error {
    Error::conflict(format!("worker '{id}' is being started right now"))
}

fn refuse_phase(id: &WorkerId, done: &str, phase: WorkerPhase) -> Error {
    let word = serde_json::to_value(phase).ok().and_then(|word| word.as_str().map(str::to_owned));
    Error::conflict(format!("worker '{id}' is {} and cannot be {done}", word.unwrap_or_default()))
}
