//! Codex: its data, how it is started and how its conversation opens.
//!
//! Owns its command line and the settings of its thread. Invariants: the program is its app server, so prompt and
//! settings go to stdin, never to the command line; stdin closes when the turn is over, which ends the process; a
//! continued conversation is forked, so the old one does not change.

use std::path::Path;

use forge_types::{AgentOption, DEFAULT_VARIANT, Executor, OptionKind};
use serde_json::{Map, Value, json};

use super::agent::{Agent, Driver, OwnDriver, Protocol, Software};
use super::foreground::{PromptArg, TerminalStart};
use super::mcp::{Format, Mcp, presets};
use super::profiles::{MODEL, OptionValue::Text};
use super::{Command, LaunchContext, Options, Plan, PlanError, Request, params};
use crate::fold::Dialect;
use crate::talk::{ConversationPlan, Opening};
use crate::{Cue, StdinPlan};

/// The provider that a thread uses for local models.
const LOCAL_PROVIDER: &str = "ollama";

pub(super) static AGENT: Agent = Agent {
    executor: Executor::Codex,
    name: "Codex",
    software: Some(Software {
        program: "codex",
        package: Some("@openai/codex@0.166.0"),
        install: "npm install -g @openai/codex",
        log_in: &["login"],
        keys: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        logins: &[".codex/auth.json"],
        moved: Some((".codex/", "CODEX_HOME")),
    }),
    capabilities: &["SESSION_FORK"],
    launchers: &["codex"],
    driver: Driver::Own(OwnDriver {
        protocol: Protocol::AppServer,
        dialect: Dialect::Codex,
        plan,
        script: Some(script),
    }),
    variants: &[
        (DEFAULT_VARIANT, &[("sandbox", Text("danger-full-access"))]),
        ("HIGH", &[("sandbox", Text("danger-full-access")), ("model_reasoning_effort", Text("high"))]),
        ("APPROVALS", &[("sandbox", Text("workspace-write")), ("ask_for_approval", Text("unless-trusted"))]),
    ],
    options: &[
        MODEL,
        AgentOption::choice(
            "sandbox",
            "Sandbox",
            &["auto", "read-only", "workspace-write", "danger-full-access"],
        ),
        AgentOption::choice(
            "ask_for_approval",
            "Ask for approval",
            &["unless-trusted", "on-failure", "on-request", "never"],
        ),
        AgentOption::choice(
            "model_reasoning_effort",
            "Reasoning effort",
            &["minimal", "low", "medium", "high", "xhigh", "max", "ultra"],
        ),
        AgentOption::choice(
            "model_reasoning_summary",
            "Reasoning summary",
            &["auto", "concise", "detailed", "none"],
        ),
        AgentOption::choice("model_reasoning_summary_format", "Summary format", &["none", "experimental"]),
        AgentOption::text("profile", "Codex profile").hint("From its own config.toml."),
        AgentOption::new("base_instructions", "Base instructions", OptionKind::LongText),
        AgentOption::flag("oss", "Use a local model"),
        AgentOption::flag("include_plan_tool", "Give it the plan tool"),
        AgentOption::flag("include_apply_patch_tool", "Give it the patch tool"),
    ],
    mcp: Some(Mcp {
        format: Format::Toml,
        key: "mcp_servers",
        adapt: |server| (!presets::is_http(&server)).then_some(server),
        ..Mcp::usual(".codex/config.toml")
    }),
    foreground: Some(TerminalStart::Program {
        prompt: PromptArg::Last,
        grant: "--dangerously-bypass-approvals-and-sandbox",
        switches: &[("oss", &["--oss"])],
    }),
    ..Agent::ORDINARY
};

fn plan(options: &Options, request: Request<'_>, place: &LaunchContext<'_>) -> Result<Plan, PlanError> {
    let mut command = AGENT.base(options, place)?;
    command.args.extend(args(&command));
    command.args.extend(params(options)?);
    Ok(command.plan(env(), stdin(), Some(script(options, request, place.worktree))))
}

fn script(options: &Options, request: Request<'_>, worktree: &Path) -> ConversationPlan {
    ConversationPlan::Codex(opening(options, request, request.prompt_with(options), worktree))
}

fn args(command: &Command) -> Option<String> {
    // A profile's own command may name the app server itself.
    let server = "app-server";
    (!command.args.iter().any(|arg| arg == server)).then(|| server.to_owned())
}

