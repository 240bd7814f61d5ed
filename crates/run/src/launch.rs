//! Launching a run: a directory, a spec, a keeper, a handshake.
//!
//! Invariant: the result is either a living run and a connection to it, or an error and no process. The keeper does
//! not depend on us: it creates its own session and detaches from our streams, and we reap it if it ends while we
//! live.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use forge_os::process::{Identity, Signal};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::gone::{RunProcesses, end_leftovers};
use crate::journal::{Kind, Writer};
use crate::keeper::end_payload;
use crate::link::Handshake;
use crate::state::State;
use crate::{Exit, ExitReason, Live, Spec, socket};

pub(crate) const SPEC_FILE: &str = "spec.json";
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The whole stop ladder, in case the agent was started but the handshake failed.
const END_TIMEOUT: Duration = Duration::from_secs(8);
const MAX_HANDSHAKE_BYTES: u64 = 64 * 1024;

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The agent could not be started; the journal contains the reason too.
    #[error("the agent could not be started: {message}")]
    Agent { message: String, not_found: bool },
    #[error("{path}: the disk is full", path = path.display())]
    DiskFull { path: PathBuf },
    #[error("the keeper could not be started: {message}")]
    Keeper { message: String },
}

/// Starts `exe keep <dir>` and returns when the agent runs. `dir` must not have had a run before.
pub async fn launch(exe: &Path, dir: &Path, spec: &Spec) -> Result<Live, LaunchError> {
    write_spec(dir, spec).map_err(|e| explain(dir, &e))?;
    let started = start(exe, dir, &spec.env_remove).await;
    if started.is_err() {
        // The keeper has removed it, unless it never got that far.
        let _ = fs::remove_file(dir.join(SPEC_FILE));
    }
    started
}

/// Records in the log how a run ended that never got a keeper, as a keeper does. An existing log already contains it.
pub async fn record_failed_start(dir: &Path, exit: &Exit) {
    let record = || -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let mut journal = Writer::create(dir)?;
        append_failed_start(&mut journal, exit)
    };
    match record() {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            tracing::warn!(dir = %dir.display(), %error, "cannot record why a run did not start");
        }
        _ => {}
    }
}

/// Why there is no agent, for people, and the end of the log, for programs.
pub(crate) fn append_failed_start(journal: &mut Writer, exit: &Exit) -> io::Result<()> {
    if let ExitReason::NeverStarted { message, .. } = &exit.reason {
        let text = format!("Failed to start execution: {message}\n");
        journal.append(Kind::Note, exit.at_ms, text.as_bytes())?;
    }
    journal.append(Kind::End, exit.at_ms, &end_payload(exit))?;
    journal.sync()
}

/// The keeper lives as long as its agent, whose programs can read its environment, so it gets no more variables
/// than the agent.
async fn start(exe: &Path, dir: &Path, withheld: &[String]) -> Result<Live, LaunchError> {
    let mut command = Command::new(exe);
    command.arg("keep").arg(dir).stdin(Stdio::null()).stdout(Stdio::piped());
    for name in withheld {
        command.env_remove(name);
    }
    let spawned = command.spawn();
    let mut child =
        spawned.map_err(|e| LaunchError::Keeper { message: format!("cannot run {}: {e}", exe.display()) })?;
    let handshake = timeout(HANDSHAKE_TIMEOUT, read_handshake(&mut child)).await;
    match handshake {
        Ok(Ok(Handshake::Started(agent))) => {
            // A short run may be over by now; its records then contain the rest.
            let stream = socket::connect(dir).await.ok();
            // It has not been reaped yet, so it is in the process table even if it has already exited.
            let seen = child.id().and_then(Identity::of);
            let keeper = seen.or_else(|| State::read(dir).ok()?.map(|state| state.keeper)).unwrap_or(agent);
            reap(child);
            Ok(Live::new(dir, RunProcesses { keeper, agent: Some(agent) }, stream))
        }
        Ok(Ok(Handshake::Failed { reason, not_found })) => {
            reap(child);
            Err(LaunchError::Agent { message: reason, not_found })
        }
        Ok(Ok(Handshake::Broken { reason, disk_full })) => {
            reap(child);
            Err(if disk_full {
                LaunchError::DiskFull { path: dir.to_owned() }
            } else {
                LaunchError::Keeper { message: reason }
            })
        }
        Ok(Err(e)) => {
            end_failed_launch(child, dir).await;
            Err(LaunchError::Keeper { message: format!("{}: no handshake: {e}", exe.display()) })
        }
        Err(_) => {
            end_failed_launch(child, dir).await;
            let message = format!("{}: no handshake within {} s", exe.display(), HANDSHAKE_TIMEOUT.as_secs());
            Err(LaunchError::Keeper { message })
        }
    }
}

async fn read_handshake(child: &mut Child) -> io::Result<Handshake> {
    let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut line = String::new();
    BufReader::new(stdout.take(MAX_HANDSHAKE_BYTES)).read_line(&mut line).await?;
    if line.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ended without a message"));
    }
    Ok(serde_json::from_str(&line)?)
}

/// Prevents a zombie: we must wait for the keeper as long as we are its parent.
fn reap(mut child: Child) {
    tokio::spawn(async move {
        let _ = child.wait().await;
    });
}

/// Ends a keeper whose launch failed, and whatever it may have started.
async fn end_failed_launch(mut child: Child, dir: &Path) {
    if let Some(keeper) = child.id().and_then(Identity::of) {
        keeper.signal(Signal::TERM);
    }
    if timeout(END_TIMEOUT, child.wait()).await.is_err() {
        let _ = child.kill().await;
    }
    let _ = end_leftovers(dir).await;
}

fn write_spec(dir: &Path, spec: &Spec) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let path = dir.join(SPEC_FILE);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let written = serde_json::to_vec(spec).map_err(io::Error::from).and_then(|text| file.write_all(&text));
    if written.is_err() {
        let _ = fs::remove_file(&path);
    }
    written
}

fn explain(dir: &Path, error: &io::Error) -> LaunchError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            LaunchError::DiskFull { path: dir.to_owned() }
        }
        _ => LaunchError::Keeper { message: format!("{}: {error}", dir.join(SPEC_FILE).display()) },
    }
}
