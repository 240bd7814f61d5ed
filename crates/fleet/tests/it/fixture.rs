//! A private tmux server, a workspace, and functions to work with them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use forge_fleet::launcher::{LaunchConfig, SpawnRequest, WorkerLauncher};
use forge_fleet::tmux::{NewSession, Session, Socket, Tmux};
use tempfile::TempDir;

/// Far longer than anything takes; it only keeps a broken test from hanging.
pub const LONG: Duration = Duration::from_secs(30);

pub struct Fixture {
    pub dir: TempDir,
    pub tmux: Tmux,
    socket: String,
}

impl Fixture {
    pub fn new() -> Self {
        let dir = TempDir::new().unwrap();
        for name in ["workspace", "status", "bin"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let socket = format!("forge-test-{}", uuid::Uuid::new_v4().simple());
        Self { dir, tmux: Tmux::new(Socket::Name(socket.clone())), socket }
    }

    pub fn workspace(&self) -> PathBuf {
        self.dir.path().join("workspace")
    }

    pub fn status_dir(&self) -> PathBuf {
        self.dir.path().join("status")
    }

    pub async fn session(&self, name: &str, script: &str) -> Session {
        let command = ["sh", "-c", script].map(str::to_owned);
        let new = NewSession { name, dir: &self.workspace(), env: &[], command: &command, worker_id: None };
        self.tmux.create(new).await.unwrap()
    }

    /// The tmux server of this fixture, while it has a session.
    pub fn server_pid(&self) -> rustix::process::Pid {
        let args = ["-L", &self.socket, "display-message", "-p", "#{pid}"];
        let output = Command::new("tmux").args(args).env_remove("TMUX").output().unwrap();
        let pid = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
        rustix::process::Pid::from_raw(pid).unwrap()
    }

    pub fn launcher(&self) -> WorkerLauncher {
        WorkerLauncher::new().on(self.tmux.clone()).with_status_dir(self.status_dir())
    }

    /// A worker by the launcher of this text, in the session `w-<id>`.
    pub fn request(&self, id: &str, text: &str) -> SpawnRequest {
        let launcher = self.script(&format!("launch-{id}"), text);
        let config = LaunchConfig::new(launcher, format!("w-{id}"), self.workspace(), "sonnet");
        SpawnRequest::new(id, config.with_timeout(LONG.as_secs()))
    }

    /// An executable file.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join("bin").join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Drop for Fixture {
    /// Ends the server of this socket and nothing else.
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).env_remove("TMUX").output();
        let _ = std::fs::remove_file(self.tmux.socket_path());
    }
}

/// Waits until there is a result.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut ask: impl FnMut() -> F) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG, asking).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// A launcher as the contract wants it, with this command as its agent.
pub fn good_launcher(agent: &str) -> String {
    format!(
        r#"#!/bin/sh
tmux new-session -d -s "$1" -c "$FORGE_WORKSPACE" -e FORGE_WORKER_ID="$FORGE_WORKER_ID" -e DIR="$DIR" -- \
    sh -c '{agent}'
printf '{{"pid": %s, "session": "%s", "model": "%s"}}\n' \
    "$(tmux display-message -p -t "=$1:" '#{{pane_pid}}')" "$1" "$FORGE_MODEL"
"#
    )
}

pub async fn content_of(path: &Path) -> String {
    let what = path.display().to_string();
    until(&what, async || std::fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'))).await
}
