//! Tests a launcher against the contract and explains what is wrong with it.
//!
//! Owns a tmux server and a workspace during the check. Invariant: nothing remains of the check, not even what the
//! launcher under test leaves behind, and no other tmux server is used.

mod fault;
mod stage;

use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_types::WITHHELD;
use forge_types::wire::CallStyle;

use super::answer::{self, Answer, Output};
use super::call::{Call, Called};
use super::{LaunchConfig, LauncherError, SpawnRequest, read_table};
use crate::tmux::{Session, TmuxError};
use stage::Stage;

pub use fault::{Fault, Severity};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for the agent to appear in a new pane.
const APPEARANCE: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A check to run.
#[derive(Clone, Debug)]
pub struct Check {
    launcher: PathBuf,
    style: CallStyle,
    timeout: Duration,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub faults: Vec<Fault>,
    /// What the launcher printed, for people to look at.
    pub stdout: String,
    pub stderr: String,
}

impl Findings {
    /// Whether Forge can start workers with it.
    pub fn is_usable(&self) -> bool {
        self.faults.iter().all(|fault| fault.severity() == Severity::Warning)
    }

    fn of(fault: Fault) -> Findings {
        Findings { faults: vec![fault], ..Findings::default() }
    }
}

impl Check {
    pub fn new(launcher: impl Into<PathBuf>) -> Check {
        Check { launcher: launcher.into(), style: CallStyle::default(), timeout: DEFAULT_TIMEOUT }
    }

    pub fn with_style(mut self, style: CallStyle) -> Check {
        self.style = style;
        self
    }

    pub fn with_timeout(mut self, timeout: Duration) -> Check {
        self.timeout = timeout;
        self
    }

    /// Runs the launcher once. An error means that the check could not run, which is not the launcher's fault.
    pub async fn run(&self) -> Result<Findings, TmuxError> {
        let launcher = match std::path::absolute(&self.launcher) {
            Ok(path) => path,
            Err(_) => self.launcher.clone(),
        };
        if let Some(fault) = fault_of_file(&launcher) {
            return Ok(Findings::of(fault));
        }
        let stage = Stage::set().await?;
        let config = LaunchConfig::new(&launcher, stage.session_name(), stage.workspace(), "sonnet")
            .with_style(self.style)
            .with_timeout(self.timeout.as_secs().max(1));
        let withheld = WITHHELD.map(str::to_owned).into();
        let request = SpawnRequest { worker_id: stage.worker_id().to_string(), config, withheld };
        let findings = self.try_out(&stage, &request).await;
        let left = stage.strike().await?;
        let mut findings = findings?;
        if !left.is_empty() {
            findings.faults.push(Fault::LeavesProcesses { names: left });
        }
        Ok(findings)
    }

    async fn try_out(&self, stage: &Stage, request: &SpawnRequest) -> Result<Findings, TmuxError> {
        let config = &request.config;
        let variables = request.variables(Some(&stage.status_dir()));
        let call = Call {
            launcher: &config.launcher,
            arguments: config.arguments(),
            variables: &variables,
            withheld: &request.withheld,
            workspace: &config.workspace,
            tmux: stage.tmux(),
            timeout: self.timeout,
        };
        // As for workers: this server is there before the launcher.
        stage.tmux().pass_on(variables.keys()).await?;
        let called = match call.run().await {
            Ok(called) => called,
            Err(LauncherError::Timeout { secs }) => return Ok(Findings::of(Fault::Hangs { secs })),
            Err(error) => return Ok(Findings::of(Fault::Fails { message: error.to_string() })),
        };
        let mut faults = Vec::new();
        if let Some(answer) = judge(&called, &mut faults) {
            look_at_session(stage, &answer, &mut faults).await?;
        }
        Ok(Findings { faults, stdout: called.stdout, stderr: called.stderr })
    }
}

/// What is wrong before anything is run.
fn fault_of_file(path: &Path) -> Option<Fault> {
    use std::io::Read;
    if !path.is_file() {
        return Some(Fault::Missing);
    }
    if rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_err() {
        return Some(Fault::NotExecutable);
    }
    let mut begin = Vec::new();
    // A file that is executable but unreadable is left to the kernel.
    let file = std::fs::File::open(path).ok()?;
    file.take(256).read_to_end(&mut begin).ok()?;
    let line = begin.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if line.starts_with(b"#!") {
        return line.ends_with(b"\r").then_some(Fault::WindowsLineEnds);
    }
    // A program, for Linux or macOS.
    let programs: [&[u8]; 4] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xfe\xed\xfa\xcf"];
    (!programs.iter().any(|magic| begin.starts_with(magic))).then_some(Fault::NoShebang)
}

/// The launcher's report. None if it reported a failure.
fn judge(called: &Called, faults: &mut Vec<Fault>) -> Option<Answer> {
    if let Err(LauncherError::LauncherFailed { message }) = super::spawn::judge(called, "")
        && (!called.status.success() || matches!(answer::parse(&called.stdout), Output::Json(_)))
    {
        faults.push(Fault::Fails { message });
        return None;
    }
    match answer::parse(&called.stdout) {
        Output::Json(answer) => {
            if answer.pid.is_none() {
                faults.push(Fault::NoPid);
            }
            Some(answer)
        }
        Output::Name(name) => {
            faults.push(Fault::NoJson { printed: name.clone() });
            Some(Answer { session: Some(name), ..Answer::default() })
        }
        Output::Nothing => {
            faults.push(Fault::NoJson { printed: String::new() });
            Some(Answer::default())
        }
        Output::Text(text) => {
            faults.push(Fault::NoAnswer { printed: text });
            Some(Answer::default())
        }
    }
}

/// Whether the session exists, is the worker's, and has the agent in it.
async fn look_at_session(stage: &Stage, answer: &Answer, faults: &mut Vec<Fault>) -> Result<(), TmuxError> {
    let wanted = answer.session.clone().unwrap_or_else(|| stage.session_name());
    let made = stage.made().await?;
    let Some(session) = made.iter().find(|session| session.name == wanted) else {
        faults.push(match made.first() {
            Some(other) => Fault::OtherSession { wanted, made: other.name.clone() },
            None => Fault::NoSession { wanted },
        });
        return Ok(());
    };
    if !appears(stage, session).await {
        faults.push(Fault::NoVariables);
    }
    let table = read_table().await;
    if table.is_prompt(session.pane_pid) {
        faults.push(Fault::AgentInShell);
    }
    if let Some(pid) = answer.pid
        && !table.tree(session.pane_pid).iter().any(|entry| entry.identity.pid == pid)
    {
        faults.push(Fault::WrongPid { pid, pane_pid: session.pane_pid });
    }
    Ok(())
}

/// Whether the worker's variables are in the environment of something that runs in the pane.
async fn appears(stage: &Stage, session: &Session) -> bool {
    let looking = async {
        while !stage.has_variables(session).await {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    tokio::time::timeout(APPEARANCE, looking).await.is_ok()
}
