//! Agents that speak the Agent Client Protocol, and the generic one whose command a profile names.
//!
//! Owns how they are started: which profile options become arguments and which are set in the session. Invariant:
//! without an option that allows it, or when the profile asks for approvals, nothing is granted without a person.

use serde_json::Value;

use super::Request;
use super::agent::Agent;
use super::profiles::Options;
use crate::talk::acp::{Opening, PROMPT, Permissions, Replay, initialize};
use crate::{Cue, StdinPlan};

/// How one of them is started: what it takes as an argument and what in its session.
pub(super) struct Acp {
    /// The arguments that make it speak the protocol.
    pub args: &'static [&'static str],
    pub env: &'static [(&'static str, &'static str)],
    pub grant: Grant,
    /// The environment that makes it ask for permission where it otherwise would not.
    pub asked_env: &'static [(&'static str, &'static str)],
    pub model: Choice,
    /// The option that names the session's mode.
    pub mode: Option<&'static str>,
    /// Options that become arguments, one per value.
    pub flags: &'static [(&'static str, &'static str)],
    pub replay: Replay,
}

/// What lets an agent work without asking.
pub(super) enum Grant {
    /// This option, passed as this argument.
    Option(&'static str, &'static str),
    /// Nothing is needed: it asks only when the profile requires approvals.
    Default,
}

/// How the model is passed to an agent.
pub(super) enum Choice {
    Argument(&'static str),
    InSession,
}

/// The agent whose command a profile names.
pub(super) static AGENT: Agent = Agent::ORDINARY;

const COMMON_ENV: &[(&str, &str)] =
    &[("NODE_NO_WARNINGS", "1"), ("NPM_CONFIG_LOGLEVEL", "error"), ("NPM_CONFIG_UPDATE_NOTIFIER", "false")];

impl Acp {
    /// An agent without special settings.
    pub const ORDINARY: Acp = Acp {
        args: &[],
        env: &[],
        grant: Grant::Default,
        asked_env: &[],
        model: Choice::InSession,
        mode: None,
        flags: &[],
        replay: Replay::BeforeReply,
    };

    /// The arguments after the base command, without the profile's additional ones.
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

    /// Where a person is asked, a denial may lead to another prompt, so stdin stays open after the turn. Otherwise the
    /// end of the turn closes it, even when no server runs.
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
