//! A usage limit is not a failure: the run waits for its provider, and goes on when the user lets it. A conversation that
//! the agent lost is told anew.

use forge_tests::{Started, TestForge, text};
use serde_json::{Value, json};

async fn start(forge: &TestForge, prompt: &str) -> (Started, String) {
    forge.use_fake_claude().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "CLAUDE_CODE", "t", prompt).await;
    let attempt = task.attempt();
    (task, attempt)
}

async fn until_parked(forge: &TestForge, attempt: &str) -> Value {
    let list = format!("/api/execution-processes?task_attempt_id={attempt}");
    let runs = forge.until(&list, "a run is parked", |runs| runs[0]["parked_until"].is_string()).await;
    runs[0].clone()
}

async fn status(forge: &TestForge, task: &Value) -> Value {
    forge.get(&format!("/api/tasks/{}", text(&task["id"]))).await.data()["status"].clone()
}

#[tokio::test]
async fn a_limited_run_waits_and_can_be_stopped_or_overtaken() {
    let mut forge = TestForge::start().await;
    let (task, attempt) = start(&forge, "FAKE: id=l limit=3600 file=half.txt").await;
    let parked = until_parked(&forge, &attempt).await;
    assert_eq!((&parked["status"], &parked["exit_code"]), (&json!("running"), &json!(null)));
    assert_eq!(status(&forge, &task).await, "inprogress");
    let entries = forge.entries(&text(&parked["id"])).await;
    assert!(entries.iter().any(|entry| entry["content"] == "You've hit your limit"), "{entries:#?}");
    forge.crash();
    forge.up().await;
    assert_eq!(until_parked(&forge, &attempt).await["parked_until"], parked["parked_until"]);

    let follow_up = format!("/api/task-attempts/{attempt}/follow-up");
    forge.post(&follow_up, &json!({"prompt": "FAKE: id=m limit=3600"})).await.data();
    let list = format!("/api/execution-processes?task_attempt_id={attempt}");
    let runs = forge.until(&list, "the second is parked", |runs| runs[1]["parked_until"].is_string()).await;
    assert_eq!(runs[0]["status"], "killed", "overtaken by the message");
    forge.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({})).await.data();
    let runs = forge.settled(&attempt).await;
    assert_eq!(runs[1]["status"], "killed");
    let place = task.place();
    assert!(place.join("half.txt").exists(), "the work stays where it is");
}

#[tokio::test]
async fn a_merge_and_a_deletion_are_refused_with_what_to_do_about_a_parked_run() {
    let forge = TestForge::start().await;
    let (task, attempt) = start(&forge, "FAKE: id=l limit=3600").await;
    let parked = until_parked(&forge, &attempt).await;
    let merge = forge.post(&format!("/api/task-attempts/{attempt}/merge"), &json!(null)).await;
    let delete = forge.delete(&format!("/api/tasks/{}", text(&task["id"]))).await;
    for refused in [merge, delete] {
        assert_eq!(refused.status, 409, "{}", refused.text);
        let message = refused.message();
        for part in [&text(&parked["id"]), "waits for its provider", "stop it or send a follow-up"] {
            assert!(message.contains(part), "'{part}' is missing: {message}");
        }
    }
}

#[tokio::test]
async fn a_limited_run_goes_on_by_itself_once_it_may() {
    let forge = TestForge::start().await;
    assert!(forge.put("/api/config", &json!({"auto_resume": true})).await.status < 300);
    let (task, attempt) = start(&forge, "FAKE: id=l limit=1 file=half.txt").await;
    let list = format!("/api/execution-processes?task_attempt_id={attempt}");
    let runs = forge.until(&list, "it went on", |runs| runs[1]["status"] == "completed").await;
    assert_eq!(runs[0]["status"], "killed");
    let went_on = &runs[1]["executor_action"]["typ"];
    assert_eq!(
        (&went_on["type"], &went_on["prompt"]),
        (&json!("CodingAgentFollowUpRequest"), &json!("Continue where you left off."))
    );
    assert_eq!(status(&forge, &task).await, "inreview");
}

#[tokio::test]
async fn a_lost_conversation_is_said_and_can_be_told_anew() {
    let forge = TestForge::start().await;
    let (_, attempt) = start(&forge, "FAKE: id=first").await;
    forge.settled(&attempt).await;
    let follow_up = format!("/api/task-attempts/{attempt}/follow-up");
    forge.post(&follow_up, &json!({"prompt": "FAKE: id=second lost=1"})).await.data();
    let lost = forge.settled(&attempt).await[1].clone();
    assert_eq!(lost["status"], "failed");
    let entries = forge.entries(&text(&lost["id"])).await;
    let last = text(&entries.last().unwrap()["content"]);
    assert!(last.contains("no longer knows the conversation") && last.contains("fresh"), "{last}");
    let fresh = json!({"prompt": "and now? FAKE: id=third", "fresh": true});
    forge.post(&follow_up, &fresh).await.data();
    let runs = forge.settled(&attempt).await;
    let action = &runs[2]["executor_action"]["typ"];
    assert_eq!(action["type"], "CodingAgentInitialRequest");
    let prompt = text(&action["prompt"]);
    assert!(
        prompt.contains("User: t\n\nFAKE: id=first") && prompt.ends_with("and now? FAKE: id=third"),
        "{prompt}"
    );
    assert_eq!(runs[2]["status"], "completed");
}
