//! Starting the agent.
//!
//! Invariant: it leads its own process group, has our pipes as its streams and none of our other descriptors, and
//! carries the mark by which it is found again if the keeper is killed. When memory runs out, the system kills it
//! before the keeper.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use forge_os::process::Identity;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::tree::{MARK, mark};
use crate::{Spec, StdinPlan};

pub(super) struct Agent {
    pub(super) identity: Identity,
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: Option<OwnedFd>,
    pub(super) stderr: Option<OwnedFd>,
}

pub(super) struct Failure {
    pub(super) message: String,
    pub(super) not_found: bool,
}

/// The command to start, with its environment.
pub(super) fn command(spec: &Spec) -> Command {
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).current_dir(&spec.cwd).process_group(0);
    for name in &spec.env_remove {
        command.env_remove(name);
    }
    command.envs(spec.env.iter().map(|(name, value)| (name, value)));
    command
}

/// All variables that a command gets.
pub(super) fn environment(command: &Command) -> BTreeMap<OsString, OsString> {
    let mut found: BTreeMap<_, _> = std::env::vars_os().collect();
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => found.insert(name.to_owned(), value.to_owned()),
            None => found.remove(name),
        };
    }
    found
}

pub(super) fn spawn(mut command: Command, spec: &Spec, keeper: Identity) -> Result<Agent, Failure> {
    command.env(MARK, mark(keeper));
    let stdin = if spec.stdin == StdinPlan::Closed { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let spawned = with_raised_oom_score(|| command.spawn());
    let mut child = spawned.map_err(|e| explain(spec, &e))?;
    into_agent(&mut child)
        .map_err(|e| Failure { message: format!("cannot watch the agent: {e}"), not_found: false })
}

/// Children inherit the score by which the system selects a process when memory runs out, so it is raised for a
/// moment. Lowering it again needs no privilege. Where this is impossible, both have the same score.
fn with_raised_oom_score<T>(spawn: impl FnOnce() -> T) -> T {
    const FILE: &str = "/proc/self/oom_score_adj";
    const HIGHER: i32 = 200;
    const HIGHEST: i32 = 1000;
    let own = fs::read_to_string(FILE).ok().and_then(|text| text.trim().parse::<i32>().ok());
    if let Some(own) = own {
        let _ = fs::write(FILE, (own + HIGHER).min(HIGHEST).to_string());
    }
    let spawned = spawn();
    if let Some(own) = own {
        let _ = fs::write(FILE, own.to_string());
    }
    spawned
}

fn into_agent(child: &mut Child) -> io::Result<Agent> {
    // It cannot have been reaped yet, so it is in the process table even if it has already exited.
    let identity = Identity::of(child.id()).ok_or(io::ErrorKind::NotFound)?;
    let agent = Agent {
        identity,
        stdin: child.stdin.take().map(OwnedFd::from),
        stdout: child.stdout.take().map(OwnedFd::from),
        stderr: child.stderr.take().map(OwnedFd::from),
    };
    for pipe in [&agent.stdin, &agent.stdout, &agent.stderr].into_iter().flatten() {
        let flags = fcntl_getfl(pipe.as_fd())?;
        fcntl_setfl(pipe.as_fd(), flags | OFlags::NONBLOCK)?;
    }
    Ok(agent)
}

fn explain(spec: &Spec, error: &io::Error) -> Failure {
    let program = spec.program.display();
    // The system also returns "not found" for a missing directory or a missing interpreter.
    if !spec.cwd.is_dir() {
        return Failure {
            message: format!("the working directory {} does not exist", spec.cwd.display()),
            not_found: false,
        };
    }
    if error.kind() == io::ErrorKind::NotFound && !spec.program.exists() {
        return Failure {
            message: format!("Executable `{program}` not found; install it or correct its path"),
            not_found: true,
        };
    }
    Failure { message: format!("cannot run `{program}`: {error}"), not_found: false }
}
