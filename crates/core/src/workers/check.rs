//! A look at live workers: sessions, processes, panes and files at one moment, and what follows.
//!
//! Invariants: sessions, processes and files are read once for all workers of a look; a row is written only when
//! something about it changed; what cannot be found out is unknown, which is no proof of anything.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use forge_fleet::health::{HealthMonitor, Liveness, Screen, Vitals};
use forge_fleet::heartbeat;
use forge_fleet::pane::{self, Sign};
use forge_fleet::process::{self, Identity, Life, Table, Work};
use forge_fleet::status_file::{self, StatusFile};
use forge_fleet::tmux::Session;
use forge_types::{Health, Millis, Worker, WorkerId, WorkerPhase};

use super::lifecycle::request;
use super::{identity, mark};
use crate::notify::alerts;
use crate::{Error, Forge, Result};

/// For an agent that is started by typing into a shell to appear there.
const APPEARANCE_MS: i64 = 15_000;
/// The end of a pane, in which signs are looked for.
const PANE_LINES: usize = 40;
const MIB: u64 = 1 << 20;
/// Memory that changed by less than this, and by less than an eighth, is no news.
const MEMORY_NEWS_MB: u64 = 64;

/// What there is at one moment.
struct Sight {
    /// By the socket of their server, where that is not Forge's own. `None` means that tmux did not say.
    sessions: HashMap<Option<PathBuf>, Option<Vec<Session>>>,
    table: Table,
    files: Vec<StatusFile>,
    heartbeats: HashMap<String, Millis>,
    now: Millis,
}

impl Sight {
    fn sessions_of(&self, worker: &Worker) -> Option<&Vec<Session>> {
        self.sessions.get(&worker.tmux)?.as_ref()
    }
}

/// What was seen of one worker.
struct Seen {
    vitals: Vitals,
    agent: Option<Identity>,
    sign: Option<Sign>,
}

/// Processes whose end is news about a worker.
pub(super) type Watched = BTreeMap<WorkerId, Vec<Identity>>;

impl Forge {
    /// Looks at the live workers, or one of them, and returns whose processes to watch.
    pub(super) async fn check_workers(&self, only: Option<&WorkerId>) -> Result<Watched> {
        let mut live = self.0.store.workers().await?;
        live.retain(|worker| worker.phase.is_live() && only.is_none_or(|id| worker.id == *id));
        live.retain(|worker| !self.fleet().starting().contains(&worker.id));
        if live.is_empty() {
            return Ok(Watched::new());
        }
        let sight = self.look(&live).await?;
        let mut watched = Watched::new();
        for worker in live {
            let id = worker.id.clone();
            match self.check_worker(worker, &sight).await {
                Ok(processes) => _ = watched.insert(id, processes),
                Err(error) => tracing::warn!(worker = %id, %error, "a worker cannot be checked"),
            }
        }
        Ok(watched)
    }

    async fn look(&self, live: &[Worker]) -> Result<Sight> {
        let mut sessions = HashMap::new();
        for worker in live {
            if !sessions.contains_key(&worker.tmux) {
                let listed = self.fleet().tmux_of(worker).list().await;
                let listed =
                    listed.inspect_err(|error| tracing::warn!(%error, "sessions cannot be listed")).ok();
                sessions.insert(worker.tmux.clone(), listed);
            }
        }
        let (dir, beats) = (self.fleet().status_dir.clone(), self.fleet().heartbeat_dir.clone());
        let read = move || {
            (Table::read(), status_file::read_all(&dir).unwrap_or_default(), heartbeat::read_all(&beats))
        };
        let read = tokio::task::spawn_blocking(read).await;
        let (table, files, heartbeats) =
            read.map_err(|cause| Error::internal("processes cannot be read", cause))?;
        Ok(Sight { sessions, table, files, heartbeats, now: Millis::now() })
    }

    async fn check_worker(&self, worker: Worker, sight: &Sight) -> Result<Vec<Identity>> {
        let session = sight.sessions_of(&worker).into_iter().flatten();
        let session = session.into_iter().find(|session| is_of(session, &worker.id));
        if worker.phase == WorkerPhase::Starting && session.is_none() && self.may_come(&worker, sight).await {
            return Ok(Vec::new());
        }
        let seen = self.examine_worker(&worker, session, sight).await;
        let settings = self.settings();
        let monitor = HealthMonitor::new(settings.fleet.health).with_rules(settings.fleet.recovery);
        let health = monitor.examine(&seen.vitals);
        let file = status_of(&sight.files, &worker);
        if health.findings.iter().any(|finding| finding.is_death()) {
            self.mark_dead(&worker, health, file, sight.now).await?;
            return Ok(Vec::new());
        }
        let parked = match &seen.sign {
            Some(Sign::RateLimited { message, reset_at: Some(at) }) if at.0 > sight.now.0 => {
                let secrets = self.worker_secrets(&worker.id).await?;
                Some((*at, secrets.mask_text(message).into_owned()))
            }
            _ => None,
        };
        let is_parked = parked.is_some();
        let known = worker.process.as_ref().and_then(identity);
        let process = known.filter(|process| sight.table.life(*process) == Life::Alive).or(seen.agent);
        let begun = session.map(|session| session.created_at);
        let pane = session.and_then(|session| Identity::of(session.pane_pid)).map(mark);
        let checked = worker.clone();
        self.settle_check(&worker.id, move |stored| {
            if stored.phase != checked.phase || stored.process != checked.process {
                return None;
            }
            let mut after =
                Worker { health, process: process.map(mark).or(stored.process.clone()), ..stored.clone() };
            if stored.phase == WorkerPhase::Starting {
                after.phase = WorkerPhase::Running;
                (after.started_at, after.pane) = (begun, pane);
            }
            if let Some((until, message)) = parked {
                (after.phase, after.parked_until, after.note) =
                    (WorkerPhase::Parked, Some(until), Some(message));
            }
            Some(after)
        })
        .await?;
        if !is_parked {
            self.help_worker(&worker, &seen.vitals, sight.now).await?;
        }
        Ok(process.into_iter().chain(seen.agent.filter(|agent| Some(*agent) != process)).collect())
    }

