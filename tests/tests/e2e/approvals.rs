//! Questions wait for people: the task shows it, restarts do not matter, and a run takes its questions with it.

use forge_tests::{TestForge, text};
use serde_json::{Value, json};

async fn ask(forge: &TestForge, run: &Value) -> Value {
    let body = json!({"tool_name": "Bash", "tool_input": {"command": "rm x"}, "session_id": run["id"]});
    forge.post("/api/approvals/create", &body).await.data()
}

async fn status(forge: &TestForge, task: &Value) -> Value {
    forge.get(&format!("/api/tasks/{}", text(&task["id"]))).await.data()["status"].clone()
}

#[tokio::test]
async fn a_question_puts_the_task_in_review_until_it_is_answered_even_by_another_server() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "t", "sleep 600").await;
    let attempt = text(&task["task_attempt"]["id"]);
    let run = forge.runs(&attempt).await[0].clone();
    let (first, second) = (ask(&forge, &run).await, ask(&forge, &run).await);
    assert_eq!(first["execution_process_id"], run["id"]);
    assert_eq!(status(&forge, &task).await, "inreview");
    forge.crash();
    forge.up().await;
    let pending = forge.get("/api/approvals/pending").await.data();
    assert_eq!(pending.as_array().unwrap().len(), 2);

    let path = format!("/api/approvals/{}/respond", text(&first["id"]));
    let other = json!({"execution_process_id": first["id"], "status": {"status": "approved"}});
    assert_eq!(forge.post(&path, &other).await.status, 422, "another run's question");
    let native = json!({"execution_process_id": run["id"], "status": {"status": "approved"}});
    assert_eq!(forge.post(&path, &native).await.body, json!({"status": "approved"}));
    assert_eq!(status(&forge, &task).await, "inreview", "one question is still open");
    let path = format!("/api/approvals/{}/respond", text(&second["id"]));
    forge.post(&path, &json!({"approved": false, "comment": "no"})).await.data();
    assert_eq!(status(&forge, &task).await, "inprogress");
    assert_eq!(forge.post(&path, &json!({"approved": true})).await.status, 409, "answered once");
}

#[tokio::test]
async fn a_run_that_ends_takes_its_questions_with_it() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "t", "sleep 600").await;
    let attempt = text(&task["task_attempt"]["id"]);
    let run = forge.runs(&attempt).await[0].clone();
    let asked = ask(&forge, &run).await;
    forge.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({})).await.data();
    assert_eq!(forge.get("/api/approvals/pending").await.data(), json!([]));
    let answer = forge.get(&format!("/api/approvals/{}/status", text(&asked["id"]))).await;
    assert_eq!(answer.body["status"], "timed_out");
    assert_eq!(status(&forge, &task).await, "inreview");
    forge.delete(&format!("/api/tasks/{}", text(&task["id"]))).await;
    assert_eq!(forge.get(&format!("/api/approvals/{}/status", text(&asked["id"]))).await.status, 404);
}
