//! What people do with the session of a worker: look, type, take over.
//!
//! Invariant: only a session with the mark of a worker is typed into; one without it can be looked at, or adopted.

use std::path::{Path, PathBuf};
use std::process::Command;

use forge_fleet::discovery::{
    self, Bond, DiscoveredWorker, DiscoveryError, DiscoveryResult, discover_on, discover_workers,
};
use forge_fleet::process::Identity;
use forge_fleet::tmux::{Session, Socket, Tmux};
use forge_run::Secrets;
use forge_types::{ErrorCode, Health, Millis, Worker, WorkerId, WorkerPhase};
use serde_json::Value;

use super::mark;
use crate::{Error, Forge, Kind, Result};

/// The most lines of a pane that are shown.
const PEEK_MAX: usize = 10_000;
/// The first of them may be the end of a longer line, and of a secret.
const LINES_BEFORE: usize = 64;

/// A session, and the server that it is on.
pub(super) struct Seat {
    pub(super) tmux: Tmux,
    pub(super) session: Session,
}

impl Forge {
    /// The session with the worker's mark.
    pub(super) async fn worker_session(&self, id: &WorkerId) -> Result<Option<Seat>> {
        let Some(worker) = self.0.store.worker(id).await? else { return Ok(None) };
        let tmux = self.fleet().tmux_of(&worker);
        let marked = |session: &Session| session.worker_id.as_deref() == Some(id.as_str());
        let session = tmux.list().await?.into_iter().find(marked);
        Ok(session.map(|session| Seat { tmux, session }))
    }

    async fn need_session(&self, id: &WorkerId) -> Result<Seat> {
        if let Some(seat) = self.worker_session(id).await? {
            return Ok(seat);
        }
        let worker = self.worker(id).await?;
        Err(Error::conflict(format!("worker '{id}' has no session any more ({})", worker.session)))
    }

    /// The last lines of what a worker's pane shows.
    pub async fn peek_worker(&self, id: &WorkerId, lines: usize) -> Result<String> {
        let (tmux, name, secrets) = match self.need_session(id).await {
            Ok(seat) => (seat.tmux, seat.session.name, self.worker_secrets(id).await?),
            Err(error) => {
                let found = self.found_workers().await.into_iter().find(|found| found.is_foreign(id));
                let found = found.ok_or(error)?;
                let own =
                    Secrets::own().map_err(|cause| Error::internal("cannot determine the secrets", cause))?;
                (self.fleet().tmux_of(&describe(&found)), found.seen.session_name, own)
            }
        };
        let lines = lines.clamp(1, PEEK_MAX);
        let text = tmux.capture(&name, lines + LINES_BEFORE).await?;
        let text = secrets.mask_text(&text);
        let all: Vec<&str> = text.lines().collect();
        Ok(all[all.len().saturating_sub(lines)..].join("\n"))
    }

    /// Types a line into a worker's pane, and Enter.
    pub async fn send_to_worker(&self, id: &WorkerId, line: &str) -> Result<()> {
        let Seat { tmux, session } = self.need_session(id).await?;
        Ok(tmux.send_line(&session.name, line).await?)
    }

    /// Types Ctrl-C into a worker's pane.
    pub async fn interrupt_worker(&self, id: &WorkerId) -> Result<()> {
        let Seat { tmux, session } = self.need_session(id).await?;
        Ok(tmux.interrupt(&session.name).await?)
    }

    pub(super) async fn foreign_worker(&self, id: &WorkerId) -> Result<Option<DiscoveredWorker>> {
        let found = self.found_workers().await.into_iter().find(|found| found.is_foreign(id));
        Ok(found.map(|found| found.seen))
    }

    /// What looks like a worker on Forge's tmux server, and then on the user's own.
    pub(super) async fn found_workers(&self) -> Vec<Found> {
        let fleet = self.fleet();
        let read = |result: std::result::Result<DiscoveryResult, DiscoveryError>| {
            let result = result.inspect_err(|error| {
                // Without tmux there are no sessions, and the rows are still worth seeing.
                tracing::debug!(%error, "sessions cannot be looked at");
            });
            result.unwrap_or_default().workers.into_iter()
        };
        let own = read(discover_on(fleet.tmux()).await).map(|seen| Found { seen, tmux: None });
        let mut found: Vec<Found> = own.collect();
        let users = fleet.users_tmux().map(|users| users.socket_path()).filter(|socket| socket.exists());
        if let Some(socket) = users {
            for seen in read(discover_workers().await) {
                // An id names one worker.
                if !found.iter().any(|known| known.seen.worker_id == seen.worker_id) {
                    found.push(Found { seen, tmux: Some(socket.clone()) });
                }
            }
        }
        found
    }

    /// Makes a session that looks like a worker's one of ours, because a person wants it.
    pub async fn adopt_worker(&self, id: &WorkerId) -> Result<Worker> {
        let found = self.found_workers().await.into_iter().find(|found| found.is_foreign(id));
        let Some(found) = found else {
            let missing = Error::not_found(format!("no session without an owner looks like a worker '{id}'"));
            return Err(missing
                .code(ErrorCode::WorkerNotFound)
                .hint("`forge worker list` shows which there are"));
        };
        let worker = Worker { health: Health::default(), ..describe(&found) };
        self.keep_worker_secrets(id, std::env::vars_os().collect()).await?;
        let mut tx = self.0.store.begin().await?;
        if !tx.insert_worker(&worker).await? {
            return Err(Error::conflict(format!(
                "there already is a worker '{id}'; delete that one before the session {} can take its place",
                found.seen.session_name
            )));
        }
        tx.commit().await?;
        if let Err(error) = discovery::adopt(&self.fleet().tmux_of(&worker), &found.seen).await {
            let mut tx = self.0.store.begin().await?;
            tx.remove_worker(id).await?;
            tx.commit().await?;
            return Err(Error::new(Kind::Unavailable, error.to_string()));
        }
        self.fleet().changed.notify_one();
        Ok(worker)
    }
}

/// A session that was found, and the socket of its server where that is not Forge's own.
pub(super) struct Found {
    pub(super) seen: DiscoveredWorker,
    pub(super) tmux: Option<PathBuf>,
}

impl Found {
    fn is_foreign(&self, id: &WorkerId) -> bool {
        self.seen.bond == Bond::Foreign && self.seen.worker_id == *id
    }
}

/// A foreign session as a worker. How it was started is not known, so that it cannot be started again.
pub(super) fn describe(found: &Found) -> Worker {
    let Found { seen, tmux } = found;
    let process = Identity::of(seen.pane_pid).map(mark);
    let workspace = std::fs::read_link(format!("/proc/{}/cwd", seen.pane_pid)).unwrap_or_default();
    Worker {
        id: seen.worker_id.clone(),
        session: seen.session_name.clone(),
        model: seen.worker_type.model().to_owned(),
        tier: seen.worker_type.tier(),
        workspace,
        phase: WorkerPhase::Running,
        config: Value::Null,
        pane: process.clone(),
        process,
        bead: None,
        answer: None,
        tmux: tmux.clone(),
        paused_by_file: false,
        health: Health::default(),
        status: None,
        restarts: Vec::new(),
        parked_until: None,
        started_at: Some(seen.created_at),
        note: None,
        created_at: Millis::now(),
        updated_at: Millis::now(),
    }
}

/// What shows a session to a person: `inside` is their `$TMUX`.
pub fn attach_command(socket: &Path, session: &str, inside: Option<&str>) -> Result<Command> {
    Ok(Tmux::new(Socket::Path(socket.to_owned())).attach(session, inside)?)
}
