//! A request under an `Idempotency-Key` has one effect, whenever the server dies.

use std::path::Path;

use forge_client::Method;
use forge_tests::{Answer, TestForge, eventually, git, text};
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection, Row};

const KEY: [(&str, &str); 1] = [("Idempotency-Key", "the-key")];

async fn database(forge: &TestForge) -> SqliteConnection {
    let database = SqliteConnectOptions::new().filename(forge.home().join("db.sqlite"));
    SqliteConnection::connect_with(&database).await.unwrap()
}

async fn change(forge: &TestForge, sql: &'static str) {
    let mut database = database(forge).await;
    sqlx::query(sql).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
}

async fn post(forge: &TestForge, path: &str, body: &Value) -> Answer {
    forge.send_with(Method::POST, path, Some(body), &KEY).await
}

async fn restart(forge: &mut TestForge) {
    forge.crash();
    forge.up().await;
}

async fn count(forge: &TestForge, path: &str) -> usize {
    forge.get(path).await.data().as_array().unwrap().len()
}

fn commits(repo: &Path) -> usize {
    git(repo, &["rev-list", "--count", "main"]).parse().unwrap()
}

#[tokio::test]
async fn a_start_whose_answer_a_crash_took_is_answered_again_and_not_done_again() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let body = forge.task(&project, "once").prompt("say done").body();
    // What a server leaves that dies after the rows are written and before it has answered.
    change(&forge, "CREATE TRIGGER died BEFORE UPDATE ON idempotency BEGIN SELECT RAISE(ABORT, 'died'); END")
        .await;
    let first = post(&forge, "/api/tasks/create-and-start", &body).await.data();
    change(&forge, "DROP TRIGGER died").await;
    restart(&mut forge).await;
    let again = post(&forge, "/api/tasks/create-and-start", &body).await.data();
    assert_eq!((&again["id"], &again["task_attempt"]["id"]), (&first["id"], &first["task_attempt"]["id"]));
    assert_eq!(count(&forge, &format!("/api/tasks?project_id={project}")).await, 1);
    assert_eq!(forge.settled(&text(&first["task_attempt"]["id"])).await.len(), 1);
}

#[tokio::test]
async fn a_start_that_a_crash_cut_off_before_its_rows_is_done_once_by_the_next_try() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let body = forge.task(&project, "once").prompt("say done").body();
    // Nothing can be written: the start stands between its worktree and its rows.
    let mut database = database(&forge).await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut database).await.unwrap();
    let request = forge.client().request(Method::POST, "/api/tasks/create-and-start");
    let request = request.header(KEY[0].0, KEY[0].1).json(&body);
    let cut_off = tokio::spawn(request.send());
    let is_attempt = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
    };
    let made = || std::fs::read_dir(forge.worktrees()).is_ok_and(|mut entries| entries.any(is_attempt));
    eventually("the worktree is made", made).await;
    forge.crash();
    assert!(cut_off.await.unwrap().is_err());
    database.close().await.unwrap();
    forge.up().await;
    let begun = post(&forge, "/api/tasks/create-and-start", &body).await.data();
    assert_eq!(post(&forge, "/api/tasks/create-and-start", &body).await.data(), begun);
    assert_eq!(count(&forge, &format!("/api/tasks?project_id={project}")).await, 1);
    assert_eq!(count(&forge, "/api/task-attempts").await, 1);
}

#[tokio::test]
async fn a_merge_that_a_crash_kept_from_its_record_is_recorded_and_not_done_again() {
    let mut forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "land", "write a.txt one\nsay done").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    git(&repo, &["checkout", "-q", "--detach"]);
    let before = commits(&repo);
    let path = format!("/api/task-attempts/{attempt}/merge");
    // What a server leaves that dies after the branches moved and before it has written that.
    change(&forge, "CREATE TRIGGER died BEFORE INSERT ON merges BEGIN SELECT RAISE(ABORT, 'died'); END")
        .await;
    assert_eq!(post(&forge, &path, &json!({})).await.status, 500);
    assert_eq!(commits(&repo), before + 1);
    change(&forge, "DROP TRIGGER died").await;
    // Meanwhile others land, too.
    let tip = git(&repo, &["rev-parse", "main"]);
    let other = git(&repo, &["commit-tree", "-p", &tip, "-m", "other", &format!("{tip}^{{tree}}")]);
    git(&repo, &["update-ref", "refs/heads/main", &other]);
    restart(&mut forge).await;

    post(&forge, &path, &json!({})).await.data();
    post(&forge, &path, &json!({})).await.data();
    assert_eq!(commits(&repo), before + 2, "one merge, and the other's commit");
    let status = forge.get(&format!("/api/task-attempts/{attempt}/branch-status")).await.data();
    assert_eq!(status["merges"].as_array().unwrap().len(), 1);
    assert_eq!(status["merges"][0]["merge_commit"], tip);
    let task = forge.get(&format!("/api/tasks/{}", text(&task["id"]))).await.data();
    assert_eq!(task["status"], "done");
    let without_key = forge.post(&path, &json!({})).await;
    assert_eq!(without_key.status, 409, "{}", without_key.text);
}

#[tokio::test]
async fn a_follow_up_under_a_key_is_one_run_also_after_a_crash() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "talk", "say done").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    let path = format!("/api/task-attempts/{attempt}/follow-up");
    let body = json!({"prompt": "say more"});
    let first = post(&forge, &path, &body).await.data();
    assert_eq!(post(&forge, &path, &body).await.data(), first);
    restart(&mut forge).await;
    assert_eq!(post(&forge, &path, &body).await.data(), first);
    assert_eq!(forge.settled(&attempt).await.len(), 2);
    assert_eq!(post(&forge, &path, &json!({"prompt": "say other"})).await.status, 422);
}

#[tokio::test]
async fn an_agent_at_work_is_told_once_when_a_crash_comes_right_after_it_was_told() {
    let mut forge = TestForge::start().await;
    forge.use_fake_claude().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "CLAUDE_CODE:APPROVALS", "t", "FAKE: id=h hear=2").await;
    let attempt = task.attempt();
    let run = text(&forge.runs(&attempt).await[0]["id"]);
    forge.until_said(&run, "hello from").await;
    let path = format!("/api/task-attempts/{attempt}/follow-up");
    let body = json!({"prompt": "one thing more"});
    change(&forge, "CREATE TRIGGER died BEFORE UPDATE ON idempotency BEGIN SELECT RAISE(ABORT, 'died'); END")
        .await;
    assert_eq!(post(&forge, &path, &body).await.status, 500);
    change(&forge, "DROP TRIGGER died").await;
    restart(&mut forge).await;
    assert_eq!(text(&post(&forge, &path, &body).await.data()["id"]), run);
    assert_eq!(text(&post(&forge, &path, &body).await.data()["id"]), run);
    let told = forge.entries(&run).await;
    let told = told.iter().filter(|entry| {
        entry["entry_type"]["type"] == "user_message" && entry["content"].as_str() == Some("one thing more")
    });
    assert_eq!((told.count(), forge.runs(&attempt).await.len()), (1, 1));
    forge.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({})).await.data();
}

#[tokio::test]
async fn requests_without_a_key_leave_no_row() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    forge.post("/api/tasks", &json!({"project_id": project, "title": "plain"})).await.data();
    let mut database = database(&forge).await;
    let rows = sqlx::query("SELECT COUNT(*) FROM idempotency").fetch_one(&mut database).await.unwrap();
    assert_eq!(rows.get::<i64, _>(0), 0);
    database.close().await.unwrap();
}
