//! Stops one worker: asks it first, then ends it with everything that ran in its pane.

use std::time::Duration;

use super::{LauncherError, WorkerLauncher, read_table};
use crate::process::{Identity, Signal, await_exits, exit_of};
use crate::status_file;
use crate::tmux::{Session, Tmux, TmuxError};
use crate::worker::{WorkerId, WorkerStatus};

/// For processes that end by themselves when their terminal goes away, and then for those that were killed.
const AFTER_HANGUP: Duration = Duration::from_secs(2);
const AFTER_KILL: Duration = Duration::from_secs(5);

/// How long a worker gets to end by itself.
#[derive(Clone, Debug)]
pub struct Grace {
    /// What is typed to make the agent exit, such as `/exit`; Ctrl-C if none.
    pub exit_command: Option<String>,
    /// Nothing is asked if this is zero.
    pub patience: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        Self { exit_command: None, patience: Duration::from_secs(10) }
    }
}

impl Grace {
    pub fn none() -> Self {
        Self { exit_command: None, patience: Duration::ZERO }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// It exited when asked.
    pub graceful: bool,
    /// Processes that had to be killed.
    pub killed: Vec<Identity>,
    /// Processes that could not be ended.
    pub left: Vec<Identity>,
}

pub(super) async fn stop(
    launcher: &WorkerLauncher,
    worker_id: &WorkerId,
    grace: &Grace,
) -> Result<Stopped, LauncherError> {
    let Some(session) = launcher.session_of(worker_id).await? else {
        return Err(LauncherError::NoWorker { worker_id: worker_id.clone() });
    };
    let mut members = members_of(&session).await;
    let graceful = !grace.patience.is_zero() && ask(&launcher.tmux, &session, grace).await?;
    // Again: what has been started while the agent was asked.
    for member in members_of(&session).await {
        if !members.contains(&member) {
            members.push(member);
        }
    }
    let stopped = Stopped { graceful, ..end_members(&launcher.tmux, &session, members).await? };
    if let Some(dir) = &launcher.status_dir {
        record(dir, worker_id);
    }
    Ok(stopped)
}

/// Ends a session and what runs in it.
pub(super) async fn end(tmux: &Tmux, session: &Session) -> Result<Stopped, TmuxError> {
    let members = members_of(session).await;
    end_members(tmux, session, members).await
}

async fn members_of(session: &Session) -> Vec<Identity> {
    if session.pane_dead {
        return Vec::new();
    }
    read_table().await.pane(session.pane_pid).iter().map(|entry| entry.identity).collect()
}

/// Whether the pane's process ended when it was asked to.
async fn ask(tmux: &Tmux, session: &Session, grace: &Grace) -> Result<bool, TmuxError> {
    let Some(pane) = Identity::of(session.pane_pid) else { return Ok(true) };
    let asked = match &grace.exit_command {
        Some(command) => tmux.send_line(&session.name, command).await,
        None => tmux.interrupt(&session.name).await,
    };
    match asked {
        Ok(()) => Ok(tokio::time::timeout(grace.patience, exit_of(pane)).await.is_ok()),
        Err(TmuxError::NoSession { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

async fn end_members(tmux: &Tmux, session: &Session, members: Vec<Identity>) -> Result<Stopped, TmuxError> {
    tmux.kill(session).await?;
    let mut killed = await_exits(&members, AFTER_HANGUP).await;
    killed.extend(latecomers(session, &members).await);
    for process in &killed {
        process.signal(Signal::KILL);
    }
    let left = await_exits(&killed, AFTER_KILL).await;
    Ok(Stopped { graceful: false, killed, left })
}

/// What was started in the pane while it was being ended.
async fn latecomers(session: &Session, members: &[Identity]) -> Vec<Identity> {
    let table = read_table().await;
    let pane = members.iter().find(|member| member.pid == session.pane_pid);
    let now = table.get(session.pane_pid).map(|entry| &entry.identity);
    // A pid is not reused while a process of the session it names is alive. Another process with that pid means
    // that none is.
    if now.is_some() && now != pane {
        return Vec::new();
    }
    let found = table.pane(session.pane_pid).into_iter().map(|entry| entry.identity);
    found.filter(|process| !members.contains(process)).collect()
}

/// Ends what belongs to a session whose first process was `pane`, after tmux or that process is gone. Returns what did
/// not end.
pub(super) async fn end_remains(pane: Identity) -> Vec<Identity> {
    let table = read_table().await;
    // As above: another process under that pid means that nothing of the session is alive.
    let now = table.get(pane.pid).map(|entry| entry.identity);
    if pane.pid <= 1 || now.is_some_and(|now| now != pane) {
        return Vec::new();
    }
    let remains: Vec<Identity> = table.pane(pane.pid).iter().map(|entry| entry.identity).collect();
    for process in &remains {
        process.signal(Signal::KILL);
    }
    await_exits(&remains, AFTER_KILL).await
}

/// A worker that was stopped has not crashed; its own final status counts if it has one.
fn record(dir: &std::path::Path, worker_id: &WorkerId) {
    let Some(file) = status_file::find(dir, worker_id) else { return };
    if file.status.is_healthy()
        && let Err(error) = status_file::set_status(dir, worker_id, WorkerStatus::Stopped)
    {
        tracing::warn!(%error, worker = %worker_id, "the status file does not say that the worker was stopped");
    }
}
