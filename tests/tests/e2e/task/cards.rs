//! What a card of the board shows, from the first run of an attempt to its merge, and how clients hear of each change.

use forge_tests::{Socket, Started, TestForge, text};
use serde_json::{Value, json};

async fn card(forge: &TestForge, project: &str, task: &str) -> Value {
    let path = format!("/api/projects/{project}/cards?task_id={task}");
    let cards = forge.get(&path).await.data();
    assert_eq!(cards.as_array().unwrap().len(), 1, "{cards}");
    cards[0].clone()
}

/// Waits until a card shows something, looking at it only when an event names its task, attempt or run.
async fn until(
    forge: &TestForge,
    events: &mut Socket,
    project: &str,
    task: &Started,
    what: &str,
    shows: impl Fn(&Value) -> bool,
) -> Value {
    let names = [text(&task["id"]), task.attempt()];
    loop {
        let event = events.next().await.unwrap_or_else(|| panic!("the stream ended before {what}"));
        let event = event.to_string();
        if names.iter().any(|name| event.contains(name)) {
            let card = card(forge, project, &names[0]).await;
            if shows(&card) {
                return card;
            }
        }
    }
}

async fn start(forge: &TestForge, project: &str, prompt: &str) -> Started {
    forge.start_with(project, "CLAUDE_CODE:APPROVALS", "t", prompt).await
}

#[tokio::test]
async fn a_card_follows_an_attempt_from_its_question_to_its_merge() {
    let forge = TestForge::start().await;
    forge.use_fake_claude().await;
    let (project, _) = forge.project("repo").await;
    let mut events = forge.socket("/api/events/ws").await;
    assert_eq!(forge.get(&format!("/api/projects/{project}/cards")).await.data(), json!([]));
    let task = start(&forge, &project, "FAKE: id=a approve=1 repeat=1 file=x.txt").await;
    let attempt = &task["task_attempt"];

    let asks = |card: &Value| card["waiting_approvals"] == 1;
    let waiting = until(&forge, &mut events, &project, &task, "the question", asks).await;
    assert_eq!((&waiting["task_id"], &waiting["attempt_id"]), (&task["id"], &attempt["id"]));
    assert_eq!((&waiting["branch"], &waiting["target_branch"]), (&attempt["branch"], &json!("main")));
    assert_eq!((&waiting["executor"], &waiting["variant"]), (&json!("CLAUDE_CODE"), &json!("APPROVALS")));
    assert_eq!((&waiting["status"], &waiting["attempts"]), (&json!("running"), &json!(1)));
    assert!(waiting["running_since"].is_string() && waiting["files_changed"].is_null(), "{waiting}");
    let pending = forge.get("/api/approvals/pending").await.data()[0].clone();
    assert_eq!((&pending["task_id"], &pending["task_attempt_id"]), (&task["id"], &attempt["id"]));

    forge
        .post(&format!("/api/approvals/{}/respond", text(&pending["id"])), &json!({"approved": true}))
        .await
        .data();
    let is_done = |card: &Value| card["status"] == "completed";
    let done = until(&forge, &mut events, &project, &task, "the end", is_done).await;
    let diff = forge.get(&format!("/api/task-attempts/{}/diff", text(&attempt["id"]))).await.data();
    for figure in ["files_changed", "additions", "deletions"] {
        assert_eq!(done[figure], diff[figure], "{figure} of {done}, {diff}");
    }
    assert_eq!((&done["files_changed"], &done["waiting_approvals"]), (&json!(1), &json!(0)));
    assert_eq!((&done["running_since"], &done["merged"]), (&json!(null), &json!(false)));
    assert!(done["elapsed_ms"].as_i64() >= waiting["elapsed_ms"].as_i64(), "{done}");
    assert_eq!(card(&forge, &project, &text(&task["id"])).await, done, "its time stands still");

    forge.post(&format!("/api/task-attempts/{}/merge", text(&attempt["id"])), &json!({})).await.data();
    let is_merged = |card: &Value| card["merged"] == true;
    let merged = until(&forge, &mut events, &project, &task, "the merge", is_merged).await;
    assert_eq!((&merged["files_changed"], &merged["pr"]), (&json!(1), &json!(null)));
}

