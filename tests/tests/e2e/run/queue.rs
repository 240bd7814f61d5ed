//! There is never a second agent in a worktree: a follow-up to a busy attempt waits for its turn.

use forge_tests::{TestForge, await_file, text};
use serde_json::json;

#[tokio::test]
async fn a_follow_up_to_a_busy_attempt_waits_and_then_runs() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let guard = format!("mkdir lock || exit 9; {}; rmdir lock", await_file("../go"));
    let task = forge.start_with(&project, "SHELL", "echo t", &guard).await;
    let attempt = task.attempt();
    let path = format!("/api/task-attempts/{attempt}/follow-up");
    let mut queued = Vec::new();
    for _ in 0..3 {
        queued.push(forge.post(&path, &json!({"prompt": guard})).await.data());
    }
    assert!(queued.iter().all(|run| run["status"] == "running"));
    std::fs::write(forge.worktrees().join("go"), "").unwrap();
    let runs = forge.settled(&attempt).await;
    assert_eq!(runs.len(), 4);
    assert!(runs.iter().all(|run| run["status"] == "completed"), "two agents met in one tree: {runs:#?}");
    let order: Vec<String> = runs[1..].iter().map(|run| text(&run["id"])).collect();
    assert_eq!(order, queued.iter().map(|run| text(&run["id"])).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_stop_ends_the_waiting_runs_too() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "echo t", "sleep 600").await;
    let attempt = task.attempt();
    forge
        .post(&format!("/api/task-attempts/{attempt}/follow-up"), &json!({"prompt": "echo never"}))
        .await
        .data();
    forge.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({})).await.data();
    let runs = forge.runs(&attempt).await;
    assert!(runs.iter().all(|run| run["status"] == "killed"), "{runs:#?}");
    assert_eq!(forge.raw_log(&text(&runs[1]["id"])).await, "");
}

#[tokio::test]
async fn a_waiting_follow_up_survives_a_crash() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "echo t", &await_file("../go")).await;
    let attempt = task.attempt();
    forge
        .post(&format!("/api/task-attempts/{attempt}/follow-up"), &json!({"prompt": "echo at last"}))
        .await
        .data();
    forge.crash();
    forge.up().await;
    std::fs::write(forge.worktrees().join("go"), "").unwrap();
    let runs = forge.settled(&attempt).await;
    assert_eq!(runs[1]["status"], "completed");
    assert!(forge.raw_log(&text(&runs[1]["id"])).await.contains("at last"));
}
