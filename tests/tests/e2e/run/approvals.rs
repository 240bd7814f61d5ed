//! Questions wait for people: the task shows it, restarts do not matter, and a run takes its questions with it.

use forge_tests::{Started, TestForge, text};
use serde_json::{Value, json};

/// A task and its run, for a Claude that acts by directives in its prompt.
async fn start(forge: &TestForge, prompt: &str) -> (Started, Value) {
    forge.use_fake_claude().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "CLAUDE_CODE:APPROVALS", "t", prompt).await;
    let run = forge.runs(&task.attempt()).await[0].clone();
    (task, run)
}

/// The question that the agent of `run` asks.
async fn asked(forge: &TestForge, run: &Value) -> Value {
    let of_run = |list: &Value| {
        let mut list = list.as_array().into_iter().flatten().cloned();
        list.find(|asked| asked["execution_process_id"] == run["id"])
    };
    let pending = "/api/approvals/pending";
    of_run(&forge.until(pending, "a question", |list| of_run(list).is_some()).await).unwrap()
}

async fn end_of(forge: &TestForge, task: &Started) -> (Value, Vec<Value>) {
    let run = forge.settled(&task.attempt()).await.remove(0);
    let entries = forge.entries(&text(&run["id"])).await;
    (run["status"].clone(), entries)
}

fn has_text(entries: &[Value], text: &str) -> bool {
    entries.iter().any(|entry| entry["content"].as_str().is_some_and(|content| content.contains(text)))
}

#[tokio::test]
async fn a_question_of_an_agent_survives_the_server_and_its_answer_reaches_the_agent() {
    let mut forge = TestForge::start().await;
    let (task, run) = start(&forge, "FAKE: id=a approve=1 repeat=1 file=x.txt").await;
    let question = asked(&forge, &run).await;
    assert_eq!(question["tool_input"]["command"], "rm -rf build");
    forge.crash();
    forge.up().await;
    assert_eq!(asked(&forge, &run).await["id"], question["id"], "the same question, once");
    assert_eq!(forge.get("/api/approvals/pending").await.data().as_array().unwrap().len(), 1);
    let path = format!("/api/approvals/{}/respond", text(&question["id"]));
    forge.post(&path, &json!({"approved": true})).await.data();
    assert_eq!(forge.post(&path, &json!({"approved": false})).await.status, 409, "answered once");
    let (status, entries) = end_of(&forge, &task).await;
    assert_eq!(status, "completed");
    assert!(has_text(&entries, r#"was told {"behavior":"allow""#), "{entries:#?}");
    assert!(entries.iter().any(|entry| entry["entry_type"]["status"]["status"] == "success"));
}

#[tokio::test]
async fn the_reason_of_a_denial_reaches_the_agent_and_the_log() {
    let forge = TestForge::start().await;
    let (task, run) = start(&forge, "FAKE: id=d approve=1 repeat=1").await;
    let question = asked(&forge, &run).await;
    let path = format!("/api/approvals/{}/respond", text(&question["id"]));
    forge.post(&path, &json!({"approved": false, "comment": "not on a Friday"})).await.data();
    let (_, entries) = end_of(&forge, &task).await;
    assert!(has_text(&entries, r#""message":"not on a Friday""#), "{entries:#?}");
    let feedback = entries.iter().find(|entry| entry["entry_type"]["type"] == "user_feedback").unwrap();
    assert_eq!(
        (&feedback["content"], &feedback["entry_type"]["denied_tool"]),
        (&json!("not on a Friday"), &json!("Bash"))
    );
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_denied_in_time_and_silence_does_not_end_the_run_before() {
    let forge = TestForge::with(&["--approval-limit-s", "3", "--silence-limit-s", "1"], &[]).await;
    let (task, run) = start(&forge, "FAKE: id=t approve=1 repeat=1").await;
    asked(&forge, &run).await;
    let (status, entries) = end_of(&forge, &task).await;
    assert_eq!(status, "completed", "{entries:#?}");
    assert!(
        entries.iter().any(|entry| entry["entry_type"]["status"]["status"] == "timed_out"),
        "{entries:#?}"
    );
}

#[tokio::test]
async fn a_question_that_the_agent_takes_back_is_no_longer_asked() {
    let forge = TestForge::start().await;
    let (task, run) = start(&forge, "FAKE: id=w approve=1 withdraw=../withdraw hear=1").await;
    asked(&forge, &run).await;
    std::fs::write(forge.worktrees().join("withdraw"), "").unwrap();
    forge.until("/api/approvals/pending", "it is taken back", |list| *list == json!([])).await;
    let status = forge.get(&format!("/api/tasks/{}", text(&task["id"]))).await.data()["status"].clone();
    assert_eq!(status, "inprogress", "the agent works on");
    forge.post(&format!("/api/task-attempts/{}/stop", task.attempt()), &json!({})).await.data();
}

#[tokio::test]
async fn a_message_to_an_agent_at_work_reaches_it_without_a_second_run() {
    let forge = TestForge::start().await;
    let (task, run) = start(&forge, "FAKE: id=h hear=1").await;
    let attempt = task.attempt();
    forge.until_said(&text(&run["id"]), "hello from").await;
    let body = json!({"prompt": "and one thing more", "variant": "APPROVALS"});
    let told = forge.post(&format!("/api/task-attempts/{attempt}/follow-up"), &body).await.data();
    assert_eq!(told["id"], run["id"]);
    let (status, entries) = end_of(&forge, &task).await;
    assert_eq!(status, "completed");
    assert!(has_text(&entries, "heard and one thing more"), "{entries:#?}");
    assert!(entries.iter().any(|entry| entry["entry_type"]["type"] == "user_message"));
    assert_eq!(forge.runs(&attempt).await.len(), 1);
}

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
    let attempt = task.attempt();
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
    let attempt = task.attempt();
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
