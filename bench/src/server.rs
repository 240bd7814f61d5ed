//! A server under measurement: how it is launched, where it listens, its process.
//!
//! `Launch` is kept so that a killed server can be started again with the same data and port. The server's output goes
//! to a log file beside the results.

use std::ffi::OsString;
use std::fs::File;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use tokio::process::{Child, Command};

use crate::client::Client;
use crate::processes;

const START_LIMIT: Duration = Duration::from_secs(30);
const SETTLE: Duration = Duration::from_secs(2);
/// Short, because the time of a restart is a figure.
const HEALTH_POLL: Duration = Duration::from_millis(2);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Peer,
    Forge,
}

impl Side {
    pub fn name(self) -> &'static str {
        match self {
            Side::Peer => "peer",
            Side::Forge => "forge",
        }
    }
}

pub struct Launch {
    pub side: Side,
    pub command: Vec<OsString>,
    pub envs: Vec<(OsString, OsString)>,
    /// Directory below which the server keeps its data.
    pub home: PathBuf,
    pub log: PathBuf,
    /// The file that runs, as `/proc/<pid>/exe` names it.
    pub program: PathBuf,
    pub port: u16,
    /// Mark of the processes of this run.
    pub run: String,
}

pub struct Server {
    pub launch: Launch,
    pub client: Client,
    pub fresh_mb: f64,
    child: Child,
    pid: u32,
}

impl Server {
    pub async fn start(launch: Launch) -> Result<Server> {
        let (child, pid) = spawn(&launch)?;
        let client = Client::new(launch.port);
        let mut server = Server { launch, client, fresh_mb: 0.0, child, pid };
        server.wait_healthy().await?;
        tokio::time::sleep(SETTLE).await;
        server.fresh_mb = processes::resident_mb(server.pid);
        Ok(server)
    }

    pub fn side(&self) -> Side {
        self.launch.side
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    async fn wait_healthy(&mut self) -> Result<()> {
        let deadline = tokio::time::Instant::now() + START_LIMIT;
        while tokio::time::Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended at start ({status}); see {}", self.side().name(), self.launch.log.display());
            }
            if self.client.get("/api/health").await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(HEALTH_POLL).await;
        }
        bail!(
            "{} did not answer within {START_LIMIT:?}; see {}",
            self.side().name(),
            self.launch.log.display()
        )
    }

    /// Kills the server alone, as a crash would.
    pub async fn crash(&mut self) -> Result<()> {
        self.child.kill().await.context("kill the server")
    }

    /// Starts the server again on the same data and port; returns how long it took until it answered.
    pub async fn restart(&mut self) -> Result<Duration> {
        let begin = Instant::now();
        (self.child, self.pid) = spawn(&self.launch)?;
        self.client = Client::new(self.launch.port);
        self.wait_healthy().await?;
        Ok(begin.elapsed())
    }

    /// Holds the server still, so that what it does on its own does not slow the other one down.
    pub fn pause(&self) {
        processes::signal(self.pid, Signal::STOP);
    }

    pub fn resume(&self) {
        processes::signal(self.pid, Signal::CONT);
    }

    pub async fn stop(mut self) {
        self.halt().await;
    }

    /// Ends the server as a user would; `restart` starts it again.
    pub async fn halt(&mut self) {
        self.resume();
        processes::signal(self.pid, Signal::TERM);
        if tokio::time::timeout(Duration::from_secs(5), self.child.wait()).await.is_err() {
            let _ = self.child.kill().await;
        }
    }
}

fn spawn(launch: &Launch) -> Result<(Child, u32)> {
    let log = File::options().create(true).append(true).open(&launch.log)?;
    let (program, args) = launch.command.split_first().context("empty command")?;
    let child = Command::new(program)
        .args(args)
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("DATABASE_URL")
        .envs(launch.envs.iter().map(|(key, value)| (key, value)))
        .env("HOST", "127.0.0.1")
        .env("BACKEND_PORT", launch.port.to_string())
        .env("PORT", launch.port.to_string())
        .env("DISABLE_BROWSER_OPEN", "1")
        .env(processes::MARK, &launch.run)
        .current_dir(&launch.home)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("start {}", program.display()))?;
    let pid = child.id().context("the server ended at once")?;
    Ok((child, pid))
}

/// A port nothing listens on just now.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
