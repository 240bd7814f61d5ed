//! Starts and stops workers with launchers: programs that create a tmux session with an agent in it.
//!
//! Owns the launcher protocol. Invariants: an existing session is never overwritten, taken over or ended; a launcher
//! that fails or takes too long leaves neither its processes nor its session behind; a worker is identified by the
//! option on its session, so there is no state that a restart could lose.

mod answer;
mod call;
mod check;
mod config;
mod spawn;
mod stop;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use forge_types::Millis;

use crate::process::{Identity, Life, Table, Work};
use crate::status_file;
use crate::tmux::{Session, Socket, Tmux, TmuxError};
use crate::worker::{InvalidWorkerId, WorkerId, WorkerStatus};

pub use check::{Check, Fault, Findings, Severity};
pub use config::{LaunchConfig, SpawnRequest};
pub use stop::{Grace, Stopped};

/// The socket of Forge's own tmux server.
const PRIVATE_SOCKET: &str = "forge";

#[derive(Debug, thiserror::Error)]
pub enum LauncherError {
    #[error("the launcher failed: {message}")]
    LauncherFailed { message: String },
    #[error(
        "the launcher did not finish within {secs} s; it was stopped, and what it had created was removed"
    )]
    Timeout { secs: u64 },
    #[error(
        "the launcher reported success, but tmux has no session `{session_name}`: the agent exited at once, or the \
         session was created on another tmux server"
    )]
    SessionCreationFailed { session_name: String },
    #[error("a tmux session `{session_name}` already exists; stop it or choose another name")]
    SessionExists { session_name: String },
    #[error("worker `{worker_id}` is already running in the tmux session `{session_name}`")]
    WorkerExists { worker_id: WorkerId, session_name: String },
    #[error("there is no worker `{worker_id}`")]
    NoWorker { worker_id: WorkerId },
    #[error("the workspace `{}` is not a directory", path.display())]
    NoWorkspace { path: PathBuf },
    #[error(transparent)]
    InvalidWorker(#[from] InvalidWorkerId),
    #[error(transparent)]
    Tmux(#[from] TmuxError),
}

/// A running worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerHandle {
    pub id: WorkerId,
    pub session: Session,
    /// The agent's process as its launcher reported it, if that is correct, else the pane's process.
    pub process: Identity,
    pub model: Option<String>,
    /// What the launcher reported.
    pub message: Option<String>,
    pub bead_id: Option<String>,
    pub bead_title: Option<String>,
    pub started_at: Millis,
}

#[derive(Clone, Debug)]
pub struct WorkerLauncher {
    tmux: Tmux,
    status_dir: Option<PathBuf>,
    /// Held while a launcher starts the tmux server, which has that launcher's variables until they are removed.
    first: Arc<tokio::sync::Mutex<()>>,
}

impl Default for WorkerLauncher {
    fn default() -> Self {
        Self::new()
    }
}

impl WorkerLauncher {
    /// On Forge's own tmux server, without status files.
    pub fn new() -> Self {
        let tmux = Tmux::new(Socket::Name(PRIVATE_SOCKET.to_owned()));
        Self { tmux, status_dir: None, first: Arc::default() }
    }

    pub fn on(mut self, tmux: Tmux) -> Self {
        self.tmux = tmux;
        self
    }

    /// Where workers report; passed to launchers as `FORGE_STATUS_DIR`.
    pub fn with_status_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.status_dir = Some(dir.into());
        self
    }

    pub fn tmux(&self) -> &Tmux {
        &self.tmux
    }

    /// The variables that a worker's launcher gets, and may pass on.
    pub fn environment(&self, request: &SpawnRequest) -> BTreeMap<OsString, OsString> {
        call::environment(&request.variables(self.status_dir.as_deref()), &request.withheld)
    }

    /// Starts a worker and returns when its session exists.
    pub async fn spawn(&self, request: SpawnRequest) -> Result<WorkerHandle, LauncherError> {
        spawn::spawn(self, &request).await
    }

    /// Stops a worker, gently at first.
    pub async fn stop(&self, worker_id: &WorkerId) -> Result<Stopped, LauncherError> {
        self.stop_with(worker_id, &Grace::default()).await
    }

    pub async fn stop_with(&self, worker_id: &WorkerId, grace: &Grace) -> Result<Stopped, LauncherError> {
        stop::stop(self, worker_id, grace).await
    }

    /// Ends what is left of a session that is gone, whose first process was `pane`. Returns what did not end.
    pub async fn end_remains(&self, pane: Identity) -> Vec<Identity> {
        stop::end_remains(pane).await
    }

    /// What the worker's file says, unless its process shows otherwise.
    pub async fn check_status(&self, worker_id: &WorkerId) -> Result<WorkerStatus, LauncherError> {
        let session = self.session_of(worker_id).await?;
        let file = self.status_dir.clone().and_then(|dir| status_file::find(&dir, worker_id));
        let reported = file.map(|file| file.status);
        let Some(session) = session else {
            return match reported {
                Some(status) if status.is_healthy() => Ok(WorkerStatus::Failed),
                Some(status) => Ok(status),
                None => Err(LauncherError::NoWorker { worker_id: worker_id.clone() }),
            };
        };
        let works = !session.pane_dead && matches!(read_table().await.work(session.pane_pid), Work::Agent(_));
        Ok(match reported {
            Some(WorkerStatus::Stopped) if !works => WorkerStatus::Stopped,
            _ if !works => WorkerStatus::Failed,
            Some(status) => status,
            None => WorkerStatus::Active,
        })
    }

    /// The workers of this tmux server, oldest first. Sessions without the option are not workers of Forge.
    pub async fn list_workers(&self) -> Result<Vec<WorkerHandle>, LauncherError> {
        let sessions = self.tmux.list().await?;
        let table = read_table().await;
        let handle = |session: Session| {
            let id = WorkerId::new(session.worker_id.clone()?).ok()?;
            let pane = table.get(session.pane_pid).filter(|entry| entry.life != Life::Gone)?.identity;
            let process = match table.work(session.pane_pid) {
                Work::Agent(agent) => agent,
                _ => pane,
            };
            Some(WorkerHandle {
                id,
                process,
                model: None,
                message: None,
                bead_id: None,
                bead_title: None,
                started_at: session.created_at,
                session,
            })
        };
        Ok(sessions.into_iter().filter_map(handle).collect())
    }

    /// The session that is marked as the worker's.
    async fn session_of(&self, worker_id: &WorkerId) -> Result<Option<Session>, LauncherError> {
        let marked = |session: &Session| session.worker_id.as_deref() == Some(worker_id.as_str());
        Ok(self.tmux.list().await?.into_iter().find(marked))
    }
}

/// The process table, read without blocking the runtime.
async fn read_table() -> Table {
    tokio::task::spawn_blocking(Table::read).await.unwrap_or_else(|_| Table::empty())
}
