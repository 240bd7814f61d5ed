//! The keeper: one small detached process that owns one agent.
//!
//! Owns: the start of a run (`keep`), from the spec to the handshake; `watch` contains the loop that follows. Plain
//! synchronous code in a single thread.
//! Invariant: the order of a start is spec, secrets, journal, socket, state *starting*, spec taken, agent, state
//! *live*, handshake. Removing the spec is the point of no return: whoever unlinks it, keeper or server, decides
//! whether there will be an agent. Environment values leave the spec only for the agent and, if they are secrets,
//! for the file that is used to mask its output.

mod agent;
mod clients;
mod input;
mod ladder;
mod output;
mod signals;
mod watch;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use forge_os::process::Identity;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use self::agent::Failure;
use self::clients::Clients;
use self::signals::Signals;
use self::watch::Watch;
use crate::journal::Writer;
use crate::launch::{SPEC_FILE, append_failed_start};
use crate::link::{Handshake, encode_line};
use crate::state::{Phase, State, boot_id};
use crate::{Exit, ExitReason, Secrets, Spec, secrets, socket};

/// Keeps the run whose spec is in `dir`; returns when the agent and all its descendants are gone.
pub fn keep(dir: &Path) -> ExitCode {
    match start(dir) {
        Ok(watch) => {
            watch.run();
            ExitCode::SUCCESS
        }
        Err(handshake) => {
            send_handshake(&handshake);
            ExitCode::FAILURE
        }
    }
}

fn start(dir: &Path) -> Result<Watch, Handshake> {
    let prepared = prepare(dir).map_err(|(what, e)| keeper_failure(dir, &what, &e))?;
    let Prepared { spec, command, signals, clients, mut journal, mut state } = prepared;
    let here = Path::new(".");
    match agent::spawn(command, &spec, state.keeper) {
        Ok(agent) => {
            state.agent = Some(agent.identity);
            state.phase = Phase::Live;
            // The agent runs and is recorded either way; without this only a server that attaches again has to wait
            // for its end.
            let _ = state.write(here);
            send_handshake(&Handshake::Started(agent.identity));
            detach_streams();
            Ok(Watch::new(&spec, agent, signals, clients, journal, state))
        }
        Err(Failure { message, not_found }) => {
            // Without an agent there is no output to mask.
            let _ = secrets::forget(here);
            let reason = ExitReason::NeverStarted { message: message.clone(), not_found };
            let exit = Exit { code: None, signal: None, reason, at_ms: now_ms() };
            let recorded = append_failed_start(&mut journal, &exit)
                .and_then(|()| State { phase: Phase::Ended, exit: Some(exit), ..state }.write(here));
            match recorded {
                Ok(()) => Err(Handshake::Failed { reason: message, not_found }),
                Err(e) => Err(keeper_failure(dir, "journal", &e)),
            }
        }
    }
}

struct Prepared {
    spec: Spec,
    command: Command,
    signals: Signals,
    clients: Clients,
    journal: Writer,
    state: State,
}

/// Everything up to the point of no return. Errors name the step.
fn prepare(dir: &Path) -> Result<Prepared, (String, io::Error)> {
    let step = |what: &str| {
        let what = what.to_owned();
        move |e: io::Error| (what, e)
    };
    // Fails only for a process that already leads its group, and that one has its own session.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|e| step("subreaper")(e.into()))?;
    std::env::set_current_dir(dir).map_err(step("directory"))?;
    let here = Path::new(".");
    let text = fs::read(SPEC_FILE).map_err(step(SPEC_FILE))?;
    let spec: Spec = serde_json::from_slice(&text).map_err(|e| step(SPEC_FILE)(e.into()))?;
    let command = agent::command(&spec);
    Secrets::add(here, agent::environment(&command)).map_err(step("secrets"))?;
    let signals = Signals::catch().map_err(step("signals"))?;
    let journal = Writer::create(here).map_err(step("journal"))?;
    let clients = Clients::new(socket::bind_here().map_err(step("sock"))?);
    let keeper = Identity::own().ok_or_else(|| step("process table")(io::ErrorKind::NotFound.into()))?;
    let state = State {
        phase: Phase::Starting,
        boot_id: boot_id(),
        keeper,
        agent: None,
        started_ms: now_ms(),
        exit: None,
    };
    state.write(here).map_err(step("state.json"))?;
    if let Err(e) = fs::remove_file(SPEC_FILE) {
        // The server has given up meanwhile and treats this run as never launched, so it must not start now.
        let _ = fs::remove_file("state.json");
        return Err((SPEC_FILE.to_owned(), e));
    }
    Ok(Prepared { spec, command, signals, clients, journal, state })
}

fn keeper_failure(dir: &Path, what: &str, error: &io::Error) -> Handshake {
    Handshake::Broken { reason: format!("{}: {what}: {error}", dir.display()), disk_full: is_full(error) }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The server may be gone by now; the run continues without it.
fn send_handshake(handshake: &Handshake) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(&encode_line(handshake)).and_then(|()| out.flush());
}

/// Detaches from the server's streams, so that neither process is affected by the end of the other.
fn detach_streams() {
    let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") else { return };
    let null: File = null;
    let _ = dup2_stdin(&null);
    let _ = dup2_stdout(&null);
    let _ = dup2_stderr(&null);
}

pub(crate) fn end_payload(exit: &Exit) -> Vec<u8> {
    serde_json::to_vec(exit).unwrap_or_default()
}

pub(crate) fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
