//! Tasks over HTTP, under both spellings of their path.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::world::{UNKNOWN, World, assert_fault};

#[tokio::test]
async fn a_task_lives_from_create_to_delete() {
    let world = World::new().await;
    let project = world.project().await;
    let id = world.task(&project, "first").await;
    for path in [format!("/api/tasks/{id}"), format!("/api/projects/{project}/tasks/{id}")] {
        let (status, body) = world.get(&path).await;
        assert_eq!((status, &body["data"]["status"]), (StatusCode::OK, &json!("todo")));
        assert_eq!(body["data"].get("attempt_count"), None);
    }
    let path = format!("/api/tasks/{id}");
    let (_, body) = world.ask("PUT", &path, Some(json!({"status": "in-progress"}))).await;
    assert_eq!(body["data"]["status"], "inprogress");
    assert_fault(
        &world.ask("PUT", &path, Some(json!({"status": "odd"}))).await,
        422,
        "status: unknown status 'odd'",
    );
    let (status, body) = world.ask("DELETE", &path, None).await;
    assert_eq!((status, &body["success"]), (StatusCode::ACCEPTED, &json!(true)));
    assert_fault(&world.get(&path).await, 404, &id);
    world.close().await;
}

#[tokio::test]
async fn a_list_longer_than_one_chunk_is_whole_and_newest_first() {
    let world = World::new().await;
    let project = world.project().await;
    let title = "x".repeat(1000);
    for number in 0..150 {
        world.task(&project, &format!("{number} {title}")).await;
    }
    let (status, body) = world.get(&format!("/api/tasks?project_id={project}")).await;
    let tasks = body["data"].as_array().unwrap();
    assert_eq!((status, tasks.len(), body["success"].clone()), (StatusCode::OK, 150, json!(true)));
    assert!(tasks.is_sorted_by(|a, b| a["created_at"].as_str() >= b["created_at"].as_str()));
    assert_eq!(tasks[0]["attempt_count"], 0);
    assert_eq!(tasks[0].get("latest_attempt"), None);
    let (_, page) = world.get(&format!("/api/tasks/?project_id={project}&limit=2&offset=1")).await;
    assert_eq!(page["data"].as_array().unwrap()[..], tasks[1..3]);
    world.close().await;
}

#[tokio::test]
async fn under_a_project_the_path_names_it_and_rows_carry_the_latest_attempt() {
    let world = World::new().await;
    let project = world.project().await;
    let path = format!("/api/projects/{project}/tasks");
    let (status, made) = world.ask("POST", &path, Some(json!({"title": "t"}))).await;
    assert_eq!((status, &made["data"]["project_id"]), (StatusCode::OK, &json!(project)));
    let (_, listed) = world.get(&path).await;
    assert_eq!(listed["data"][0]["id"], made["data"]["id"]);
    assert_eq!(listed["data"][0].get("latest_attempt"), Some(&Value::Null));
    world.close().await;
}

#[tokio::test]
async fn an_empty_project_has_an_empty_list() {
    let world = World::new().await;
    let project = world.project().await;
    let (status, body) = world.get(&format!("/api/tasks?project_id={project}")).await;
    assert_eq!((status, &body["data"]), (StatusCode::OK, &json!([])));
    world.close().await;
}

#[tokio::test]
async fn a_start_that_cannot_work_creates_nothing() {
    let world = World::new().await;
    let project = world.project().await;
    let start = |task: Value, executor: &str| json!({"task": task, "executor_profile_id": executor});
    let task = json!({"project_id": project, "title": "t"});
    let path = "/api/tasks/create-and-start";
    let answer = world.ask("POST", path, Some(start(task, "NOPE"))).await;
    assert_fault(&answer, 422, "executor_profile_id: unknown executor 'NOPE'; allowed: CLAUDE_CODE");
    let stranger = json!({"project_id": UNKNOWN, "title": "t"});
    assert_fault(&world.ask("POST", path, Some(start(stranger, "SHELL"))).await, 404, UNKNOWN);
    let nested = format!("/api/projects/{project}/tasks/create-and-start");
    let answer = world.ask("POST", &nested, Some(start(json!({"title": 1}), "SHELL"))).await;
    assert_fault(&answer, 422, "task.title");
    let (_, body) = world.get(&format!("/api/tasks?project_id={project}")).await;
    assert_eq!(body["data"], json!([]));
    world.close().await;
}
