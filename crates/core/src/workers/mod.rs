//! Workers: agents that live on in tmux sessions, which people can look into.
//!
//! Owns the rules around `forge-fleet`: who is started, watched, started again and given up. Invariants: a worker has its
//! row before it has a session, so that no session of ours is unknown; what a person wants is written before it is done,
//! so that a stop never looks like a crash; a session without the mark of one of our workers is never touched; no worker
//! is started twice, because only one caller moves its row to `Starting`.

mod assignment;
mod catalogue;
mod check;
mod housekeeping;
mod ledger;
mod lifecycle;
mod list;
pub(crate) mod machine;
mod mask;
mod monitor;
mod order;
mod recovery;
mod remedy;
mod session;
mod shipped;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use forge_fleet::discovery::{DiscoveredWorker, users_server};
use forge_fleet::launcher::{LauncherError, WorkerLauncher};
use forge_fleet::process::{Identity, Table};
use forge_fleet::status_file::StatusFileError;
use forge_fleet::tmux::{Socket, Tmux, TmuxError};
use forge_store::Store;
use forge_types::{ErrorCode, Millis, ProcessMark, Settings, Worker, WorkerId, WorkerPhase};
use sha2::{Digest, Sha256};
use tokio::sync::Notify;

use crate::notify::alerts;
use crate::{Error, Forge, Kind, Result};

pub use lifecycle::WorkerEnd;
pub use mask::read_worker_log;
pub use session::attach_command;
pub use shipped::list_launchers;

/// What the engine holds of its workers beside their rows.
pub(crate) struct Fleet {
    launcher: WorkerLauncher,
    status_dir: PathBuf,
    logs_dir: PathBuf,
    /// Workers whose launcher this server runs right now.
    starting: Mutex<HashSet<WorkerId>>,
    heartbeat_dir: PathBuf,
    /// Workers that Forge interrupted because they were silent, and when.
    interrupted: Mutex<HashMap<WorkerId, Millis>>,
    /// Rings when a worker begins or ceases to be one that is watched.
    changed: Notify,
    ledger: ledger::Ledger,
}

impl Fleet {
    /// `socket` is the name of the tmux server where the settings name none.
    pub(crate) fn new(home: &Path, settings: &Settings, socket: String) -> Fleet {
        let status_dir = home.join("status");
        let socket = settings.fleet.socket.clone().unwrap_or(socket);
        let tmux = Tmux::new(match socket.contains('/') {
            true => Socket::Path(PathBuf::from(socket)),
            false => Socket::Name(socket),
        });
        let launcher = WorkerLauncher::new().on(tmux).with_status_dir(&status_dir);
        Fleet {
            launcher,
            status_dir,
            logs_dir: home.join("logs"),
            heartbeat_dir: home.join("heartbeat"),
            starting: Mutex::default(),
            interrupted: Mutex::default(),
            changed: Notify::new(),
            ledger: ledger::Ledger::default(),
        }
    }

    fn tmux(&self) -> &Tmux {
        self.launcher.tmux()
    }

    /// The user's own tmux server, where that is another one than Forge's. It is only looked at, but for the sessions that
    /// were adopted there.
    fn users_tmux(&self) -> Option<Tmux> {
        let users = users_server();
        (users.socket_path() != self.tmux().socket_path()).then_some(users)
    }

    /// The server that a worker's session is on.
    fn tmux_of(&self, worker: &Worker) -> Tmux {
        match &worker.tmux {
            Some(socket) => Tmux::new(Socket::Path(socket.clone())),
            None => self.tmux().clone(),
        }
    }

    fn starting(&self) -> MutexGuard<'_, HashSet<WorkerId>> {
        self.starting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn interrupted(&self) -> MutexGuard<'_, HashMap<WorkerId, Millis>> {
        self.interrupted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log_of(&self, id: &WorkerId) -> PathBuf {
        self.logs_dir.join(format!("{id}.log"))
    }
}

impl Forge {
    fn fleet(&self) -> &Fleet {
        &self.0.workers
    }

    /// Where the output of a worker is that works without a person.
    pub(crate) fn worker_log(&self, id: &WorkerId) -> PathBuf {
        self.fleet().log_of(id)
    }

    pub async fn worker(&self, id: &WorkerId) -> Result<Worker> {
        match self.0.store.worker(id).await? {
            Some(worker) => Ok(worker),
            None => Err(match self.foreign_worker(id).await {
                Ok(Some(found)) => refuse_foreign(&found),
                _ => unknown(id),
            }),
        }
    }

    /// Changes a row as it stands in the transaction; `None` from `change` leaves it. Returns the row afterwards.
    pub(crate) async fn change_worker(
        &self,
        id: &WorkerId,
        change: impl FnOnce(&Worker) -> Result<Option<Worker>>,
    ) -> Result<Worker> {
        let mut tx = self.0.store.begin().await?;
        let stored = tx.worker(id).await?.ok_or_else(|| unknown(id))?;
        let Some(changed) = change(&stored)? else { return Ok(stored) };
        let changed = Worker { updated_at: Millis::now(), ..changed };
        if matches!(changed.phase, WorkerPhase::Stopped | WorkerPhase::Finished) {
            alerts::resolve_all(&mut tx, id).await?;
        }
        tx.update_worker(&changed).await?;
        tx.commit().await?;
        if stored.phase != changed.phase || stored.process != changed.process {
            self.fleet().changed.notify_one();
            self.meter_soon(id);
        }
        Ok(changed)
    }
}

