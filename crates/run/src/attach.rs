//! Finding runs again after a restart.
//!
//! Invariant: a keeper counts as alive only if pid, start time and boot agree with what it wrote down; an end is
//! believed only from the keeper's own records. A launch that never got as far as an agent is revoked, so that
//! *never launched* stays true after it has been said.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, sleep};

use crate::journal::{Kind, Reader};
use crate::launch::SPEC_FILE;
use crate::process::Identity;
use crate::state::{Phase, State};
use crate::{Exit, Live, socket, tree};

const PAUSE: Duration = Duration::from_millis(20);
/// How long a keeper that lives may take to be reachable.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
const TERM_PATIENCE: Duration = Duration::from_secs(2);
const KILL_PATIENCE: Duration = Duration::from_secs(3);
/// A keeper that is told to stop goes through the whole ladder.
const LADDER_PATIENCE: Duration = Duration::from_secs(8);
const SCAN_BYTES: usize = 256 * 1024;

/// What has become of a run.
#[derive(Debug)]
pub enum Found {
    Live(Live),
    Ended(Exit),
    /// There never was an agent, and there will be none.
    NeverLaunched,
    /// The keeper is gone and left no word of the end.
    Vanished,
}

/// Looks what has become of the run in `dir`.
pub async fn find(dir: &Path) -> Found {
    let patience = Instant::now() + CONNECT_PATIENCE;
    loop {
        let state = match State::read(dir) {
            Ok(Some(state)) => state,
            Ok(None) if fs::remove_file(dir.join(SPEC_FILE)).is_ok() => return Found::NeverLaunched,
            // Without a spec either it was never written, or the keeper took it and wrote its state just now.
            Ok(None) => match State::read(dir) {
                Ok(None) => return Found::NeverLaunched,
                _ => continue,
            },
            Err(_) => return ended_or_vanished(dir).await,
        };
        if let Some(exit) = state.exit.clone() {
            return Found::Ended(exit);
        }
        if !state.is_kept() {
            return ended_or_vanished(dir).await;
        }
        if state.phase == Phase::Live
            && let Some(agent) = state.agent
            && let Ok(stream) = socket::connect(dir).await
        {
            return Found::Live(Live::new(dir, agent, Some(stream)));
        }
        if Instant::now() >= patience {
            return Found::Vanished;
        }
        sleep(PAUSE).await;
    }
}

async fn ended_or_vanished(dir: &Path) -> Found {
    recorded_exit(dir).await.map_or(Found::Vanished, Found::Ended)
}

/// The end as the keeper recorded it, in its state or, had it no time for that, in the journal.
pub(crate) async fn recorded_exit(dir: &Path) -> Option<Exit> {
    let dir = dir.to_owned();
    let search = move || match State::read(&dir) {
        Ok(Some(State { exit: Some(exit), .. })) => Some(exit),
        _ => end_record(&dir).ok().flatten(),
    };
    tokio::task::spawn_blocking(search).await.ok().flatten()
}

fn end_record(dir: &Path) -> io::Result<Option<Exit>> {
    let mut reader = Reader::open(dir)?;
    let mut records = Vec::new();
    loop {
        records.clear();
        reader.read(SCAN_BYTES, &mut records)?;
        match records.last() {
            Some(record) if record.kind == Kind::End => return Ok(serde_json::from_slice(&record.bytes).ok()),
            Some(_) => {}
            None => return Ok(None),
        }
    }
}

/// Ends whatever survives of a vanished run, a keeper that cannot be reached included: TERM, then KILL.
pub async fn end_leftovers(dir: &Path) -> io::Result<()> {
    let Some(state) = State::read(dir)? else { return Ok(()) };
    if !state.is_this_boot() {
        return Ok(());
    }
    end_keeper(state.keeper).await;
    for (signal, patience) in [(Signal::TERM, TERM_PATIENCE), (Signal::KILL, KILL_PATIENCE)] {
        let patience = Instant::now() + patience;
        let mut signalled = Vec::new();
        while Instant::now() < patience {
            let left = tree::leftovers(state.keeper, state.agent);
            if left.is_empty() {
                return Ok(());
            }
            for process in left {
                if signal == Signal::KILL || !signalled.contains(&process) {
                    process.signal(signal);
                    signalled.push(process);
                }
            }
            sleep(PAUSE).await;
        }
    }
    let message = format!("{}: some processes of the run could not be ended", dir.display());
    Err(io::Error::new(io::ErrorKind::TimedOut, message))
}

async fn end_keeper(keeper: Identity) {
    for (signal, patience) in [(Signal::TERM, LADDER_PATIENCE), (Signal::KILL, KILL_PATIENCE)] {
        let patience = Instant::now() + patience;
        if keeper.is_alive() {
            keeper.signal(signal);
        }
        while keeper.is_alive() && Instant::now() < patience {
            sleep(PAUSE).await;
        }
    }
}
