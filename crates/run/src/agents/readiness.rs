//! Whether an agent can be used on this machine: whether it starts, whether it is logged in, and what to do if not.
//!
//! Owns that judgement; whatever shows agents to people asks here. Invariant: it depends only on what a survey
//! found, and it names variables, never their values.

use std::path::Path;

use forge_types::{AgentSource, AgentState, Executor, FoundAgent};

use super::survey::SurveyedAgent;
use super::{LaunchContext, agent, program};

/// The first thing that keeps an agent from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    Missing,
    /// It is installed but does not report its version.
    Broken,
    /// Neither a key nor a login was found.
    LoggedOut,
    Ready,
}

impl SurveyedAgent {
    pub fn readiness(&self) -> Readiness {
        match (&self.found, &self.version) {
            (None, _) => Readiness::Missing,
            (Some(_), None) => Readiness::Broken,
            _ if self.keys.is_empty() && self.login.is_none() => Readiness::LoggedOut,
            _ => Readiness::Ready,
        }
    }

    /// The command that fixes it; `None` for an agent that is ready.
    pub fn fix(&self) -> Option<String> {
        match self.readiness() {
            Readiness::Missing | Readiness::Broken => Some(self.software.install.to_owned()),
            Readiness::LoggedOut => self.log_in(),
            Readiness::Ready => None,
        }
    }

    /// The command that asks a person to log in; `None` for a program that is not installed.
    fn log_in(&self) -> Option<String> {
        let (whence, _) = self.found.as_ref()?;
        let program = match (whence, self.software.package) {
            (AgentSource::Npx, Some(package)) => format!("npx -y {package}"),
            _ => self.software.program.to_owned(),
        };
        Some([&[program.as_str()], self.software.log_in].concat().join(" "))
    }

    /// The state as one word. Nobody is asked to log in to a program that is not installed.
    fn state(&self) -> AgentState {
        match (self.readiness(), &self.found) {
            (Readiness::Missing, _) | (Readiness::LoggedOut, Some((AgentSource::Npx, _))) => {
                AgentState::NotInstalled
            }
            (Readiness::Broken, _) => AgentState::NotWorking,
            (Readiness::LoggedOut, _) => AgentState::NotLoggedIn,
            (Readiness::Ready, _) => AgentState::Ready,
        }
    }

    fn found_agent(&self) -> FoundAgent {
        FoundAgent {
            executor: self.about.executor,
            name: self.about.name.to_owned(),
            program: self.software.program.to_owned(),
            protocol: self.about.protocol().as_str().to_owned(),
            found: self.found.as_ref().map(|(source, _)| *source),
            path: self.found.as_ref().map(|(_, file)| file.clone()),
            version: self.version.clone(),
            keys: self.keys.iter().map(|&key| key.to_owned()).collect(),
            logged_in: self.login.is_some(),
            ready: self.readiness() == Readiness::Ready,
            state: self.state(),
            install: self.software.install.to_owned(),
            log_in: self.log_in(),
        }
    }
}

/// The agents of a survey and the built-in ones, in the order in which executors are listed. `ACP` is not among
/// them: only a profile names its program, see [`found_acp_agent`].
pub fn found_agents(agents: &[SurveyedAgent], forge_exe: &Path) -> Vec<FoundAgent> {
    let found = |executor: &Executor| match executor {
        Executor::Shell => Some(shell()),
        Executor::Scripted => Some(scripted(forge_exe)),
        executor => {
            agents.iter().find(|seen| seen.about.executor == *executor).map(SurveyedAgent::found_agent)
        }
    };
    Executor::ALL.iter().filter_map(found).collect()
}

/// The agent behind `ACP`, whose command a profile names. Reads the PATH of the login shell: do not call from async
/// code.
pub fn found_acp_agent(command: &str) -> FoundAgent {
    let path_env = std::env::var_os("PATH").unwrap_or_default();
    let place = LaunchContext { worktree: Path::new("/"), forge_exe: Path::new("/"), path_env: &path_env };
    let name = shlex::split(command).and_then(|words| words.into_iter().next()).unwrap_or_default();
    let found = program::find(&name, &place);
    let source = found.as_ref().map(|program| match program.path_env {
        Some(_) => AgentSource::LoginPath,
        None => AgentSource::Path,
    });
    FoundAgent {
        program: name,
        found: source,
        ready: found.is_some(),
        state: if found.is_some() { AgentState::Ready } else { AgentState::NotInstalled },
        path: found.map(|program| program.file),
        ..built_in(Executor::Acp)
    }
}

fn shell() -> FoundAgent {
    let path_env = std::env::var_os("PATH").unwrap_or_default();
    let find = |name: &&str| program::find_in(name, &path_env, Path::new("/"));
    let shell = ["bash", "sh"].iter().find_map(|name| Some((*name, find(name)?)));
    FoundAgent {
        program: shell.as_ref().map_or("sh", |(name, _)| name).to_owned(),
        path: shell.map(|(_, file)| file),
        ..built_in(Executor::Shell)
    }
}

