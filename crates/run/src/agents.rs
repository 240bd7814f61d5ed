//! Executors: data (profiles) plus a protocol (how a program is started and talked to).
//!
//! Owns what turns an executor id, its options and a request into a [`Plan`]. Invariant: planning creates nothing
//! and starts nothing of the user's; a plan names an existing program, or the caller gets an error that names what
//! is missing before any row or directory exists. User text only ever becomes whole arguments or stdin, never shell
//! source.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod acp;
mod agent;
mod amp;
mod claude;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod foreground;
mod gemini;
mod genie;
mod mcp;
mod opencode;
mod profiles;
mod program;
mod qwen;
mod readiness;
mod roster;
mod scripted;
mod shell;
mod survey;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use forge_types::Executor;

use crate::StdinPlan;
use crate::talk::ConversationPlan;

pub use agent::{Agent, Protocol, Software};
pub use foreground::{Foreground, ForegroundError, plan_foreground};
pub use genie::Agents;
pub use mcp::{Counts, McpError, Servers, read_mcp, write_mcp};
pub use profiles::{Options, ProfileError, Profiles};
use program::Program;
pub use readiness::{Readiness, found_acp_agent, found_agents};
pub use roster::Roster;
pub use scripted::{STOPPED, scripted_agent};
pub use survey::{Survey, SurveyedAgent, Tool, survey};

/// Everything needed to start a process: the program is resolved, nothing has been created.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub stdin: StdinPlan,
    /// How the conversation continues after the first lines of stdin; `None` for agents without a conversation.
    pub script: Option<ConversationPlan>,
}

/// What the agent is asked to do.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    New { prompt: &'a str },
    Resume { prompt: &'a str, session_id: &'a str },
}

impl<'a> Request<'a> {
    /// The prompt as the agent receives it.
    fn prompt_with(self, options: &Options) -> String {
        let (Request::New { prompt } | Request::Resume { prompt, .. }) = self;
        format!("{prompt}{}", options.append_prompt.as_deref().unwrap_or_default())
    }

    /// The conversation to continue.
    fn session(self) -> Option<&'a str> {
        match self {
            Request::New { .. } => None,
            Request::Resume { session_id, .. } => Some(session_id),
        }
    }
}

/// Where the process will run and where programs are searched.
#[derive(Clone, Copy, Debug)]
pub struct LaunchContext<'a> {
    pub worktree: &'a Path,
    pub forge_exe: &'a Path,
    pub path_env: &'a OsStr,
}

/// Why nothing can be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("Executable `{program}` not found in PATH; {remedy}")]
    NotFound { program: String, remedy: String },
    #[error(
        "base_command_override: is not set; {executor} has no program of its own, so its profile must name a command that speaks the Agent Client Protocol, such as `my-agent --acp`. Set it there, or choose another agent"
    )]
    NoCommand { executor: Executor },
    #[error("{field}: cannot be read as a command line: {value:?}; allowed: words with balanced quotes")]
    BadCommand { field: &'static str, value: String },
}

impl PlanError {
    fn not_found(program: &str, remedy: &str) -> PlanError {
        PlanError::NotFound { program: program.to_owned(), remedy: remedy.to_owned() }
    }
}

/// A program and the arguments it begins with.
struct Command {
    program: Program,
    args: Vec<String>,
}

/// Every agent, in the order of [`Executor::ALL`].
pub static ALL: [&Agent; Executor::ALL.len()] = [
    &claude::AGENT,
    &amp::AGENT,
    &gemini::AGENT,
    &codex::AGENT,
    &opencode::AGENT,
    &cursor::AGENT,
    &qwen::AGENT,
    &copilot::AGENT,
    &droid::AGENT,
    &acp::AGENT,
    &shell::AGENT,
    &scripted::AGENT,
];

