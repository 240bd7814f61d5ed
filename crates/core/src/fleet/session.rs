//! What people do with the session of a worker: look, type, take over.
//!
//! Invariant: only a session with the mark of a worker is typed into; one without it can be looked at, or adopted.

use std::path::Path;
use std::process::Command;

use forge_fleet::discovery::{self, Bond, DiscoveredWorker, WorkerType, discover_workers};
use forge_fleet::process::Identity;
use forge_fleet::tmux::{Session, Socket, Tmux};
use forge_run::Secrets;
use forge_types::{Health, Millis, Worker, WorkerId, WorkerPhase, WorkerTier};
use serde_json::Value;

use super::mark;
use crate::{Error, Forge, Kind, Result};

/// The most lines of a pane that are shown.
const PEEK_MAX: usize = 10_000;
/// The first of them may be the end of a longer line, and of a secret.
const LINES_BEFORE: usize = 64;

impl Forge {
    /// The session with the worker's mark.
    pub(super) async fn worker_session(&self, id: &WorkerId) -> Result<Option<Session>> {
        let marked = |session: &Session| session.worker_id.as_deref() == Some(id.as_str());
        Ok(self.fleet().tmux().list().await?.into_iter().find(marked))
    }

    async fn need_session(&self, id: &WorkerId) -> Result<Session> {
        if let Some(session) = self.worker_session(id).await? {
            return Ok(session);
        }
        if let Some(stranger) = self.foreign_worker(id).await? {
            return Err(Error::conflict(format!(
                "the session {} is not one of Forge's; adopt it first with `forge worker adopt {id}`",
                stranger.session_name
            )));
        }
        let worker = self.worker(id).await?;
        Err(Error::conflict(format!("worker '{id}' has no session any more ({})", worker.session)))
    }

    /// The last lines of what a worker's pane shows.
    pub async fn peek_worker(&self, id: &WorkerId, lines: usize) -> Result<String> {
        let (name, secrets) = match self.need_session(id).await {
            Ok(session) => (session.name, self.worker_secrets(id).await?),
            Err(error) => {
                let name = self.foreign_worker(id).await?.ok_or(error)?.session_name;
                let own = Secrets::own().map_err(|cause| Error::internal("secrets cannot be told", cause))?;
                (name, own)
            }
        };
        let lines = lines.clamp(1, PEEK_MAX);
        let text = self.fleet().tmux().capture(&name, lines + LINES_BEFORE).await?;
        let text = secrets.mask_text(&text);
        let all: Vec<&str> = text.lines().collect();
        Ok(all[all.len().saturating_sub(lines)..].join("\n"))
    }

    /// Types a line into a worker's pane, and Enter.
    pub async fn send_to_worker(&self, id: &WorkerId, line: &str) -> Result<()> {
        let session = self.need_session(id).await?;
        Ok(self.fleet().tmux().send_line(&session.name, line).await?)
    }

    /// Types Ctrl-C into a worker's pane.
    pub async fn interrupt_worker(&self, id: &WorkerId) -> Result<()> {
        let session = self.need_session(id).await?;
        Ok(self.fleet().tmux().interrupt(&session.name).await?)
    }

    async fn foreign_worker(&self, id: &WorkerId) -> Result<Option<DiscoveredWorker>> {
        let found = discover_workers(self.fleet().tmux()).await;
        let found = found.map_err(|error| Error::new(Kind::Unavailable, error.to_string()))?.workers;
        Ok(found.into_iter().find(|worker| worker.bond == Bond::Foreign && worker.worker_id == *id))
    }

    /// Makes a session that looks like a worker's one of ours, because a person wants it.
    pub async fn adopt_worker(&self, id: &WorkerId) -> Result<Worker> {
        let Some(found) = self.foreign_worker(id).await? else {
            return Err(Error::not_found(format!(
                "no session without an owner looks like a worker '{id}'; `forge worker list` shows which there are"
            )));
        };
        let worker = Worker { health: Health::default(), ..describe(&found) };
        self.keep_worker_secrets(id, std::env::vars_os().collect()).await?;
        let mut tx = self.0.store.begin().await?;
        if !tx.insert_worker(&worker).await? {
            return Err(Error::conflict(format!(
                "there already is a worker '{id}'; delete that one before the session {} can take its place",
                found.session_name
            )));
        }
        tx.commit().await?;
        if let Err(error) = discovery::adopt(self.fleet().tmux(), &found).await {
            let mut tx = self.0.store.begin().await?;
            tx.remove_worker(id).await?;
            tx.commit().await?;
            return Err(Error::new(Kind::Unavailable, error.to_string()));
        }
        self.fleet().changed.notify_one();
        Ok(worker)
    }
}

/// A foreign session as a worker. How it was started is not known, so that it cannot be started again.
pub(super) fn describe(found: &DiscoveredWorker) -> Worker {
    let process = Identity::of(found.pane_pid).map(mark);
    let workspace = std::fs::read_link(format!("/proc/{}/cwd", found.pane_pid)).unwrap_or_default();
    Worker {
        id: found.worker_id.clone(),
        session: found.session_name.clone(),
        model: match found.worker_type {
            WorkerType::Glm => "glm-4.7",
            WorkerType::Sonnet => "sonnet",
            WorkerType::Opus => "opus",
            WorkerType::Haiku => "haiku",
            WorkerType::Codex | WorkerType::Opencode | WorkerType::Unknown => "",
        }
        .to_owned(),
        tier: WorkerTier::default(),
        workspace,
        phase: WorkerPhase::Running,
        config: Value::Null,
        pane: process.clone(),
        process,
        bead: None,
        health: Health::default(),
        status: None,
        restarts: Vec::new(),
        parked_until: None,
        started_at: Some(found.created_at),
        note: None,
        created_at: Millis::now(),
        updated_at: Millis::now(),
    }
}

/// What shows a session to a person: `inside` is their `$TMUX`.
pub fn attach_command(socket: &Path, session: &str, inside: Option<&str>) -> Result<Command> {
    Ok(Tmux::new(Socket::Path(socket.to_owned())).attach(session, inside)?)
}
