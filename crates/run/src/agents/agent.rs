//! What differs between agents, as data.
//!
//! Owns the shape of that data; each agent's values are in a file of its own. Invariants: whatever differs between
//! agents follows from these values, so adding one changes no other module; package versions are exact, because npm
//! silently picks another version when it can.

use std::fmt;
use std::path::{Path, PathBuf};

use forge_types::{AgentOption, DEFAULT_VARIANT, Executor};

use super::acp::Acp;
use super::foreground::TerminalStart;
use super::mcp::Mcp;
use super::profiles::{APPROVALS, COMMON, MODEL, OptionValue, Variant};
use super::{Command, LaunchContext, Options, Plan, PlanError, Request, npx, overridden, params, program};
use crate::fold::Dialect;
use crate::talk::ConversationPlan;

/// Everything that Forge knows about an agent.
pub struct Agent {
    pub executor: Executor,
    /// As its makers spell it.
    pub name: &'static str,
    /// `None` for agents without their own program.
    pub software: Option<Software>,
    /// What clients may offer for it.
    pub capabilities: &'static [&'static str],
    /// The launchers that start it as a worker, the default one first.
    pub launchers: &'static [&'static str],
    /// A script that succeeds once the program is installed and logged in.
    pub setup: Option<&'static str>,
    pub(super) driver: Driver,
    pub(super) router: Option<Router>,
    /// The built-in variants.
    pub(super) variants: &'static [Variant],
    /// The agent-specific options that a variant may have.
    pub(super) options: &'static [AgentOption],
    /// The options that a project's own variant gets even if its file leaves them out.
    pub(super) described_with: &'static [(&'static str, OptionValue)],
    /// Names that variants use for models, and the program's names for them.
    pub(super) models: &'static [(&'static str, &'static str)],
    /// `None` for agents without MCP support.
    pub(super) mcp: Option<Mcp>,
    /// `None` for agents that cannot run at a person's terminal.
    pub(super) foreground: Option<TerminalStart>,
}

/// An agent's program, how it is installed, and how it is logged in.
#[derive(Debug)]
pub struct Software {
    pub program: &'static str,
    /// The npm package that `npx` runs when the program is not installed.
    pub(super) package: Option<&'static str>,
    /// The command that installs the program.
    pub install: &'static str,
    /// The arguments that make the program ask a person to log in; empty where it asks as soon as it starts.
    pub(super) log_in: &'static [&'static str],
    /// Variables that contain a key for it.
    pub keys: &'static [&'static str],
    /// Files, relative to the home directory, that exist once somebody has logged in.
    pub(super) logins: &'static [&'static str],
    /// The folder in the home directory that a variable can move, and that variable.
    pub(super) moved: Option<(&'static str, &'static str)>,
}

/// A package that runs in place of the program when an option asks for it.
pub(super) struct Router {
    pub option: &'static str,
    pub package: &'static str,
    pub arg: &'static str,
}

/// How an agent is started and talked to.
pub(super) enum Driver {
    Acp(Acp),
    Own(OwnDriver),
}

/// A driver that no other agent shares.
pub(super) struct OwnDriver {
    pub protocol: Protocol,
    /// How its log is read.
    pub dialect: Dialect,
    pub plan: fn(&Options, Request<'_>, &LaunchContext<'_>) -> Result<Plan, PlanError>,
    /// `None` for agents without a conversation.
    pub script: Option<fn(&Options, Request<'_>, &Path) -> ConversationPlan>,
}

/// The protocol of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Claude's stream-json, in both directions.
    StreamJson,
    /// Codex's JSON-RPC.
    AppServer,
    /// The Agent Client Protocol.
    Acp,
    /// Stream-json from the agent only; it reads the prompt and nothing else.
    Headless,
    /// Plain text output.
    Text,
}

