//! Claude Code: its data, how it is started and the first lines it receives.
//!
//! Owns its command line and the first lines of its stdin. Invariants: the prompt goes to stdin, never to the
//! command line; stdin closes at the `result` line, which ends the process; a resumed conversation is forked, so
//! the old session does not change.

use forge_types::{AgentOption, DEFAULT_VARIANT, Executor};
use serde_json::{Value, json};

use super::agent::{Agent, Driver, OwnDriver, Protocol, Router, Software};
use super::foreground::{PromptArg, TerminalStart};
use super::mcp::Mcp;
use super::profiles::{APPROVALS, MODEL, OptionValue::On, unasked};
use super::{LaunchContext, Options, Plan, PlanError, Request, params};
use crate::fold::Dialect;
use crate::talk::ConversationPlan;
use crate::{Cue, StdinPlan};

/// Matches every tool except those that the approvals variant uses without asking a person.
const ASK_MATCHER: &str = "^(?!(Glob|Grep|NotebookRead|Read|Task|TodoWrite)$).*";

pub(super) static AGENT: Agent = Agent {
    executor: Executor::ClaudeCode,
    name: "Claude Code",
    software: Some(Software {
        program: "claude",
        package: Some("@anthropic-ai/claude-code@2.1.197"),
        install: "npm install -g @anthropic-ai/claude-code",
        log_in: &[],
        keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
        logins: &[".claude/.credentials.json"],
        moved: Some((".claude/", "CLAUDE_CONFIG_DIR")),
    }),
    capabilities: &["SESSION_FORK"],
    launchers: &["claude-code", "glm"],
    driver: Driver::Own(OwnDriver {
        protocol: Protocol::StreamJson,
        dialect: Dialect::Claude,
        plan,
        script: Some(|_, _, _| ConversationPlan::Claude),
    }),
    router: Some(Router {
        option: "claude_code_router",
        package: "@musistudio/claude-code-router@1.0.58",
        arg: "code",
    }),
    variants: &[
        (DEFAULT_VARIANT, &[("dangerously_skip_permissions", On)]),
        ("PLAN", &[("plan", On)]),
        ("APPROVALS", &[("approvals", On)]),
    ],
    options: &[
        MODEL,
        AgentOption::flag("plan", "Plan first")
            .hint("It presents a plan and waits before it changes anything."),
        APPROVALS,
        unasked("dangerously_skip_permissions"),
        AgentOption::flag("claude_code_router", "Run through claude-code-router"),
    ],
    mcp: Some(Mcp::usual(".claude.json")),
    foreground: Some(TerminalStart::Program {
        prompt: PromptArg::Last,
        grant: "--dangerously-skip-permissions",
        switches: &[("plan", &["--permission-mode", "plan"])],
    }),
    ..Agent::ORDINARY
};

fn plan(options: &Options, request: Request<'_>, place: &LaunchContext<'_>) -> Result<Plan, PlanError> {
    let mut command = AGENT.base(options, place)?;
    command.args.extend(args(options));
    command.args.extend(params(options)?);
    command.args.extend(resume_args(request));
    let stdin = stdin(options, &request.prompt_with(options));
    Ok(command.plan(env(options), stdin, Some(ConversationPlan::Claude)))
}

/// The arguments after the base command, without the profile's additional ones.
fn args(options: &Options) -> Vec<String> {
    let mut args = vec!["-p".to_owned()];
    let mut push = |arg: &str| args.push(arg.to_owned());
    if let Some(mode) = start_mode(options) {
        push("--permission-prompt-tool=stdio");
        push(&format!("--permission-mode={mode}"));
    }
    if options.is_on("dangerously_skip_permissions") {
        push("--dangerously-skip-permissions");
    }
    if let Some(model) = options.text("model") {
        push("--model");
        push(model);
    }
    for arg in [
        "--verbose",
        "--output-format=stream-json",
        "--input-format=stream-json",
        "--include-partial-messages",
    ] {
        push(arg);
    }
    args
}

fn resume_args(request: Request<'_>) -> Vec<String> {
    match request {
        Request::New { .. } => Vec::new(),
        Request::Resume { session_id, .. } => {
            vec!["--fork-session".into(), "--resume".into(), session_id.to_owned()]
        }
    }
}

/// An approved plan is carried out without further questions, and only a process started in that mode may switch to
/// it. Approvals never need it.
fn start_mode(options: &Options) -> Option<&'static str> {
    if options.is_on("plan") {
        Some("bypassPermissions")
    } else if options.is_on("approvals") {
        Some("default")
    } else {
        None
    }
}

fn env(options: &Options) -> Vec<(String, String)> {
    let mut env = vec![
        ("DISABLE_AUTOUPDATER", "1"),
        ("NODE_NO_WARNINGS", "1"),
        ("NPM_CONFIG_LOGLEVEL", "error"),
        ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
    ];
    let bypasses =
        options.is_on("dangerously_skip_permissions") || start_mode(options) == Some("bypassPermissions");
    // As root it refuses to skip permissions unless it is marked as sandboxed.
    if bypasses && rustix::process::geteuid().is_root() {
        env.push(("IS_SANDBOX", "1"));
    }
    env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn stdin(options: &Options, prompt: &str) -> StdinPlan {
    let mut first = Vec::new();
    let asked = if options.is_on("plan") {
        Some(("^ExitPlanMode$", "plan"))
    } else if options.is_on("approvals") {
        Some((ASK_MATCHER, "default"))
    } else {
        None
    };
    if let Some((matcher, mode)) = asked {
        let hooks = json!({"PreToolUse": [{"matcher": matcher, "hookCallbackIds": ["tool_approval"]}]});
        first.push(control("forge-initialize", json!({"subtype": "initialize", "hooks": hooks})));
        first.push(control("forge-mode", json!({"subtype": "set_permission_mode", "mode": mode})));
    }
    first.push(json!({"type": "user", "message": {"role": "user", "content": prompt}}).to_string());
    StdinPlan::Duplex { first, close_on: Some(Cue::Type("result".into())) }
}

fn control(request_id: &str, request: Value) -> String {
    json!({"type": "control_request", "request_id": request_id, "request": request}).to_string()
}
