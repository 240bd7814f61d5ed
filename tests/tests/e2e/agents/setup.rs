//! Getting an agent's program ready from within an attempt.

use forge_tests::{TestForge, make_program, text};
use serde_json::json;

#[tokio::test]
async fn the_cursor_agent_is_logged_in_and_the_last_agent_goes_on() {
    let bin = tempfile::tempdir().unwrap();
    let program = bin.path().join("cursor-agent");
    make_program(&program, "#!/bin/sh\necho \"cursor-agent $*\"\n");
    let path = format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap());
    let forge = TestForge::with(&[], &[("PATH", &path), ("HOME", bin.path().to_str().unwrap())]).await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "t", "echo at work").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    let path = format!("/api/task-attempts/{attempt}/run-agent-setup");
    let refused = forge.post(&path, &json!({"executor_profile_id": "CLAUDE_CODE"})).await;
    assert_eq!((refused.status, refused.message()), (422, "Setup helper not supported"));
    let answer =
        forge.post(&path, &json!({"executor_profile_id": {"executor": "CURSOR_AGENT"}})).await.data();
    assert_eq!(answer, json!({}));
    let list = format!("/api/execution-processes?task_attempt_id={attempt}");
    forge.until(&list, "the agent goes on", |runs| runs.as_array().is_some_and(|runs| runs.len() == 3)).await;
    let runs = forge.settled(&attempt).await;
    let reasons: Vec<_> = runs.iter().map(|run| text(&run["run_reason"])).collect();
    assert_eq!(reasons, ["codingagent", "setupscript", "codingagent"]);
    assert!(forge.raw_log(&text(&runs[1]["id"])).await.contains("cursor-agent login"));
    assert!(forge.raw_log(&text(&runs[2]["id"])).await.contains("at work"));
}