fn env() -> Vec<(String, String)> {
    let env = [("NODE_NO_WARNINGS", "1"), ("NO_COLOR", "1"), ("RUST_LOG", "error")];
    env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

fn stdin() -> StdinPlan {
    let client = json!({"name": "forge", "title": "Forge", "version": env!("CARGO_PKG_VERSION")});
    // It repeats the whole diff at every change, so the log would grow quadratically.
    let capabilities = json!({"optOutNotificationMethods": ["turn/diff/updated"]});
    let params = json!({"clientInfo": client, "capabilities": capabilities});
    let first = json!({"id": 1, "method": "initialize", "params": params}).to_string();
    let turn_end = Cue::Method {
        method: "turn/completed".into(),
        named_at: "/result/thread/id".into(),
        subject_at: "/params/threadId".into(),
    };
    StdinPlan::Duplex { first: vec![first], close_on: Some(turn_end) }
}

fn opening(options: &Options, request: Request<'_>, prompt: String, worktree: &Path) -> Opening {
    let resume = match request {
        Request::New { .. } => None,
        Request::Resume { session_id, .. } => Some(session_id.to_owned()),
    };
    Opening { resume, prompt, settings: settings(options, worktree) }
}

fn settings(options: &Options, worktree: &Path) -> Map<String, Value> {
    let (sandbox, approval) = guard(options);
    let mut settings = Map::new();
    settings.insert("cwd".into(), worktree.to_string_lossy().into());
    settings.insert("approvalPolicy".into(), approval.into());
    settings.insert("sandbox".into(), sandbox.into());
    for (key, option) in [("model", "model"), ("baseInstructions", "base_instructions")] {
        settings.extend(options.text(option).map(|value| (key.to_owned(), value.into())));
    }
    if options.is_on("oss") {
        settings.insert("modelProvider".into(), LOCAL_PROVIDER.into());
    }
    let passed = [
        "model_reasoning_effort",
        "model_reasoning_summary",
        "model_reasoning_summary_format",
        "profile",
        "include_plan_tool",
        "include_apply_patch_tool",
    ];
    let passed = passed.iter().filter_map(|key| Some(((*key).to_owned(), options.own.get(*key)?.clone())));
    let config: Map<String, Value> = passed.collect();
    if !config.is_empty() {
        settings.insert("config".into(), config.into());
    }
    settings
}

/// The sandbox and when a person is asked, in the protocol's terms.
fn guard(options: &Options) -> (&str, &str) {
    let sandbox = options.text("sandbox").filter(|sandbox| *sandbox != "auto").unwrap_or("workspace-write");
    let approval = match options.text("ask_for_approval") {
        Some("unless-trusted") => "untrusted",
        // It no longer supports waiting for a failure before it asks.
        Some("on-failure") => "on-request",
        Some(approval) => approval,
        None if sandbox == "danger-full-access" => "never",
        None => "on-request",
    };
    (sandbox, approval)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(own: Value, request: Request<'_>) -> Opening {
        let own = own.as_object().cloned().unwrap();
        opening(&Options { own, ..Options::default() }, request, "do it".into(), Path::new("/repo"))
    }

    #[test]
    fn sandbox_and_approval_follow_the_options() {
        let cases = [
            (json!({}), ["workspace-write", "on-request"]),
            (json!({"sandbox": "auto"}), ["workspace-write", "on-request"]),
            (json!({"sandbox": "auto", "ask_for_approval": "never"}), ["workspace-write", "never"]),
            (json!({"sandbox": "danger-full-access"}), ["danger-full-access", "never"]),
            (json!({"sandbox": "read-only"}), ["read-only", "on-request"]),
            (json!({"ask_for_approval": "on-failure"}), ["workspace-write", "on-request"]),
            (
                json!({"sandbox": "danger-full-access", "ask_for_approval": "unless-trusted"}),
                ["danger-full-access", "untrusted"],
            ),
        ];
        for (own, [sandbox, approval]) in cases {
            let settings = opened(own.clone(), Request::New { prompt: "" }).settings;
            let got = (&settings["sandbox"], &settings["approvalPolicy"]);
            assert_eq!(got, (&json!(sandbox), &json!(approval)), "{own}");
        }
    }

    #[test]
    fn the_thread_gets_the_settings_of_the_profile() {
        let own = json!({
            "model": "m", "model_reasoning_effort": "high", "model_reasoning_summary": "none", "oss": true,
            "base_instructions": "be brief", "include_plan_tool": true,
        });
        let opening = opened(own, Request::Resume { prompt: "", session_id: "t-1" });
        assert_eq!((opening.resume.as_deref(), opening.prompt.as_str()), (Some("t-1"), "do it"));
        assert_eq!(
            Value::from(opening.settings),
            json!({
                "cwd": "/repo", "approvalPolicy": "on-request", "sandbox": "workspace-write", "model": "m",
                "modelProvider": "ollama", "baseInstructions": "be brief", "config": {
                    "model_reasoning_effort": "high", "model_reasoning_summary": "none", "include_plan_tool": true,
                },
            })
        );
    }
}
