//! Plans carried out by a real keeper and read by the fold: what an agent is asked, what it does, and what is
//! shown.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use forge_run::Spec;
use forge_run::agents::{Agents, LaunchContext, Options, Profiles, Request, plan};
use forge_run::fold::{Dialect, Fold, RunOutcome, Verdict};
use forge_types::{ProfileId, RunReason};

use crate::stage::context;
use crate::stage::{Stage, exit_of};

/// Speaks Claude's protocol for one turn, then waits for the end of its input as Claude does.
const FAKE_CLAUDE: &str = r#"
read -r line
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"fake"}'
printf '%s\n' "$line" > heard
echo "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"args: $*\"}]}}"
echo '{"type":"result","is_error":false,"usage":{"input_tokens":3,"output_tokens":4}}'
cat > /dev/null
exit 0
"#;

async fn carry_out(
    stage: &Stage,
    id: &str,
    options: &Options,
    request: Request<'_>,
) -> (Option<i32>, RunOutcome) {
    let id: ProfileId = id.parse().unwrap();
    let cwd = stage.path("");
    let path_env = std::env::var_os("PATH").unwrap();
    let place = LaunchContext { worktree: &cwd, forge_exe: Path::new("/nowhere"), path_env: &path_env };
    let plan = plan(id.executor, options, request, &place).unwrap();
    let spec = Spec {
        program: plan.program,
        args: plan.args,
        env: plan.env,
        stdin: plan.stdin,
        cwd: cwd.clone(),
        env_remove: Vec::new(),
        time_limit_ms: Some(20_000),
        silence_limit_ms: None,
    };
    let live = stage.launch_spec(&spec).await;
    let exit = exit_of(&live).await;
    let mut fold = Fold::new(Dialect::of(Some(id.executor), RunReason::CodingAgent), &context(&cwd));
    let mut out = Vec::new();
    for record in stage.records() {
        fold.push(&record, &mut out);
    }
    assert!(!out.is_empty());
    (exit.code, fold.outcome().clone())
}

#[tokio::test]
async fn claude_gets_the_prompt_and_ends_at_its_result() {
    let stage = Stage::new();
    std::fs::write(stage.path("fake-claude"), FAKE_CLAUDE).unwrap();
    let found = Profiles::built_in().find(&"CLAUDE_CODE".parse().unwrap(), &Agents::default());
    let (_, mut options) = found.unwrap();
    options.base_command_override = Some("sh ./fake-claude".into());
    let request = Request::Resume { prompt: "a \"quoted\" prompt\nof two lines", session_id: "s-0" };
    let (code, outcome) = carry_out(&stage, "CLAUDE_CODE", &options, request).await;
    assert_eq!((code, outcome.verdict.clone()), (Some(0), Some(Verdict::Success)));
    assert_eq!(outcome.session_id.as_deref(), Some("s-1"));
    assert!(outcome.summary.as_ref().unwrap().ends_with("--fork-session --resume s-0"));
    assert_eq!(outcome.tokens().output_tokens, Some(4));
    let heard: serde_json::Value =
        serde_json::from_slice(&std::fs::read(stage.path("heard")).unwrap()).unwrap();
    assert_eq!(heard["message"]["content"], "a \"quoted\" prompt\nof two lines");
}

#[tokio::test]
async fn the_shell_agent_runs_its_prompt() {
    let stage = Stage::new();
    let request = Request::New { prompt: "echo working; echo done > out.txt; echo finished; exit 5" };
    let (code, outcome) = carry_out(&stage, "SHELL", &Options::default(), request).await;
    assert_eq!((code, outcome.verdict), (Some(5), None));
    assert_eq!(outcome.summary.as_deref(), Some("working\nfinished"));
    assert_eq!(std::fs::read_to_string(stage.path("out.txt")).unwrap(), "done\n");
}
