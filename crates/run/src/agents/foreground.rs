//! An agent's own program at a person's terminal, as it runs without Forge.
//!
//! Owns how a program gets its first prompt. Invariants: a prompt is one whole argument that cannot be mistaken for
//! an option; nothing is granted that the person did not ask for, whatever the profile grants to unattended agents;
//! the program shares the terminal's process group, so Ctrl-C reaches it and not us.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use forge_types::Executor;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncWriteExt;
use tokio::signal::unix::{SignalKind, signal};

use super::profiles::Options;
use super::{ALL, LaunchContext, Plan, PlanError, Request, agent, params};
use crate::StdinPlan;

/// How an agent is started at a terminal.
pub(super) enum TerminalStart {
    /// Its own program, which a person uses at the terminal.
    Program {
        prompt: PromptArg,
        /// The argument that lets it work without questions.
        grant: &'static str,
        /// Profile options that are arguments here.
        switches: &'static [(&'static str, &'static [&'static str])],
    },
    /// The same way as without a person.
    Unchanged,
}

/// Where the prompt goes on the command line.
pub(super) enum PromptArg {
    /// After everything else and `--`.
    Last,
    /// As the value of an option, in the same word.
    In(&'static str),
}

/// Why an agent cannot run in the foreground.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForegroundError {
    #[error("{executor} cannot be run directly; these can: {known}")]
    NoForm { executor: Executor, known: String },
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// A program that is ready to take over the terminal.
#[derive(Debug, PartialEq)]
pub struct Foreground {
    program: PathBuf,
    args: Vec<String>,
    env: Vec<(String, String)>,
    /// What it reads instead of the keyboard.
    input: Option<String>,
}

/// How `executor` is started at a terminal. `grant` lets it work without asking.
pub fn plan_foreground(
    executor: Executor,
    options: &Options,
    prompt: &str,
    grant: bool,
    place: &LaunchContext<'_>,
) -> Result<Foreground, ForegroundError> {
    let request = Request::New { prompt };
    let agent = agent(executor);
    let (put, granting, switches) = match &agent.foreground {
        None => return Err(ForegroundError::NoForm { executor, known: known() }),
        Some(TerminalStart::Unchanged) => {
            let Plan { program, args, env, stdin, .. } = agent.plan(options, request, place)?;
            let input = match stdin {
                StdinPlan::Feed { text } => Some(text),
                StdinPlan::Closed | StdinPlan::Duplex { .. } => None,
            };
            return Ok(Foreground { program, args, env, input });
        }
        Some(TerminalStart::Program { prompt, grant, switches }) => (prompt, *grant, *switches),
    };
    let mut command = agent.base(options, place)?;
    for (option, args) in switches {
        if options.is_on(option) {
            command.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        }
    }
    if grant {
        command.args.push(granting.to_owned());
    }
    if let Some(model) = options.model() {
        command.args.extend(["--model".to_owned(), model.to_owned()]);
    }
    command.args.extend(params(options)?);
    let prompt = request.prompt_with(options);
    match put {
        PromptArg::Last => command.args.extend(["--".to_owned(), prompt]),
        PromptArg::In(option) => command.args.push(format!("{option}={prompt}")),
    }
    let Plan { program, args, env, .. } = command.plan(Vec::new(), StdinPlan::Closed, None);
    Ok(Foreground { program, args, env, input: None })
}

/// The agents that can run in the foreground, by name.
fn known() -> String {
    let able = ALL.iter().filter(|agent| agent.foreground.is_some());
    let mut known: Vec<&str> = able.map(|agent| agent.executor.as_str()).collect();
    known.sort_unstable();
    known.join(", ")
}

impl Foreground {
    /// Runs it to its end in a directory and returns its exit code, as a shell would report it.
    pub async fn attend(self, dir: &Path) -> io::Result<u8> {
        // The terminal sends these to both processes, but they are meant for the program only.
        let _interrupts = signal(SignalKind::interrupt())?;
        let _quits = signal(SignalKind::quit())?;
        let mut ends = signal(SignalKind::terminate())?;
        let mut command = tokio::process::Command::new(&self.program);
        command.args(&self.args).envs(self.env).current_dir(dir);
        if self.input.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn()?;
        let pid = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        if let (Some(input), Some(mut stdin)) = (self.input, child.stdin.take()) {
            // It may end before it has read everything.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        loop {
            tokio::select! {
                ended = child.wait() => return ended.map(code_of),
                _ = ends.recv() => {
                    // Not reaped yet, so the pid is still the program's.
                    if let Some(pid) = pid {
                        let _ = kill_process(pid, Signal::TERM);
                    }
                }
            }
        }
    }
}

fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{Agents, Profiles};
    use std::os::unix::fs::PermissionsExt;

    /// The arguments of an agent whose program is installed.
    fn args(profile: &str, prompt: &str, grant: bool) -> Result<Vec<String>, ForegroundError> {
        let dir = tempfile::tempdir().unwrap();
        for name in ["claude", "codex", "gemini"] {
            let file = dir.path().join(name);
            std::fs::write(&file, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let (profile, options) =
            Profiles::built_in().find(&profile.parse().unwrap(), &Agents::default()).unwrap();
        let place = LaunchContext {
            worktree: dir.path(),
            forge_exe: Path::new("/forge"),
            path_env: dir.path().as_os_str(),
        };
        Ok(plan_foreground(profile.executor, &options, prompt, grant, &place)?.args)
    }

    #[test]
    fn a_prompt_is_never_an_option_and_nothing_is_granted_unasked() {
        assert_eq!(args("CLAUDE_CODE", "--yolo", false).unwrap(), ["--", "--yolo"]);
        assert_eq!(args("CLAUDE_CODE:PLAN", "x", false).unwrap(), ["--permission-mode", "plan", "--", "x"]);
        assert_eq!(
            args("CODEX", "x", true).unwrap(),
            ["--dangerously-bypass-approvals-and-sandbox", "--", "x"]
        );
        assert_eq!(
            args("GEMINI:FLASH", "-x", false).unwrap(),
            ["--model", "gemini-2.5-flash", "--prompt-interactive=-x"]
        );
    }

    #[test]
    fn an_agent_that_cannot_run_at_a_terminal_is_refused_with_those_that_can() {
        let error = args("ACP", "x", false).unwrap_err().to_string();
        assert!(error.starts_with("ACP cannot be run directly; these can: CLAUDE_CODE, CODEX"), "{error}");
    }

    #[test]
    fn an_end_by_a_signal_is_reported_as_a_shell_does() {
        assert_eq!(code_of(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(code_of(ExitStatus::from_raw(2)), 130);
    }
}