impl Protocol {
    pub fn as_str(self) -> &'static str {
        match self {
            Protocol::StreamJson => "stream-json",
            Protocol::AppServer => "app-server",
            Protocol::Acp => "ACP",
            Protocol::Headless => "headless",
            Protocol::Text => "text",
        }
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Agent").field(&self.executor).finish()
    }
}

impl Agent {
    /// An agent without special settings: it speaks ACP, and a profile names its command.
    pub(super) const ORDINARY: Agent = Agent {
        executor: Executor::Acp,
        name: "ACP",
        software: None,
        capabilities: &[],
        launchers: &[],
        setup: None,
        driver: Driver::Acp(Acp::ORDINARY),
        router: None,
        variants: &[(DEFAULT_VARIANT, &[]), ("APPROVALS", &[("approvals", OptionValue::On)])],
        options: &[MODEL, APPROVALS],
        described_with: &[],
        models: &[],
        mcp: None,
        foreground: None,
    };

    /// The options that a variant may have: its own, then those of every agent.
    pub fn options(&self) -> impl Iterator<Item = &'static AgentOption> + use<> {
        self.options.iter().chain(&COMMON)
    }

    /// The names of the variants that come with Forge, the default one first.
    pub fn built_in_variants(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.variants.iter().map(|(name, _)| *name)
    }

    pub fn protocol(&self) -> Protocol {
        match &self.driver {
            Driver::Acp(_) => Protocol::Acp,
            Driver::Own(own) => own.protocol,
        }
    }

    /// The file in which its program looks for MCP servers.
    pub fn config_file(&self) -> Option<PathBuf> {
        self.mcp.as_ref()?.file.path()
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match &self.driver {
            Driver::Acp(_) => Dialect::Acp,
            Driver::Own(own) => own.dialect,
        }
    }

    pub(super) fn plan(
        &self,
        options: &Options,
        request: Request<'_>,
        place: &LaunchContext<'_>,
    ) -> Result<Plan, PlanError> {
        match &self.driver {
            Driver::Acp(acp) => {
                let mut command = self.base(options, place)?;
                command.args.extend(acp.args(options));
                command.args.extend(params(options)?);
                let script = self.script(options, request, place.worktree);
                Ok(command.plan(acp.env(options), acp.stdin(options), script))
            }
            Driver::Own(own) => (own.plan)(options, request, place),
        }
    }

    pub(super) fn script(
        &self,
        options: &Options,
        request: Request<'_>,
        worktree: &Path,
    ) -> Option<ConversationPlan> {
        match &self.driver {
            Driver::Acp(acp) => Some(ConversationPlan::Acp(acp.opening(options, request, worktree))),
            Driver::Own(own) => own.script.map(|script| script(options, request, worktree)),
        }
    }

    /// The profile's command, or else the agent's own program.
    pub(super) fn base(&self, options: &Options, place: &LaunchContext<'_>) -> Result<Command, PlanError> {
        if let Some(command) = overridden(options, place)? {
            return Ok(command);
        }
        match &self.router {
            Some(router) if options.is_on(router.option) => {
                let command = npx(router.package, place);
                let mut command =
                    command.ok_or_else(|| PlanError::not_found("npx", "install Node.js with npx"))?;
                command.args.push(router.arg.to_owned());
                Ok(command)
            }
            _ => self.installed(place),
        }
    }

    /// The agent's own program: installed, or run by `npx` from its pinned package.
    fn installed(&self, place: &LaunchContext<'_>) -> Result<Command, PlanError> {
        let Some(software) = &self.software else {
            return Err(PlanError::NoCommand { executor: self.executor });
        };
        let found =
            program::find(software.program, place).map(|program| Command { program, args: Vec::new() });
        let found = found.or_else(|| software.package.and_then(|package| npx(package, place)));
        found.ok_or_else(|| {
            let npx = if software.package.is_some() { ", or Node.js with npx" } else { "" };
            let install = software.install;
            let remedy =
                format!("install it with `{install}`{npx}, or set base_command_override in the profile");
            PlanError::not_found(software.program, &remedy)
        })
    }
}
