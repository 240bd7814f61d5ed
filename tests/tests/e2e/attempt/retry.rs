//! Going back: a retry drops the run it retries and everything after it, and brings the tree back to where it began.

use std::path::PathBuf;

use forge_tests::{TestForge, text};
use serde_json::{Value, json};

struct Tried {
    attempt: String,
    place: PathBuf,
    runs: Vec<Value>,
}

/// An attempt with two runs, each of which committed a file.
async fn twice(forge: &TestForge) -> Tried {
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "t", "echo 1 > one.txt").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    forge
        .post(&format!("/api/task-attempts/{attempt}/follow-up"), &json!({"prompt": "echo 2 > two.txt"}))
        .await
        .data();
    let runs = forge.settled(&attempt).await;
    let place = text(&task["task_attempt"]["worktree_path"]).into();
    Tried { attempt, place, runs }
}

async fn retry(forge: &TestForge, tried: &Tried, options: Value) -> Vec<Value> {
    let mut body = json!({"prompt": "echo 3 > three.txt", "retry_process_id": tried.runs[1]["id"]});
    body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    forge.post(&format!("/api/task-attempts/{}/follow-up", tried.attempt), &body).await.data();
    forge.settled(&tried.attempt).await
}

#[tokio::test]
async fn a_retry_begins_where_the_retried_run_began() {
    let forge = TestForge::start().await;
    let tried = twice(&forge).await;
    let draft = format!("/api/task-attempts/{}/draft?type=retry", tried.attempt);
    let body = json!({"prompt": "again", "retry_process_id": tried.runs[1]["id"]});
    forge.put(&draft, &body).await.data();
    let runs = retry(&forge, &tried, json!({})).await;
    assert_eq!(runs.len(), 2, "the retried run is dropped");
    assert_eq!(runs[1]["before_head_commit"], tried.runs[1]["before_head_commit"]);
    assert!(tried.place.join("one.txt").exists() && tried.place.join("three.txt").exists());
    assert!(!tried.place.join("two.txt").exists());
    assert_eq!(forge.get(&draft).await.data()["version"], 0, "the retry draft is gone");
    let path = format!("/api/execution-processes?task_attempt_id={}&show_soft_deleted=true", tried.attempt);
    let all = forge.get(&path).await.data();
    assert_eq!((all.as_array().unwrap().len(), &all[1]["dropped"]), (3, &json!(true)));
}

#[tokio::test]
async fn the_tree_stays_when_no_reset_is_wanted_or_work_would_be_lost() {
    for (options, dirty, reset) in [
        (json!({"perform_git_reset": false}), false, false),
        (json!({}), true, false),
        (json!({"force_when_dirty": true}), true, true),
    ] {
        let forge = TestForge::start().await;
        let tried = twice(&forge).await;
        if dirty {
            std::fs::write(tried.place.join("README.md"), "not committed\n").unwrap();
        }
        let runs = retry(&forge, &tried, options.clone()).await;
        assert_eq!(runs.len(), 2, "{options}: dropped in any case");
        assert_eq!(!tried.place.join("two.txt").exists(), reset, "{options}");
    }
}

#[tokio::test]
async fn a_retry_of_a_running_run_stops_it_first() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "t", "sleep 600").await;
    let attempt = task.attempt();
    let runs = forge.runs(&attempt).await;
    let body = json!({"prompt": "echo better", "retry_process_id": runs[0]["id"]});
    let stranger = json!({"prompt": "x", "retry_process_id": "00000000-0000-4000-8000-000000000000"});
    let path = format!("/api/task-attempts/{attempt}/follow-up");
    let refused = forge.post(&path, &stranger).await;
    assert_eq!((refused.status, refused.message().contains("Process not found")), (422, true));
    assert_eq!(forge.runs(&attempt).await[0]["status"], "running", "a refused retry stops nothing");
    forge.post(&path, &body).await.data();
    let runs = forge.settled(&attempt).await;
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0]["executor_action"]["typ"]["prompt"], "echo better");
}
