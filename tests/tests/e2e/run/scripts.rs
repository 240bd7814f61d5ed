//! Setup, cleanup and dev scripts, and the files that are copied into new worktrees.

use forge_tests::{TestForge, git, is_alive, text};
use serde_json::json;

#[tokio::test]
async fn the_chain_is_setup_then_agent_then_cleanup() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    std::fs::write(repo.join(".gitignore"), ".env\nset-up\n").unwrap();
    std::fs::write(repo.join(".env"), "SECRET=1\n").unwrap();
    git(&repo, &["add", ".gitignore"]);
    git(&repo, &["commit", "-q", "-m", "Ignore"]);
    let update = json!({
        "setup_script": "touch set-up; echo setting up", "cleanup_script": "echo formatted >> work.txt",
        "copy_files": ".env, ../outside, missing.txt",
    });
    forge.put(&format!("/api/projects/{project}"), &update).await.data();
    let script = "test -f set-up && grep -q SECRET .env && echo work > work.txt";
    let task = forge.start_with(&project, "SHELL", "echo t", script).await;
    let attempt = task.attempt();
    let id = text(&task["id"]);
    forge
        .until(&format!("/api/tasks/{id}"), "the task is in review", |task| task["status"] == "inreview")
        .await;
    let runs = forge.runs(&attempt).await;
    let reasons: Vec<String> = runs.iter().map(|run| text(&run["run_reason"])).collect();
    assert_eq!(reasons, ["setupscript", "codingagent", "cleanupscript"]);
    assert!(runs.iter().all(|run| run["status"] == "completed"), "{runs:#?}");
    let branch = task.branch();
    assert_eq!(git(&repo, &["show", &format!("{branch}:work.txt")]), "work\nformatted");
    assert!(git(&repo, &["log", "-1", "--format=%s", &branch]).starts_with("Cleanup script changes"));
    let attempt = forge.get(&format!("/api/task-attempts/{attempt}")).await.data();
    assert!(attempt["setup_completed_at"].is_string());
}

#[tokio::test]
async fn a_failed_setup_ends_the_chain_and_the_task_is_not_stuck() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    forge.put(&format!("/api/projects/{project}"), &json!({"setup_script": "exit 7"})).await.data();
    let task = forge.start_scripted(&project, "t", "say never").await;
    let runs = forge.settled(&task.attempt()).await;
    assert_eq!((runs.len(), &runs[0]["exit_code"]), (1, &json!(7)));
    let task = forge.get(&format!("/api/tasks/{}", text(&task["id"]))).await.data();
    assert_eq!(task["status"], "inreview");
}

#[tokio::test]
async fn one_dev_server_per_project_runs_beside_the_agent() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "t", "say done").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    let path = format!("/api/task-attempts/{attempt}/start-dev-server");
    let none = forge.post(&path, &json!({})).await;
    assert_eq!((none.status, none.message()), (200, "No dev server script configured for this project"));

    let script = json!({"dev_script": "echo $$ > ../../dev.pid; sleep 600"});
    forge.put(&format!("/api/projects/{project}"), &script).await.data();
    forge.post(&path, &json!({})).await.data();
    forge.post(&path, &json!({})).await.data();
    let servers: Vec<_> =
        forge.runs(&attempt).await.into_iter().filter(|run| run["run_reason"] == "devserver").collect();
    let states: Vec<String> = servers.iter().map(|run| text(&run["status"])).collect();
    assert_eq!(states, ["killed", "running"]);
    let task = forge.get(&format!("/api/tasks/{}", text(&task["id"]))).await.data();
    assert_eq!(task["status"], "inreview", "a dev server does not move the task");
    forge
        .post(&format!("/api/execution-processes/{}/stop", text(&servers[1]["id"])), &json!({}))
        .await
        .data();
    let pid = std::fs::read_to_string(forge.dir().join("dev.pid")).unwrap().trim().parse().unwrap();
    assert!(!is_alive(pid));
}
