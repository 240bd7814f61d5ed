//! Stopping a run ends its whole process tree and nothing else.

use std::process::Command;

use forge_tests::{TestForge, is_alive, pid_in, signal, text};
use rustix::process::Signal;
use serde_json::json;

#[tokio::test]
async fn stop_ends_escapees_too_and_no_stranger() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let mut stranger = Command::new("sleep").arg("600").spawn().unwrap();
    let place = forge.dir().join("escapee.pid");
    let script = format!("(setsid sh -c 'echo $$ > {}; exec sleep 600' &) ; sleep 600", place.display());
    let task = forge.start_with(&project, "SHELL", "t", &script).await;
    let attempt = task.attempt();
    let escapee = pid_in(&place).await;

    assert_eq!(forge.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({})).await.status, 200);
    assert!(!is_alive(escapee), "a setsid child outlived the stop");
    assert!(is_alive(stranger.id()));
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    let run = forge.runs(&attempt).await[0].clone();
    assert_eq!((&run["status"], &run["exit_code"]), (&json!("killed"), &json!(null)));
    assert!(run["completed_at"].is_string());
    let task = forge.get(&format!("/api/tasks/{}", text(&task["id"]))).await.data();
    assert_eq!(task["status"], "inreview");
    let again = forge.post(&format!("/api/execution-processes/{}/stop", text(&run["id"])), &json!({})).await;
    assert_eq!(again.status, 409, "{}", again.text);
}

#[tokio::test]
async fn an_agent_that_resists_is_ended_by_force() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let place = forge.dir().join("resister.pid");
    let script = format!("trap '' INT TERM; echo $$ > {}; while :; do sleep 1; done", place.display());
    let task = forge.start_with(&project, "SHELL", "t", &script).await;
    let resister = pid_in(&place).await;
    let attempt = task.attempt();
    forge.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({})).await.data();
    assert!(!is_alive(resister));
}

#[tokio::test]
async fn a_stop_that_its_keeper_does_not_hear_is_not_called_done() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let place = forge.dir().join("agent.pid");
    let script = format!("echo $$ > {}; exec sleep 600", place.display());
    let task = forge.start_with(&project, "SHELL", "t", &script).await;
    let (agent, attempt) = (pid_in(&place).await, task.attempt());
    let run = text(&forge.runs(&attempt).await[0]["id"]);
    let keeper = u32::try_from(forge.keeper_state(&run)["keeper"]["pid"].as_u64().unwrap()).unwrap();
    signal(keeper, Signal::STOP);
    let told = forge.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({})).await;
    assert!(told.status == 409 && told.message().contains("may still be running"), "{}", told.text);
    assert!(is_alive(agent));
    signal(keeper, Signal::CONT);
    let path = format!("/api/execution-processes/{run}");
    let run = forge.until(&path, "it has ended", |run| run["completed_at"].is_string()).await;
    assert_eq!(run["status"], "killed");
    assert!(!is_alive(agent));
}

#[tokio::test]
async fn silence_and_time_have_limits_when_set() {
    let forge = TestForge::with(&["--silence-limit-s", "1"], &[]).await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "t", "echo hi; sleep 600").await;
    let runs = forge.settled(&task.attempt()).await;
    assert_eq!(runs[0]["status"], "failed");
    let log = forge.raw_log(&text(&runs[0]["id"])).await;
    assert!(log.contains("hi") && log.contains("no output"), "{log}");
}
