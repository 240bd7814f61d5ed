//! Agents of projects: found again by their type, hidden from boards, gone with their project.

use forge_tests::{TestForge, text};
use serde_json::{Value, json};

#[tokio::test]
async fn asking_for_an_agent_any_number_of_times_gives_the_same_one() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let body = json!({"project_id": project, "agent_type": "master"});
    let at_once = (0..8).map(|_| forge.post("/api/forge/agents", &body));
    let agents: Vec<Value> =
        futures_util::future::join_all(at_once).await.into_iter().map(|a| a.data()).collect();
    assert!(agents.iter().all(|agent| *agent == agents[0]), "{agents:#?}");
    let task = forge.get(&format!("/api/tasks/{}", text(&agents[0]["task_id"]))).await.data();
    assert_eq!((&task["title"], &task["status"]), (&json!("Genie"), &json!("agent")));
    assert_eq!(forge.get(&format!("/api/tasks?project_id={project}")).await.data(), json!([]));
    forge.post("/api/forge/agents", &json!({"project_id": project, "agent_type": "wish"})).await.data();

    forge.crash();
    forge.up().await;
    let list =
        async |query: &str| forge.get(&format!("/api/forge/agents?project_id={project}{query}")).await.data();
    assert_eq!(list("").await.as_array().unwrap().len(), 2);
    assert_eq!(list("&agent_type=master").await, json!([agents[0]]));
    assert_eq!(forge.post("/api/forge/agents", &body).await.data(), agents[0]);

    forge.delete(&format!("/api/tasks/{}", text(&agents[0]["task_id"]))).await;
    assert_eq!(list("&agent_type=master").await, json!([]), "an agent goes with its task");
    assert_ne!(forge.post("/api/forge/agents", &body).await.data()["task_id"], agents[0]["task_id"]);

    let unknown = json!({"project_id": "00000000-0000-4000-8000-000000000000", "agent_type": "master"});
    assert_eq!(forge.post("/api/forge/agents", &unknown).await.status, 404);
    let blank = forge.post("/api/forge/agents", &json!({"project_id": project, "agent_type": " "})).await;
    assert_eq!(blank.status, 422);
    assert!(blank.message().contains("agent_type"), "{}", blank.text);
}

#[tokio::test]
async fn every_chat_is_registered_and_an_attempt_knows_what_it_spawned() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let chat = || forge.task(&project, "chat").prompt("say hi").with("use_worktree", false);
    let master = chat().start().await;
    let attempt = master.attempt();
    let neurons = format!("/api/forge/master-genie/{attempt}/neurons");
    assert_eq!(forge.get(&neurons).await.data(), json!([]));
    let neuron = chat().task("parent_task_attempt", attempt.as_str()).start().await;
    let sub = json!({"project_id": project, "title": "sub", "parent_task_attempt": attempt});
    let sub = forge.post("/api/tasks", &sub).await.data();

    let chats =
        forge.get(&format!("/api/forge/agents?project_id={project}&agent_type=genie_chat")).await.data();
    assert_eq!((chats.as_array().unwrap().len(), &chats[0]["task_id"]), (2, &neuron["id"]));
    let found = forge.get(&neurons).await.data();
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!((&found[0]["type"], &found[0]["task"]["id"]), (&json!("genie_chat"), &neuron["id"]));
    assert_eq!(found[0]["attempt"]["id"], neuron["task_attempt"]["id"]);
    let subtasks = forge.get(&format!("/api/forge/neurons/{attempt}/subtasks")).await.data();
    let ids: Vec<&Value> = subtasks.as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids, [&sub["id"], &neuron["id"]]);
    let gone = forge.get("/api/forge/neurons/00000000-0000-4000-8000-000000000000/subtasks").await;
    assert_eq!(gone.data(), json!([]));
    assert_eq!(forge.get("/api/forge/neurons/nobody/subtasks").await.status, 400);
}