/// The tmux server of a home: two installations of one user share none, so that neither sees the other's sessions. The
/// name is chosen once and kept: a home that is moved, or reached by a link, finds its workers again.
pub(crate) async fn keep_socket_name(store: &Store, home: &Path, installation: &str) -> Result<String> {
    let key = format!("tmux:{installation}");
    if let Some(name) = store.meta(&key).await? {
        return Ok(name);
    }
    let name = socket_name(home);
    let mut tx = store.begin().await?;
    tx.put_meta(&key, &name).await?;
    tx.commit().await?;
    Ok(name)
}

fn socket_name(home: &Path) -> String {
    let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
    let home = real(home.to_owned());
    if std::env::home_dir().is_some_and(|user| real(user.join(".forge")) == home) {
        return "forge".to_owned();
    }
    let digest = Sha256::digest(home.as_os_str().as_encoded_bytes());
    let digits: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("forge-{digits}")
}

fn unknown(id: &WorkerId) -> Error {
    Error::not_found(format!("there is no worker '{id}'"))
        .code(ErrorCode::WorkerNotFound)
        .hint("`forge worker list` shows which there are")
}

fn refuse_foreign(found: &DiscoveredWorker) -> Error {
    let DiscoveredWorker { worker_id, session_name, .. } = found;
    Error::conflict(format!("the session {session_name} is not one of Forge's"))
        .hint(format!("adopt it first with `forge worker adopt {worker_id}`"))
}

fn mark(process: Identity) -> ProcessMark {
    ProcessMark { pid: process.pid, start_time: process.start_time, boot_id: process.boot.to_string() }
}

/// Nobody, if the mark cannot be one of this program's.
fn identity(mark: &ProcessMark) -> Option<Identity> {
    let boot = mark.boot_id.parse().ok()?;
    Some(Identity { pid: mark.pid, start_time: mark.start_time, boot })
}

/// The process table, read without holding up the runtime.
async fn read_table() -> Result<Table> {
    let read = tokio::task::spawn_blocking(Table::read).await;
    read.map_err(|cause| Error::internal("the process table cannot be read", cause))
}

impl From<LauncherError> for Error {
    fn from(error: LauncherError) -> Self {
        let kind = match &error {
            LauncherError::NoWorker { .. } => Kind::NotFound,
            LauncherError::SessionExists { .. } | LauncherError::WorkerExists { .. } => Kind::Conflict,
            LauncherError::NoWorkspace { .. } | LauncherError::InvalidWorker(_) => Kind::Invalid,
            LauncherError::LauncherFailed { .. }
            | LauncherError::Timeout { .. }
            | LauncherError::SessionCreationFailed { .. } => Kind::Unavailable,
            LauncherError::Tmux(_) => {
                return match error {
                    LauncherError::Tmux(error) => error.into(),
                    other => Error::new(Kind::Internal, other.to_string()),
                };
            }
        };
        Error::new(kind, error.to_string())
    }
}

impl From<TmuxError> for Error {
    fn from(error: TmuxError) -> Self {
        let kind = match &error {
            TmuxError::InvalidName { .. } | TmuxError::InvalidLine => Kind::Invalid,
            TmuxError::SessionExists { .. } | TmuxError::NoSession { .. } => Kind::Conflict,
            TmuxError::Missing
            | TmuxError::TooOld { .. }
            | TmuxError::Timeout { .. }
            | TmuxError::Failed { .. } => Kind::Unavailable,
        };
        Error::new(kind, error.to_string())
    }
}

impl From<StatusFileError> for Error {
    fn from(error: StatusFileError) -> Self {
        Error::new(Kind::Conflict, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_home_that_is_moved_and_linked_keeps_the_name_of_its_tmux_server() {
        let dir = tempfile::tempdir().expect("a folder");
        let [home, elsewhere] = ["home", "elsewhere"].map(|name| dir.path().join(name));
        std::fs::create_dir(&home).expect("a home");
        let store = Store::open(&dir.path().join("db.sqlite")).await.expect("a store");
        let name = keep_socket_name(&store, &home, "one").await.expect("a name");
        std::fs::rename(&home, &elsewhere).expect("moved");
        std::os::unix::fs::symlink(&elsewhere, &home).expect("a link");
        for way in [&home, &elsewhere] {
            assert_eq!(keep_socket_name(&store, way, "one").await.expect("a name"), name);
        }
        let copied = keep_socket_name(&store, &elsewhere, "two").await.expect("a name");
        assert_ne!(copied, name, "another installation has a server of its own");
    }
}
