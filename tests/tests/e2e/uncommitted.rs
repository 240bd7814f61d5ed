//! Work that cannot be committed is not called done: it stays where it is, run and card say why, it does not land, and
//! the commit is made when it can be.

use std::path::Path;

use forge_tests::{TestForge, git, text};
use serde_json::{Value, json};

/// Leaves work behind and the repository without its objects, as a disk that went away would.
const BREAKS: &str =
    "echo work > result.txt; common=$(git rev-parse --git-common-dir); mv $common/objects $common/away";

async fn broken_attempt(forge: &TestForge) -> (String, Value, std::path::PathBuf) {
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "t", BREAKS).await;
    let attempt = text(&task["task_attempt"]["id"]);
    let runs = forge.settled(&attempt).await;
    assert_eq!(runs[0]["status"], "completed", "the agent itself did nothing wrong");
    assert!(!text(&runs[0]["commit_error"]).is_empty(), "{runs:#?}");
    let card = card(forge, &project).await;
    assert_eq!(card["commit_error"], runs[0]["commit_error"]);
    (project, task["task_attempt"].clone(), repo)
}

async fn card(forge: &TestForge, project: &str) -> Value {
    forge.get(&format!("/api/projects/{project}/cards")).await.data()[0].clone()
}

fn mend(repo: &Path) {
    std::fs::rename(repo.join(".git/away"), repo.join(".git/objects")).unwrap();
}

async fn assert_committed(forge: &TestForge, project: &str, attempt: &Value, repo: &Path) {
    let runs = forge.runs(&text(&attempt["id"])).await;
    assert_eq!(runs[0]["commit_error"], Value::Null);
    let tip = git(repo, &["rev-parse", &text(&attempt["branch"])]);
    assert_eq!(runs[0]["after_head_commit"], json!(tip));
    assert_eq!(git(repo, &["show", &format!("{tip}:result.txt")]), "work");
    assert_eq!(card(forge, project).await["commit_error"], Value::Null);
}

#[tokio::test]
async fn work_that_could_not_be_committed_is_committed_at_the_next_look() {
    let forge = TestForge::start().await;
    let (project, attempt, repo) = broken_attempt(&forge).await;
    mend(&repo);
    let path = format!("/api/task-attempts/{}/branch-status", text(&attempt["id"]));
    let status = forge.get(&path).await.data();
    assert_eq!((&status["commits_ahead"], &status["has_uncommitted_changes"]), (&json!(1), &json!(false)));
    assert_committed(&forge, &project, &attempt, &repo).await;
}

#[tokio::test]
async fn work_that_could_not_be_committed_is_committed_by_the_next_start() {
    let mut forge = TestForge::start().await;
    let (project, attempt, repo) = broken_attempt(&forge).await;
    forge.crash();
    mend(&repo);
    forge.up().await;
    let path = format!("/api/execution-processes?task_attempt_id={}", text(&attempt["id"]));
    forge.until(&path, "it is committed", |runs| runs[0]["commit_error"].is_null()).await;
    assert_committed(&forge, &project, &attempt, &repo).await;
}

#[tokio::test]
async fn an_attempt_with_uncommitted_work_does_not_land_without_it() {
    let forge = TestForge::start().await;
    let (project, attempt, repo) = broken_attempt(&forge).await;
    let path = format!("/api/task-attempts/{}/merge", text(&attempt["id"]));
    let refused = forge.post(&path, &json!({})).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains("is not committed"), "{}", refused.text);
    mend(&repo);
    assert_eq!(forge.post(&path, &json!({})).await.status, 200);
    assert_eq!(card(&forge, &project).await["commit_error"], Value::Null);
    assert_eq!(git(&repo, &["show", "main:result.txt"]), "work");
}