    /// A launcher that outlived the server which called it may still make its session.
    async fn may_come(&self, worker: &Worker, sight: &Sight) -> bool {
        let patience = request(self, worker).map_or(0, |request| request.config.timeout_secs);
        let until = worker.updated_at.0.saturating_add(i64::try_from(patience * 1000).unwrap_or(i64::MAX));
        let id = worker.id.to_string();
        let is_gone = move || process::is_without_variable("FORGE_WORKER_ID", &id);
        sight.now.0 < until && !tokio::task::spawn_blocking(is_gone).await.unwrap_or(false)
    }

    async fn examine_worker(&self, worker: &Worker, session: Option<&Session>, sight: &Sight) -> Seen {
        let work = session.map(|session| sight.table.work(session.pane_pid));
        let agent = match work {
            Some(Work::Agent(agent)) => Some(agent),
            _ => None,
        };
        let is_new = session.is_some_and(|session| sight.now.0 - session.created_at.0 < APPEARANCE_MS);
        let known = worker.process.as_ref().and_then(identity);
        let sign = match session {
            Some(session) if agent.is_some() => self.read_pane(worker, session).await,
            _ => None,
        };
        let file = status_of(&sight.files, worker);
        let beat = sight.heartbeats.get(worker.id.as_str()).copied();
        let silent = heartbeat::silence(file.map(|file| file.updated_at), beat, sight.now);
        let vitals = Vitals {
            phase: worker.phase,
            process: match known {
                Some(process) if sight.table.life(process) == Life::Alive => Liveness::Alive,
                // Agents replace their own process; what runs in the pane counts.
                _ if agent.is_some() => Liveness::Alive,
                Some(_) => Liveness::Gone,
                None => Liveness::Unknown,
            },
            agent: match work {
                Some(Work::Agent(_)) => Liveness::Alive,
                Some(Work::IdleShell) if is_new => Liveness::Unknown,
                Some(Work::IdleShell | Work::Gone) => Liveness::Gone,
                None => Liveness::Unknown,
            },
            session: match (sight.sessions_of(worker), session) {
                (None, _) => Liveness::Unknown,
                (_, Some(_)) => Liveness::Alive,
                (_, None) => Liveness::Gone,
            },
            // Whoever has to wait may be silent.
            silent_secs: silent
                .filter(|_| worker.phase != WorkerPhase::Paused)
                .map(|silent| silent.as_secs()),
            has_task: worker.bead.is_some() || file.is_some_and(|file| file.current_task.is_some()),
            memory_mb: session.map(|session| sight.table.resident_bytes(session.pane_pid) / MIB),
            screen: screen(sign.as_ref()),
            says: file.and_then(StatusFile::says),
            failed_recoveries: self.recent_restarts(worker, sight.now),
        };
        Seen { vitals, agent, sign }
    }

    async fn read_pane(&self, worker: &Worker, session: &Session) -> Option<Sign> {
        let text = self.fleet().tmux_of(worker).capture(&session.name, PANE_LINES).await.ok()?;
        pane::read(&text, &jiff::Zoned::now())
    }

    /// Writes what a check came to, with its alerts, if that is news.
    async fn settle_check(
        &self,
        id: &WorkerId,
        change: impl FnOnce(&Worker) -> Option<Worker>,
    ) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        let Some(stored) = tx.worker(id).await? else { return Ok(()) };
        let Some(mut after) = change(&stored) else { return Ok(()) };
        if is_same_memory(&stored.health, &after.health) {
            after.health.memory_mb = stored.health.memory_mb;
        }
        if after == stored {
            return Ok(());
        }
        after.updated_at = Millis::now();
        let rules = self.settings().fleet.recovery;
        alerts::follow(&mut tx, id, &stored.health, &after.health, &rules).await?;
        tx.update_worker(&after).await?;
        tx.commit().await?;
        if after.phase != stored.phase {
            self.fleet().changed.notify_one();
        }
        Ok(())
    }
}

fn is_of(session: &Session, id: &WorkerId) -> bool {
    session.worker_id.as_deref() == Some(id.as_str())
}

/// The worker's file, unless it is about a former life. Writers know the time to the second, so that of a life which
/// was cut off at its very beginning only what is later for sure counts.
pub(super) fn status_of<'a>(files: &'a [StatusFile], worker: &Worker) -> Option<&'a StatusFile> {
    let begun = match worker.started_at {
        Some(at) => at.0 / 1000,
        None => worker.updated_at.0 / 1000 + 1,
    };
    files.iter().find(|file| file.worker_id == worker.id.as_str() && file.updated_at.0 / 1000 >= begun)
}

fn is_same_memory(before: &Health, after: &Health) -> bool {
    match (before.memory_mb, after.memory_mb) {
        (Some(before), Some(after)) => before.abs_diff(after) < MEMORY_NEWS_MB.min(before / 8).max(8),
        (before, after) => before == after,
    }
}

fn screen(sign: Option<&Sign>) -> Screen {
    match sign {
        None => Screen::Usual,
        Some(Sign::WaitingForPermission { .. }) => Screen::WaitsForPermission,
        Some(Sign::RateLimited { .. }) => Screen::RateLimited,
        Some(Sign::ContextFull { .. }) => Screen::ContextFull,
    }
}