// An executor without its agent, or in the wrong position, does not compile.
const _: () = {
    let mut at = 0;
    while at < ALL.len() {
        assert!(ALL[at].executor as usize == at, "ALL is not in the order of the executors");
        at += 1;
    }
};

/// What is known about an executor's agent.
pub fn agent(executor: Executor) -> &'static Agent {
    ALL[executor as usize]
}

/// How `executor` is started for `request`. May ask the user's login shell for its PATH, which can take seconds
/// once per process.
pub fn plan(
    executor: Executor,
    options: &Options,
    request: Request<'_>,
    place: &LaunchContext<'_>,
) -> Result<Plan, PlanError> {
    agent(executor).plan(options, request, place)
}

/// How the conversation with `executor` continues after its start. Needs no program, so it can be called at any
/// time.
pub fn script(
    executor: Executor,
    options: &Options,
    request: Request<'_>,
    worktree: &Path,
) -> Option<ConversationPlan> {
    agent(executor).script(options, request, worktree)
}

/// How a project's script is started: with the user's shell, without input.
pub fn plan_script(script: &str, place: &LaunchContext<'_>) -> Result<Plan, PlanError> {
    let own =
        std::env::var_os("SHELL").map(PathBuf::from).filter(|shell| shell.is_absolute() && shell.is_file());
    let shells = own.iter().map(PathBuf::as_path).chain(["zsh", "bash", "sh"].map(Path::new));
    let mut command = first_shell(shells, place)?;
    command.args.extend(["-c".to_owned(), script.to_owned()]);
    Ok(command.plan(Vec::new(), StdinPlan::Closed, None))
}

impl Command {
    fn plan(
        self,
        mut env: Vec<(String, String)>,
        stdin: StdinPlan,
        script: Option<ConversationPlan>,
    ) -> Plan {
        // A PATH that is not valid text is left as the child inherits it.
        if let Some(path) = self.program.path_env.and_then(|path| path.into_string().ok()) {
            env.push(("PATH".to_owned(), path));
        }
        Plan { program: self.program.file, args: self.args, env, stdin, script }
    }
}

fn npx(package: &str, place: &LaunchContext<'_>) -> Option<Command> {
    let program = program::find("npx", place)?;
    Some(Command { program, args: vec!["-y".to_owned(), package.to_owned()] })
}

/// The first shell that exists.
fn first_shell<'a>(
    names: impl IntoIterator<Item = &'a Path>,
    place: &LaunchContext<'_>,
) -> Result<Command, PlanError> {
    let find = |name: &Path| program::find_in(name, place.path_env, place.worktree);
    let file = names.into_iter().find_map(find);
    let file = file.ok_or_else(|| PlanError::not_found("sh", "add the directory of a shell to PATH"))?;
    Ok(Command { program: Program { file, path_env: None }, args: Vec::new() })
}

/// The profile's own command, if it names one.
fn overridden(options: &Options, place: &LaunchContext<'_>) -> Result<Option<Command>, PlanError> {
    let Some(line) = options.base_command_override.as_deref() else { return Ok(None) };
    let words = split("base_command_override", line)?;
    let Some((name, args)) = words.split_first() else {
        return Err(PlanError::BadCommand { field: "base_command_override", value: line.to_owned() });
    };
    let remedy = "correct base_command_override in the profile or install the program";
    let program = program::find(name, place).ok_or_else(|| PlanError::not_found(name, remedy))?;
    Ok(Some(Command { program, args: args.to_vec() }))
}

/// The profile's additional arguments; each may contain several words, as on a command line.
fn params(options: &Options) -> Result<Vec<String>, PlanError> {
    let words = options.additional_params.iter().map(|param| split("additional_params", param));
    Ok(words.collect::<Result<Vec<_>, _>>()?.concat())
}

fn split(field: &'static str, line: &str) -> Result<Vec<String>, PlanError> {
    shlex::split(line).ok_or_else(|| PlanError::BadCommand { field, value: line.to_owned() })
}

#[cfg(test)]
mod tests;
