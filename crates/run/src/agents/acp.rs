//! Agents that speak the Agent Client Protocol, as data.
//!
//! Owns the table of them: how each is started, and what of a profile it takes as an argument and what in its session.
//! Invariants: one entry is all that is particular about an agent; without an option that says so, or when the profile
//! wants approvals, nothing is granted without a person.

use forge_types::Executor;
use serde_json::Value;

use super::Request;
use super::profiles::Options;
use crate::talk::acp::{Opening, PROMPT, Permissions, Replay, initialize};
use crate::{Cue, StdinPlan};

pub(super) struct Agent {
    executor: Executor,
    /// The arguments that make it speak the protocol.
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    grant: Grant,
    /// The environment that makes it ask where it would not.
    asked_env: &'static [(&'static str, &'static str)],
    model: Choice,
    /// The option that names the session's mode.
    mode: Option<&'static str>,
    /// Options that become arguments, one for each value.
    flags: &'static [(&'static str, &'static str)],
    replay: Replay,
}

/// What lets an agent work without questions.
enum Grant {
    /// This option, which becomes this argument.
    Option(&'static str, &'static str),
    /// Nothing has to: only a profile that wants approvals asks.
    Default,
}

/// How an agent learns its model.
enum Choice {
    Argument(&'static str),
    InSession,
}

const ORDINARY: Agent = Agent {
    executor: Executor::Acp,
    args: &[],
    env: &[],
    grant: Grant::Default,
    asked_env: &[],
    model: Choice::InSession,
    mode: None,
    flags: &[],
    replay: Replay::BeforeReply,
};

const AGENTS: &[Agent] = &[
    ORDINARY,
    Agent {
        executor: Executor::Copilot,
        args: &["--acp", "--no-auto-update"],
        grant: Grant::Option("allow_all_tools", "--allow-all-tools"),
        model: Choice::Argument("--model"),
        flags: &[
            ("allow_tool", "--allow-tool"),
            ("deny_tool", "--deny-tool"),
            ("add_dir", "--add-dir"),
            ("disable_mcp_server", "--disable-mcp-server"),
        ],
        ..ORDINARY
    },
    Agent {
        executor: Executor::Gemini,
        args: &["--acp"],
        // It works without questions only where it trusts the directory, and a worktree is as trusted as its repository.
        env: &[("GEMINI_CLI_TRUST_WORKSPACE", "true")],
        grant: Grant::Option("yolo", "--yolo"),
        model: Choice::Argument("--model"),
        replay: Replay::AfterReply,
        ..ORDINARY
    },
    Agent {
        executor: Executor::QwenCode,
        args: &["--acp"],
        grant: Grant::Option("yolo", "--yolo"),
        model: Choice::Argument("--model"),
        ..ORDINARY
    },
    Agent {
        executor: Executor::Opencode,
        args: &["acp"],
        env: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
        asked_env: &[("OPENCODE_PERMISSION", r#"{"bash":"ask","edit":"ask","webfetch":"ask"}"#)],
        mode: Some("agent"),
        ..ORDINARY
    },
    Agent {
        executor: Executor::Droid,
        args: &["exec", "--output-format", "acp"],
        env: &[("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false")],
        ..ORDINARY
    },
];

const COMMON_ENV: &[(&str, &str)] =
    &[("NODE_NO_WARNINGS", "1"), ("NPM_CONFIG_LOGLEVEL", "error"), ("NPM_CONFIG_UPDATE_NOTIFIER", "false")];

pub(super) fn agent(executor: Executor) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.executor == executor)
}

impl Agent {
    /// The arguments after the base, without the profile's additional ones.
    pub fn args(&self, options: &Options) -> Vec<String> {
        let mut args: Vec<String> = self.args.iter().map(|arg| (*arg).to_owned()).collect();
        if let Grant::Option(_, flag) = self.grant
            && self.permissions(options) == Permissions::Granted
        {
            args.push(flag.to_owned());
        }
        if let (Choice::Argument(flag), Some(model)) = (&self.model, options.model()) {
            args.extend([(*flag).to_owned(), model.to_owned()]);
        }
        for (option, flag) in self.flags {
            let values = match options.own.get(*option) {
                Some(Value::Array(values)) => values.as_slice(),
                Some(value) => std::slice::from_ref(value),
                None => &[],
            };
            let texts = values.iter().filter_map(Value::as_str).filter(|text| !text.is_empty());
            args.extend(texts.map(|text| format!("{flag}={text}")));
        }
        args
    }

    pub fn env(&self, options: &Options) -> Vec<(String, String)> {
        let asked = match self.permissions(options) {
            Permissions::Asked => self.asked_env,
            Permissions::Granted => &[],
        };
        let env = COMMON_ENV.iter().chain(self.env).chain(asked);
        env.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// What may be answered after the turn keeps stdin open; otherwise the turn's end is the agent's, server or not.
    pub fn stdin(&self, options: &Options) -> StdinPlan {
        let close_on = match self.permissions(options) {
            Permissions::Granted => Some(Cue::Reply(PROMPT)),
            Permissions::Asked => None,
        };
        StdinPlan::Duplex { first: vec![initialize()], close_on }
    }

    pub fn opening(&self, options: &Options, request: Request<'_>, worktree: &std::path::Path) -> Opening {
        let in_session = matches!(self.model, Choice::InSession);
        Opening {
            worktree: worktree.to_owned(),
            prompt: request.prompt_with(options),
            session: request.session().map(str::to_owned),
            permissions: self.permissions(options),
            model: options.model().filter(|_| in_session).map(str::to_owned),
            mode: self.mode.and_then(|option| options.text(option)).map(str::to_owned),
            replay: self.replay,
        }
    }

    fn permissions(&self, options: &Options) -> Permissions {
        let granted = match self.grant {
            Grant::Option(option, _) => options.is_on(option),
            Grant::Default => true,
        };
        if granted && !options.is_on("approvals") { Permissions::Granted } else { Permissions::Asked }
    }
}