fn scripted(forge_exe: &Path) -> FoundAgent {
    FoundAgent {
        program: "forge".to_owned(),
        path: Some(forge_exe.to_owned()),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        ..built_in(Executor::Scripted)
    }
}

/// Needs neither an installation nor a login.
fn built_in(executor: Executor) -> FoundAgent {
    let about = agent(executor);
    FoundAgent {
        executor,
        name: about.name.to_owned(),
        program: String::new(),
        protocol: about.protocol().as_str().to_owned(),
        found: Some(AgentSource::BuiltIn),
        path: None,
        version: None,
        keys: Vec::new(),
        logged_in: true,
        ready: true,
        state: AgentState::Ready,
        install: String::new(),
        log_in: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::ALL;

    fn seen(found: Option<AgentSource>, version: Option<&str>) -> SurveyedAgent {
        let about = agent(Executor::Codex);
        SurveyedAgent {
            about,
            software: about.software.as_ref().unwrap(),
            found: found.map(|whence| (whence, "/bin/codex".into())),
            version: version.map(str::to_owned),
            keys: Vec::new(),
            login: None,
        }
    }

    #[test]
    fn an_agent_is_ready_when_it_is_installed_works_and_is_logged_in() {
        let install = "npm install -g @openai/codex";
        let whole = || seen(Some(AgentSource::Path), Some("1.2.3"));
        for (agent, readiness, fix) in [
            (seen(None, None), Readiness::Missing, Some(install)),
            (
                SurveyedAgent { keys: vec!["OPENAI_API_KEY"], ..seen(None, None) },
                Readiness::Missing,
                Some(install),
            ),
            (seen(Some(AgentSource::Path), None), Readiness::Broken, Some(install)),
            (whole(), Readiness::LoggedOut, Some("codex login")),
            (seen(Some(AgentSource::LoginPath), Some("1.2.3")), Readiness::LoggedOut, Some("codex login")),
            (SurveyedAgent { keys: vec!["OPENAI_API_KEY"], ..whole() }, Readiness::Ready, None),
            (
                SurveyedAgent { login: Some("/home/user/.codex/auth.json".into()), ..whole() },
                Readiness::Ready,
                None,
            ),
        ] {
            assert_eq!((agent.readiness(), agent.fix().as_deref()), (readiness, fix), "{agent:?}");
            assert_eq!(agent.found_agent().ready, readiness == Readiness::Ready, "{agent:?}");
        }
        let fetched = seen(Some(AgentSource::Npx), Some("0.166.0"));
        assert_eq!(fetched.fix().unwrap(), format!("npx -y {} login", fetched.software.package.unwrap()));
        let states = [seen(None, None), seen(Some(AgentSource::Path), None), whole(), fetched]
            .map(|agent| agent.found_agent().state);
        use AgentState::{NotInstalled, NotLoggedIn, NotWorking};
        assert_eq!(states, [NotInstalled, NotWorking, NotLoggedIn, NotInstalled]);
    }

    #[test]
    fn every_agent_is_given_the_command_that_logs_in() {
        let known = [
            (Executor::ClaudeCode, "claude"),
            (Executor::Codex, "codex login"),
            (Executor::Copilot, "copilot login"),
            (Executor::Gemini, "gemini"),
            (Executor::QwenCode, "qwen"),
            (Executor::Opencode, "opencode auth login"),
            (Executor::Droid, "droid"),
            (Executor::Amp, "amp login"),
            (Executor::CursorAgent, "cursor-agent login"),
        ];
        assert_eq!(known.len(), ALL.iter().filter(|agent| agent.software.is_some()).count());
        for (executor, command) in known {
            let logged_out = seen(Some(AgentSource::Path), Some("1.2.3"));
            let about = agent(executor);
            let agent = SurveyedAgent { about, software: about.software.as_ref().unwrap(), ..logged_out };
            assert_eq!(agent.fix().as_deref(), Some(command), "{executor}");
        }
    }

    #[test]
    fn an_agent_of_a_profile_is_known_by_its_command() {
        let (there, away) = (found_acp_agent("sh -c 'my agent'"), found_acp_agent("no-such-agent --acp"));
        assert_eq!((there.program.as_str(), there.state, there.ready), ("sh", AgentState::Ready, true));
        assert_eq!((away.found, away.state, away.ready), (None, AgentState::NotInstalled, false));
    }

    #[test]
    fn the_built_in_agents_are_always_ready_and_in_their_order() {
        let agents = found_agents(&[seen(None, None)], Path::new("/opt/forge"));
        let lines: Vec<_> = agents.iter().map(|agent| (agent.executor, agent.found, agent.ready)).collect();
        let built_in = Some(AgentSource::BuiltIn);
        assert_eq!(
            lines,
            [
                (Executor::Codex, None, false),
                (Executor::Shell, built_in, true),
                (Executor::Scripted, built_in, true),
            ]
        );
        assert_eq!(agents[2].path.as_deref(), Some(Path::new("/opt/forge")));
        assert!(agents[1].path.is_some(), "a test machine has a shell");
    }
}
