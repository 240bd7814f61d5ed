//! A queued draft is sent exactly once, when the agent ends, whatever happens to the server meanwhile.

use std::path::PathBuf;

use forge_tests::{TestForge, await_file, text};
use serde_json::{Value, json};

/// Runs until the file `go` appears beside the worktrees.
async fn gated_attempt(forge: &TestForge) -> (String, PathBuf) {
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "t", &await_file("../go")).await;
    (task.attempt(), task.place().with_file_name("go"))
}

async fn queue(forge: &TestForge, attempt: &str, prompt: &str) -> Value {
    let base = format!("/api/task-attempts/{attempt}/draft");
    forge.put(&format!("{base}?type=follow_up"), &json!({"prompt": prompt})).await.data();
    forge.post(&format!("{base}/queue?type=follow_up"), &json!({"queued": true})).await.data()
}

async fn draft(forge: &TestForge, attempt: &str) -> Value {
    forge.get(&format!("/api/task-attempts/{attempt}/draft?type=follow_up")).await.data()
}

async fn settled(forge: &TestForge, attempt: &str, count: usize) -> Vec<Value> {
    let path = format!("/api/execution-processes?task_attempt_id={attempt}");
    let many = |runs: &Value| runs.as_array().is_some_and(|runs| runs.len() >= count);
    forge.until(&path, "the draft is sent", many).await;
    forge.settled(attempt).await
}

#[tokio::test]
async fn a_queued_draft_is_sent_when_the_agent_ends() {
    let forge = TestForge::start().await;
    let (attempt, go) = gated_attempt(&forge).await;
    let queued = queue(&forge, &attempt, "echo queued").await;
    assert_eq!((&queued["queued"], &queued["version"]), (&json!(true), &json!(2)));
    let path = format!("/api/task-attempts/{attempt}/draft?type=follow_up");
    assert_eq!(forge.put(&path, &json!({"prompt": "other"})).await.status, 409, "it cannot be edited");
    assert_eq!(forge.runs(&attempt).await.len(), 1, "it waits");
    std::fs::write(go, "").unwrap();
    let runs = settled(&forge, &attempt, 2).await;
    assert_eq!(runs.len(), 2);
    assert!(forge.raw_log(&text(&runs[1]["id"])).await.contains("queued"));
    let after = draft(&forge, &attempt).await;
    assert_eq!((&after["prompt"], &after["queued"]), (&json!(""), &json!(false)));
    let attempt = forge.get(&format!("/api/task-attempts/{attempt}")).await.data();
    assert_eq!(attempt["task"]["status"], "inreview");
}

#[tokio::test]
async fn a_draft_taken_out_of_the_queue_is_not_sent() {
    let forge = TestForge::start().await;
    let (attempt, go) = gated_attempt(&forge).await;
    queue(&forge, &attempt, "echo never").await;
    let path = format!("/api/task-attempts/{attempt}/draft/queue?type=follow_up");
    let expected = json!({"queued": false, "expected_queued": true, "expected_version": 2});
    assert_eq!(forge.post(&path, &expected).await.data()["queued"], false);
    std::fs::write(go, "").unwrap();
    assert_eq!(forge.settled(&attempt).await.len(), 1);
    assert_eq!(draft(&forge, &attempt).await["prompt"], "echo never");
}

#[tokio::test]
async fn a_draft_queued_before_a_crash_is_sent_once_after_it() {
    let mut forge = TestForge::start().await;
    let (attempt, go) = gated_attempt(&forge).await;
    queue(&forge, &attempt, "echo once").await;
    forge.crash();
    std::fs::write(go, "").unwrap();
    forge.up().await;
    // Crashes all along the way: before, while and after it is sent.
    for _ in 0..4 {
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        forge.crash();
        forge.up().await;
    }
    let runs = settled(&forge, &attempt, 2).await;
    forge.crash();
    forge.up().await;
    assert_eq!(forge.settled(&attempt).await.len(), 2, "{runs:#?}");
    assert_eq!(draft(&forge, &attempt).await["prompt"], "");
}

#[tokio::test]
async fn nothing_starts_by_itself_after_a_stop() {
    let forge = TestForge::start().await;
    let (attempt, _) = gated_attempt(&forge).await;
    queue(&forge, &attempt, "echo never").await;
    forge.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({})).await.data();
    let draft = draft(&forge, &attempt).await;
    assert_eq!((&draft["prompt"], &draft["queued"]), (&json!("echo never"), &json!(false)));
    assert_eq!(forge.runs(&attempt).await.len(), 1);
}

#[tokio::test]
async fn a_follow_up_empties_the_draft_and_the_stream_tells_all_of_it() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let mut socket = forge.socket(&format!("/api/drafts/stream/ws?project_id={project}")).await;
    assert_eq!(socket.next().await.unwrap()["JsonPatch"][0]["value"], json!({}));
    let task = forge.start_with(&project, "SHELL", "t", "true").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    let path = format!("/api/task-attempts/{attempt}/draft?type=follow_up");
    forge.put(&path, &json!({"prompt": "echo more"})).await.data();
    let follow_up = json!({"prompt": "echo more"});
    forge.post(&format!("/api/task-attempts/{attempt}/follow-up"), &follow_up).await.data();
    forge.delete(&path).await.data();
    let mut told = Vec::new();
    for _ in 0..4 {
        let op = socket.next().await.unwrap()["JsonPatch"][0].clone();
        let value = op["value"].get("follow_up").unwrap_or(&op["value"]).clone();
        told.push((text(&op["op"]), text(&op["path"]), text(&value["prompt"]), value["version"].clone()));
    }
    let key = format!("/drafts/{attempt}");
    let row = |op: &str, path: String, prompt: &str, version: i64| {
        (op.to_owned(), path, prompt.to_owned(), json!(version))
    };
    let below = format!("{key}/follow_up");
    assert_eq!(
        told,
        [
            row("add", key, "", 0),
            row("replace", below.clone(), "echo more", 1),
            row("replace", below.clone(), "", 2),
            row("replace", below, "", 0),
        ]
    );
}

#[tokio::test]
async fn a_draft_is_emptied_only_when_its_own_words_were_sent() {
    let forge = TestForge::start().await;
    let (attempt, go) = gated_attempt(&forge).await;
    let say = format!("/api/task-attempts/{attempt}/follow-up");
    let save = format!("/api/task-attempts/{attempt}/draft?type=follow_up");

    forge.put(&save, &json!({"prompt": "echo kept"})).await.data();
    forge.post(&say, &json!({"prompt": "echo other"})).await.data();
    assert_eq!(draft(&forge, &attempt).await["prompt"], "echo kept", "somebody else said something");

    forge.post(&say, &json!({"prompt": "echo kept and more"})).await.data();
    assert_eq!(draft(&forge, &attempt).await["prompt"], "", "who types goes on after the last save");

    queue(&forge, &attempt, "echo queued").await;
    forge.post(&say, &json!({"prompt": "echo queued up"})).await.data();
    let waiting = draft(&forge, &attempt).await;
    assert_eq!((&waiting["prompt"], &waiting["queued"]), (&json!("echo queued"), &json!(true)));
    std::fs::write(go, "").unwrap();
    let runs = settled(&forge, &attempt, 5).await;
    let mut said = Vec::new();
    for run in &runs[1..] {
        said.push(forge.raw_log(&text(&run["id"])).await.trim().to_owned());
    }
    assert_eq!(said, ["other", "kept and more", "queued up", "queued"]);
}
