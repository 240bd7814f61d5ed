//! The end of a run whose keeper is gone.
//!
//! Owns: ending what such a run left behind, and recording its end in place of the keeper. Invariant: nobody learns
//! of the end before every leftover process has ended, or the log names those that could not be ended; the end is
//! recorded once, however many find it and however often.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use forge_os::process::{Identity, Signal, command_of};
use rustix::fs::{FlockOperation, flock};
use tokio::time::{Instant, sleep};

use crate::journal::{Kind, Reader, View, Writer};
use crate::keeper::{end_payload, now_ms};
use crate::state::{Phase, State};
use crate::{Exit, ExitReason, tree};

const PAUSE: Duration = Duration::from_millis(20);
const TERM_PATIENCE: Duration = Duration::from_secs(2);
const KILL_PATIENCE: Duration = Duration::from_secs(3);
/// A keeper that receives TERM goes through the whole stop ladder.
const LADDER_PATIENCE: Duration = Duration::from_secs(8);
const SCAN_BYTES: usize = 256 * 1024;

/// The processes of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunProcesses {
    pub(crate) keeper: Identity,
    pub(crate) agent: Option<Identity>,
}

impl RunProcesses {
    /// `None` when the machine has been restarted since.
    fn of(state: &State) -> Option<RunProcesses> {
        state.is_this_boot().then_some(RunProcesses { keeper: state.keeper, agent: state.agent })
    }
}

/// Ends what is left of a run, including a keeper that cannot be reached, and returns how the run ended: as the
/// keeper recorded it, or else as recorded here.
pub(crate) async fn end_and_record(dir: &Path, processes: Option<RunProcesses>) -> Exit {
    let processes = processes.or_else(|| State::read(dir).ok().flatten().as_ref().and_then(RunProcesses::of));
    let survivors = match processes {
        Some(processes) => end_all(processes).await,
        None => Vec::new(),
    };
    let owned_dir = dir.to_owned();
    let recorded = tokio::task::spawn_blocking(move || record_end(&owned_dir, processes, &survivors)).await;
    match recorded.unwrap_or_else(|e| Err(io::Error::other(e))) {
        Ok(exit) => exit,
        Err(error) => {
            tracing::warn!(dir = %dir.display(), %error, "cannot record the end of a run whose keeper is gone");
            vanished()
        }
    }
}

/// Ends whatever is left of a run, including its keeper.
pub async fn end_leftovers(dir: &Path) -> io::Result<()> {
    let Some(processes) = State::read(dir)?.as_ref().and_then(RunProcesses::of) else { return Ok(()) };
    match end_all(processes).await[..] {
        [] => Ok(()),
        ref left => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("{}: {}", dir.display(), name_survivors(left)),
        )),
    }
}

/// Sends TERM, then KILL; returns the processes that still live after that.
async fn end_all(processes: RunProcesses) -> Vec<Identity> {
    end_keeper(processes.keeper).await;
    let mut left = Vec::new();
    for (signal, patience) in [(Signal::TERM, TERM_PATIENCE), (Signal::KILL, KILL_PATIENCE)] {
        let patience = Instant::now() + patience;
        let mut signalled = Vec::new();
        while Instant::now() < patience {
            let search = move || tree::leftovers(processes.keeper, processes.agent);
            left = tokio::task::spawn_blocking(search).await.unwrap_or_default();
            if left.is_empty() {
                return left;
            }
            for process in &left {
                if signal == Signal::KILL || !signalled.contains(process) {
                    process.signal(signal);
                    signalled.push(*process);
                }
            }
            sleep(PAUSE).await;
        }
    }
    left
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

/// The end as the keeper recorded it, in its state or, if it had no time for that, in the journal.
fn recorded_exit(dir: &Path) -> io::Result<Option<Exit>> {
    match State::read(dir) {
        Ok(Some(State { exit: Some(exit), .. })) => Ok(Some(exit)),
        _ => end_record(dir),
    }
}

fn end_record(dir: &Path) -> io::Result<Option<Exit>> {
    let mut reader = Reader::open(dir, View::Exact)?;
    let mut records = Vec::new();
    let mut exit = None;
    loop {
        reader.read(SCAN_BYTES, &mut records)?;
        if records.is_empty() {
            return Ok(exit);
        }
        let ends = records.drain(..).filter(|record| record.kind == Kind::End);
        exit = ends.filter_map(|end| serde_json::from_slice(&end.bytes).ok()).next_back().or(exit);
    }
}

/// Takes a lock, since several may find the end at once.
fn record_end(dir: &Path, processes: Option<RunProcesses>, survivors: &[Identity]) -> io::Result<Exit> {
    let here = match File::open(dir) {
        // The log was removed with everything else.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vanished()),
        here => here?,
    };
    flock(&here, FlockOperation::LockExclusive)?;
    if let Some(exit) = recorded_exit(dir)? {
        return Ok(exit);
    }
    let exit = vanished();
    let text = format!("{}\n", end_note(processes, survivors));
    // Readers skip a torn record at the end, so this may follow it.
    if let Some(mut journal) = Writer::append_to(dir)? {
        journal.append(Kind::Note, exit.at_ms, text.as_bytes())?;
        journal.append(Kind::End, exit.at_ms, &end_payload(&exit))?;
        journal.sync()?;
    }
    if let Ok(Some(state)) = State::read(dir) {
        State { phase: Phase::Ended, exit: Some(exit.clone()), ..state }.write(dir)?;
    }
    Ok(exit)
}

fn end_note(processes: Option<RunProcesses>, survivors: &[Identity]) -> String {
    let Some(RunProcesses { keeper, agent }) = processes else {
        let gone = "the machine was restarted, or the record of its processes is lost";
        return format!("This run no longer has a keeper: {gone}. Its end is unknown.");
    };
    let what = format!("The process that kept this run's log (pid {}) was killed or crashed", keeper.pid);
    match (survivors, agent) {
        ([], Some(_)) => format!("{what}; its agent was ended with it."),
        ([], None) => format!("{what} before its agent was started."),
        (left, _) => {
            format!(
                "{what}; {}. End them before anything else works in that directory.",
                name_survivors(left)
            )
        }
    }
}

fn name_survivors(left: &[Identity]) -> String {
    let names: Vec<_> =
        left.iter().map(|process| format!("{} (`{}`)", process.pid, command_of(process.pid))).collect();
    format!("these processes of the run could not be ended: {}", names.join(", "))
}

fn vanished() -> Exit {
    Exit { code: None, signal: None, reason: ExitReason::Vanished, at_ms: now_ms() }
}
