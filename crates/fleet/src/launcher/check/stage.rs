//! A tmux server and a workspace that exist for one check.

use std::path::PathBuf;
use std::time::Duration;

use forge_os::process::with_variable;

use crate::process::{Signal, Table, await_exits};
use crate::tmux::{NewSession, Session, Socket, Tmux, TmuxError};
use crate::worker::WorkerId;

const ANCHOR: &str = "anchor";
/// The anchor ends by itself if the check is interrupted.
const ANCHOR_SECS: &str = "600";
/// Time for what a launcher left running to notice that the session has ended.
const FAREWELL: Duration = Duration::from_secs(2);
const MARK: &str = "FORGE_WORKER_ID";

pub(super) struct Stage {
    dir: PathBuf,
    tmux: Tmux,
    /// Unique, so that it identifies everything the launcher starts.
    worker_id: WorkerId,
}

impl Stage {
    pub(super) async fn set() -> Result<Stage, TmuxError> {
        // Short, because a socket's path must be.
        let name = format!("forge-check-{:.12}", uuid::Uuid::new_v4().simple().to_string());
        let dir = std::env::temp_dir().join(&name);
        let failed = |error: String| TmuxError::Failed { command: "new-session".to_owned(), message: error };
        let worker_id = WorkerId::new(name).map_err(|error| failed(error.to_string()))?;
        let tmux = Tmux::new(Socket::Path(dir.join("tmux")));
        let stage = Stage { dir, tmux, worker_id };
        for folder in [stage.workspace(), stage.status_dir()] {
            std::fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
        }
        let made = stage.make_anchor().await;
        match made {
            Ok(()) => Ok(stage),
            Err(error) => {
                let _ = std::fs::remove_dir_all(&stage.dir);
                Err(error)
            }
        }
    }

    /// The server is started here and not by the launcher, whose variables it would have by chance.
    async fn make_anchor(&self) -> Result<(), TmuxError> {
        self.tmux.version().await?;
        let command = ["sleep", ANCHOR_SECS].map(str::to_owned);
        let anchor =
            NewSession { name: ANCHOR, dir: &self.workspace(), env: &[], command: &command, worker_id: None };
        self.tmux.create(anchor).await.map(drop)
    }

    pub(super) fn tmux(&self) -> &Tmux {
        &self.tmux
    }

    pub(super) fn worker_id(&self) -> &WorkerId {
        &self.worker_id
    }

    pub(super) fn session_name(&self) -> String {
        self.worker_id.to_string()
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.dir.join("workspace")
    }

    pub(super) fn status_dir(&self) -> PathBuf {
        self.dir.join("status")
    }

    /// The sessions that the launcher made.
    pub(super) async fn made(&self) -> Result<Vec<Session>, TmuxError> {
        let all = self.tmux.list().await?;
        Ok(all.into_iter().filter(|session| session.name != ANCHOR).collect())
    }

    /// Whether something in the pane has the worker's variables.
    pub(super) async fn has_variables(&self, session: &Session) -> bool {
        if cfg!(not(target_os = "linux")) {
            // Other processes cannot be inspected there; the session's variables are the next best.
            let found = self.tmux.variable_of(&session.name, MARK).await;
            return matches!(found, Ok(Some(id)) if id == self.worker_id.as_str());
        }
        let (id, pane) = (self.worker_id.to_string(), session.pane_pid);
        let looking = tokio::task::spawn_blocking(move || {
            let table = Table::read();
            let marked = with_variable(MARK, &id);
            table.tree(pane).iter().any(|entry| marked.contains(&entry.identity))
        });
        looking.await.unwrap_or(false)
    }

    /// Removes everything and returns what did not end by itself.
    pub(super) async fn strike(self) -> Result<Vec<String>, TmuxError> {
        let mut ended = Ok(());
        for session in self.tmux.list().await? {
            if let Err(error) = super::super::stop::end(&self.tmux, &session).await {
                ended = Err(error);
            }
        }
        let ended = ended.and(self.tmux.end_server().await);
        let marked = with_variable(MARK, self.worker_id.as_str());
        let left = await_exits(&marked, FAREWELL).await;
        let table = super::super::read_table().await;
        let name = |pid: u32| table.get(pid).map_or_else(|| "?".to_owned(), |entry| entry.name.clone());
        let names = left.iter().map(|process| format!("{} ({})", name(process.pid), process.pid)).collect();
        for process in &left {
            process.signal(Signal::KILL);
        }
        let _ = std::fs::remove_dir_all(&self.dir);
        ended.map(|()| names)
    }
}
