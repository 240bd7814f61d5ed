//! Projects over HTTP.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::world::{World, assert_fault};

#[tokio::test]
async fn a_project_lives_from_create_to_delete() {
    let world = World::new().await;
    let id = world.project().await;
    let path = format!("/api/projects/{id}");
    let (_, listed) = world.get("/api/projects").await;
    assert_eq!(listed["data"][0]["id"], json!(id));
    let (status, updated) = world.ask("PUT", &path, Some(json!({"dev_script": "run", "extra": 1}))).await;
    assert_eq!((status, &updated["data"]["dev_script"]), (StatusCode::OK, &json!("run")));
    assert_eq!(updated["data"]["name"], "demo");
    let (_, branches) = world.get(&format!("{path}/branches")).await;
    assert_eq!(branches["data"][0]["name"], "main");
    let (status, deleted) = world.ask("DELETE", &path, None).await;
    assert_eq!((status, &deleted["data"]), (StatusCode::OK, &Value::Null));
    assert_fault(&world.get(&path).await, 404, &id);
    world.close().await;
}

#[tokio::test]
async fn a_list_counts_the_tasks_when_asked_to() {
    let world = World::new().await;
    let id = world.project().await;
    let tasks = format!("/api/projects/{id}/tasks");
    for title in ["one", "two"] {
        world.ask("POST", &tasks, Some(json!({"title": title}))).await;
    }
    let (_, listed) = world.get("/api/projects?counts=true").await;
    assert_eq!(listed["data"][0]["task_counts"], json!({"todo": 2}));
    let (_, listed) = world.get("/api/projects").await;
    assert_eq!(listed["data"][0].get("task_counts"), None);
    assert_fault(&world.get("/api/projects?counts=many").await, 400, "counts: 'many'");
    world.close().await;
}

#[tokio::test]
async fn rules_of_creation_are_refusals_with_200() {
    let world = World::new().await;
    let id = world.project().await;
    let (_, project) = world.get(&format!("/api/projects/{id}")).await;
    let path = &project["data"]["git_repo_path"];
    let body = json!({"name": "again", "git_repo_path": path, "use_existing_repo": true});
    let again = world.ask("POST", "/api/projects", Some(body)).await;
    assert_fault(&again, 200, "A project with this git repository path already exists");
    let body = json!({"name": "x", "git_repo_path": "/no/such/path", "use_existing_repo": true});
    let missing = world.ask("POST", "/api/projects", Some(body)).await;
    assert_fault(&missing, 200, "The specified path does not exist");
    world.close().await;
}

#[tokio::test]
async fn a_search_needs_words() {
    let world = World::new().await;
    let path = format!("/api/projects/{}/search", world.project().await);
    assert_fault(&world.get(&path).await, 400, "q");
    assert_fault(&world.get(&format!("{path}?q=%20")).await, 200, "cannot be empty");
    let (status, body) = world.get(&format!("{path}?q=x&mode=FileName")).await;
    assert_eq!((status, &body["data"]), (StatusCode::OK, &json!([])));
    world.close().await;
}