#[tokio::test]
async fn a_card_is_about_the_newest_attempt_and_counts_again_when_the_branch_moves() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "two", "write a.txt one\nsay done").await;
    let first = task.attempt();
    forge.settled(&first).await;
    let id = text(&task["id"]);
    assert_eq!(card(&forge, &project, &id).await["files_changed"], 1);

    forge_tests::git(&repo, &["branch", "other"]);
    std::fs::write(repo.join("a.txt"), "one\n").unwrap();
    forge_tests::git(&repo, &["add", "-A"]);
    forge_tests::git(&repo, &["commit", "-qm", "the same on main"]);
    let rebased = forge.post(&format!("/api/task-attempts/{first}/rebase"), &json!({})).await;
    assert!(rebased.status < 300, "{}", rebased.text);
    let moved = card(&forge, &project, &id).await;
    let diff = forge.get(&format!("/api/task-attempts/{first}/diff")).await.data();
    assert_eq!(moved["files_changed"], diff["files_changed"], "after a rebase: {moved}");
    let body = json!({"new_target_branch": "other"});
    forge.post(&format!("/api/task-attempts/{first}/change-target-branch"), &body).await.data();
    let aimed = card(&forge, &project, &id).await;
    let diff = forge.get(&format!("/api/task-attempts/{first}/diff")).await.data();
    assert_eq!((&aimed["files_changed"], &aimed["target_branch"]), (&diff["files_changed"], &json!("other")));

    let body = json!({"task_id": id, "executor_profile_id": "SHELL", "base_branch": "main"});
    let second = forge.post("/api/task-attempts", &body).await.data();
    let newest = card(&forge, &project, &id).await;
    assert_eq!((&newest["attempt_id"], &newest["attempts"]), (&second["id"], &json!(2)));
    assert_eq!((&newest["executor"], &newest["variant"]), (&json!("SHELL"), &json!(null)));
    forge.settled(&text(&second["id"])).await;
    let other = forge.post("/api/tasks", &json!({"project_id": project, "title": "bare"})).await.data();
    let cards = forge.get(&format!("/api/projects/{project}/cards")).await.data();
    assert_eq!(cards.as_array().unwrap().len(), 1, "a task without attempts has no card: {cards}");
    let path = format!("/api/projects/{project}/cards?task_id={}", text(&other["id"]));
    assert_eq!(forge.get(&path).await.data(), json!([]));
    let nowhere = forge.get(&format!("/api/projects/{id}/cards")).await;
    assert_eq!(nowhere.status, 404, "{}", nowhere.text);
}

#[tokio::test]
async fn the_event_socket_says_where_it_is_and_goes_on_from_there() {
    let mut forge = TestForge::start().await;
    let mut events = forge.socket("/api/events/ws").await;
    let hello = events.next().await.unwrap();
    assert_eq!(hello["event"], "hello");
    assert!(hello["data"]["version"].is_string(), "{hello}");

    let (project, _) = forge.project("repo").await;
    let made = events.next().await.unwrap();
    assert_eq!((&made["event"], &made["data"]["id"]), (&json!("project"), &json!(project)));
    assert!(made["seq"].as_i64() > hello["seq"].as_i64(), "{made}");
    let task = forge.start_scripted(&project, "t", "say done").await;
    let begun = events.next().await.unwrap();
    assert_eq!((&begun["event"], &begun["data"]["id"]), (&json!("attempt"), &task["task_attempt"]["id"]));
    assert_eq!(begun["data"]["branch"], task["task_attempt"]["branch"]);
    forge.settled(&task.attempt()).await;

    forge.crash();
    forge.up().await;
    let mut resumed = forge.socket(&format!("/api/events/ws?after={}", made["seq"])).await;
    assert_eq!(resumed.next().await.unwrap()["seq"], made["seq"], "the hello of a resumed stream");
    assert_eq!(resumed.next().await.unwrap(), begun, "what was missed, and nothing twice");

    assert!(forge.delete(&format!("/api/projects/{project}")).await.status < 300);
    loop {
        let event = resumed.next().await.unwrap();
        if event["event"] == "project_removed" {
            assert_eq!(event["data"], json!(project));
            break;
        }
    }
    let mut ahead = forge.socket("/api/events/ws?after=1000000").await;
    let hello = ahead.next().await.unwrap();
    assert!(hello["seq"].as_i64().unwrap() < 1_000_000, "a number of another log is not believed: {hello}");
    assert_eq!(forge.get("/api/events/ws?after=x").await.status, 400);
}
