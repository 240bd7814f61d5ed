//! `Idempotency-Key`: equal requests under one key have one effect and one response.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use forge_core::AgentsOnExit;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{World, assert_fault, read};

const KEY: &str = "5c1a7e0e-one";

/// A response, and whether it is marked as a repetition.
async fn post(world: &World, path: &str, key: &str, body: &Value) -> (StatusCode, Value, bool) {
    let request = Request::post(path).header(header::HOST, "localhost:8887").header("Idempotency-Key", key);
    let request = request.header(header::CONTENT_TYPE, "application/json");
    let response = world.send(request.body(Body::from(body.to_string())).unwrap()).await;
    let replayed = response.headers().get("Idempotency-Replayed").is_some_and(|value| value == "true");
    let (status, body) = read(response).await;
    (status, body, replayed)
}

async fn titles(world: &World, project: &str) -> Vec<String> {
    let (_, tasks) = world.get(&format!("/api/tasks?project_id={project}")).await;
    let tasks = tasks["data"].as_array().unwrap().iter();
    tasks.map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

fn start(project: &str, title: &str) -> Value {
    json!({"task": {"project_id": project, "title": title, "description": "true"}, "executor_profile_id": "SHELL"})
}

#[tokio::test]
async fn equal_requests_at_once_make_one_thing_and_get_one_answer() {
    let world = World::new().await;
    let project = world.project().await;
    let task = json!({"project_id": project, "title": "created"});
    for (path, key, body) in
        [("/api/tasks", "k1", task), ("/api/tasks/create-and-start", "k2", start(&project, "started"))]
    {
        let crowd = (0..8).map(|_| post(&world, path, key, &body));
        let answers = futures_util::future::join_all(crowd).await;
        assert_eq!(answers[0].0, StatusCode::OK, "{}", answers[0].1);
        assert!(answers.iter().all(|(status, body, _)| (status, body) == (&answers[0].0, &answers[0].1)));
        assert_eq!(answers.iter().filter(|(_, _, replayed)| *replayed).count(), 7, "all but the first");
    }
    assert_eq!(titles(&world, &project).await, ["started", "created"]);
    world.close().await;
}

#[tokio::test]
async fn a_request_that_comes_again_later_gets_the_answer_of_the_first_also_from_the_next_server() {
    let world = World::new().await;
    let project = world.project().await;
    let body = json!({"project_id": project, "title": "before"});
    let (_, first, replayed) = post(&world, "/api/tasks", KEY, &body).await;
    assert!(!replayed);
    let begun = post(&world, "/api/tasks/create-and-start", "s", &start(&project, "work")).await.1;
    let task = first["data"]["id"].as_str().unwrap();
    world.ask("PUT", &format!("/api/tasks/{task}"), Some(json!({"title": "after"}))).await;
    assert_eq!(post(&world, "/api/tasks", KEY, &body).await, (StatusCode::OK, first.clone(), true));
    let attempt = json!({"task_id": task, "executor_profile_id": "SHELL"});
    let other = post(&world, "/api/task-attempts", "a", &attempt).await;
    assert_eq!(post(&world, "/api/task-attempts", "a", &attempt).await, (other.0, other.1.clone(), true));

    let world = world.again().await;
    assert_eq!(post(&world, "/api/tasks", KEY, &body).await, (StatusCode::OK, first, true));
    let again = post(&world, "/api/tasks/create-and-start", "s", &start(&project, "work")).await;
    assert_eq!(again, (StatusCode::OK, begun, true));
    assert_eq!(post(&world, "/api/task-attempts", "a", &attempt).await, (other.0, other.1, true));
    assert_eq!(titles(&world, &project).await, ["work", "after"]);
    let (_, attempts) = world.get("/api/task-attempts").await;
    assert_eq!(attempts["data"].as_array().unwrap().len(), 2);
    world.close().await;
}

#[tokio::test]
async fn a_key_belongs_to_one_request() {
    let world = World::new().await;
    let project = world.project().await;
    let body = json!({"project_id": project, "title": "one"});
    post(&world, "/api/tasks", KEY, &body).await;
    let other_body = post(&world, "/api/tasks", KEY, &json!({"project_id": project, "title": "two"})).await;
    assert_fault(
        &(other_body.0, other_body.1),
        422,
        "Idempotency-Key: '5c1a7e0e-one' was used for a request",
    );
    let other_path = post(&world, "/api/tasks/create-and-start", KEY, &body).await;
    assert_fault(
        &(other_path.0, other_path.1),
        422,
        "was used for POST /api/tasks, not POST /api/tasks/create",
    );
    let empty = post(&world, "/api/tasks", "", &body).await;
    assert_fault(&(empty.0, empty.1), 400, "Idempotency-Key: the key is empty");
    assert_eq!(titles(&world, &project).await, ["one"]);
    world.close().await;
}

#[tokio::test]
async fn a_request_that_was_refused_may_be_sent_again_under_its_key() {
    let world = World::new().await;
    let project = world.project().await;
    let mut body = start(&project, "later");
    body["base_branch"] = json!("later");
    let refused = post(&world, "/api/tasks/create-and-start", KEY, &body).await;
    assert_fault(&(refused.0, refused.1), 422, "base_branch");
    let (_, found) = world.get(&format!("/api/projects/{project}")).await;
    world.git_in(found["data"]["git_repo_path"].as_str().unwrap(), &["branch", "later"]);
    let (status, begun, replayed) = post(&world, "/api/tasks/create-and-start", KEY, &body).await;
    assert_eq!((status, replayed), (StatusCode::OK, false), "{begun}");
    assert_eq!(titles(&world, &project).await, ["later"]);
    world.forge.close(AgentsOnExit::Stop).await;
}
