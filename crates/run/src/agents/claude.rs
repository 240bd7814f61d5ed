//! How Claude Code is started and spoken to.
//!
//! Owns its command line and the first lines of its stdin. Invariants: the prompt goes to stdin, never to the command
//! line; stdin closes at the `result` line, which ends the process; the session of a resumed conversation is forked,
//! so the old one stays as it was.

use forge_types::Executor;
use serde_json::{Value, json};

use super::profiles::Options;
use super::{Command, Place, PlanError, Request, installed, npx};
use crate::{Cue, StdinPlan};

const ROUTER_PACKAGE: &str = "@musistudio/claude-code-router@1.0.58";
/// What a person is not asked about in the approvals variant.
const UNASKED: &str = "^(?!(Glob|Grep|NotebookRead|Read|Task|TodoWrite)$).*";

/// The program and the arguments that come before all others.
pub(super) fn base(options: &Options, place: &Place<'_>) -> Result<Command, PlanError> {
    if !options.is_on("claude_code_router") {
        return installed(Executor::ClaudeCode, place);
    }
    let router = npx(ROUTER_PACKAGE, place).map(|mut command| {
        command.args.push("code".to_owned());
        command
    });
    router.ok_or_else(|| PlanError::not_found("npx", "install Node.js with npx"))
}

/// The arguments after the base, without the profile's additional ones.
pub(super) fn args(options: &Options) -> Vec<String> {
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

pub(super) fn resume_args(request: Request<'_>) -> Vec<String> {
    match request {
        Request::New { .. } => Vec::new(),
        Request::Resume { session_id, .. } => {
            vec!["--fork-session".into(), "--resume".into(), session_id.to_owned()]
        }
    }
}

/// A plan, once approved, is carried out without further questions, and only a process that was started in that mode may
/// change to it. Approvals never need it.
fn start_mode(options: &Options) -> Option<&'static str> {
    if options.is_on("plan") {
        Some("bypassPermissions")
    } else if options.is_on("approvals") {
        Some("default")
    } else {
        None
    }
}

pub(super) fn env(options: &Options) -> Vec<(String, String)> {
    let mut env = vec![
        ("DISABLE_AUTOUPDATER", "1"),
        ("NODE_NO_WARNINGS", "1"),
        ("NPM_CONFIG_LOGLEVEL", "error"),
        ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
    ];
    let bypasses =
        options.is_on("dangerously_skip_permissions") || start_mode(options) == Some("bypassPermissions");
    // As root it refuses to skip permissions unless told that it is sandboxed.
    if bypasses && rustix::process::geteuid().is_root() {
        env.push(("IS_SANDBOX", "1"));
    }
    env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

pub(super) fn stdin(options: &Options, prompt: &str) -> StdinPlan {
    let mut first = Vec::new();
    let asked = if options.is_on("plan") {
        Some(("^ExitPlanMode$", "plan"))
    } else if options.is_on("approvals") {
        Some((UNASKED, "default"))
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
