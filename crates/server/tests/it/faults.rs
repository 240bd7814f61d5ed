//! What is wrong with a request, or with the data that it is about, is never reported as a fault of the server.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::world::{World, assert_fault};

#[tokio::test]
async fn a_branch_prefix_that_leaves_no_room_for_a_name_is_refused_when_it_is_set() {
    let world = World::new().await;
    let long = json!({"git_branch_prefix": "p".repeat(300)});
    assert_fault(&world.ask("PUT", "/api/config", Some(long)).await, 200, "at most 100 bytes");
    let (status, body) =
        world.ask("PUT", "/api/config", Some(json!({"git_branch_prefix": "p".repeat(100)}))).await;
    assert_eq!((status, &body["success"]), (StatusCode::OK, &json!(true)), "{body}");
    let project = world.project().await;
    let start =
        json!({"task": {"project_id": project, "title": "t".repeat(300)}, "executor_profile_id": "SHELL"});
    let (_, started) = world.ask("POST", "/api/tasks/create-and-start", Some(start)).await;
    assert_eq!(started["success"], true, "{started}");
    world.close().await;
}

#[tokio::test]
async fn an_editor_that_is_not_there_is_named() {
    let world = World::new().await;
    let project = world.project().await;
    let editor = json!({"editor": {"editor_type": "CUSTOM", "custom_command": "no-such-editor"}});
    world.ask("PUT", "/api/config", Some(editor)).await;
    let opened = world.ask("POST", &format!("/api/projects/{project}/open-editor"), Some(Value::Null)).await;
    assert_fault(&opened, 422, "cannot open the editor `no-such-editor`");
    world.close().await;
}

#[tokio::test]
async fn a_name_that_is_too_long_for_a_file_and_a_repository_that_was_moved_are_the_callers_to_mend() {
    let world = World::new().await;
    let project = world.project().await;
    let start = json!({"task": {"project_id": project, "title": "t"}, "executor_profile_id": "SHELL"});
    let (_, started) = world.ask("POST", "/api/tasks/create-and-start", Some(start.clone())).await;
    let attempt = started["data"]["task_attempt"]["id"].as_str().unwrap().to_owned();
    let long = "n".repeat(300);
    let attempt = format!("/api/task-attempts/{attempt}");
    let wrong = |answer: &(StatusCode, Value), what: &str| {
        assert!(
            answer.0.is_client_error() || answer.1["success"] == false && answer.0 == 200,
            "{what}: {answer:?}"
        );
    };
    for (method, path) in [
        ("GET", format!("{attempt}/file?path={long}")),
        ("GET", format!("{attempt}/diff?path={long}")),
        ("POST", format!("{attempt}/open-editor")),
        ("GET", format!("/api/filesystem/directory?path=/{long}")),
    ] {
        let answer = world.ask(method, &path, Some(json!({"file_path": long}))).await;
        assert!(!answer.0.is_server_error(), "{method} {path}: {answer:?}");
    }
    let stopped = world.ask("POST", &format!("{attempt}/stop"), None).await;
    assert_eq!(stopped.0, StatusCode::OK);
    wrong(&world.ask("POST", &format!("{attempt}/delete-file?file_path={long}"), None).await, "delete-file");

    let (_, found) = world.get(&format!("/api/projects/{project}")).await;
    let repo = found["data"]["git_repo_path"].as_str().unwrap();
    std::fs::rename(repo, format!("{repo}-moved")).unwrap();
    for path in [format!("/api/projects/{project}/branches"), format!("{attempt}/branch-status")] {
        wrong(&world.get(&path).await, &path);
    }
    for (path, body) in [
        ("/api/tasks/create-and-start".to_owned(), start),
        (format!("{attempt}/merge"), json!({})),
        (format!("{attempt}/rebase"), json!({})),
        (format!("{attempt}/follow-up"), json!({"prompt": "more"})),
    ] {
        wrong(&world.ask("POST", &path, Some(body)).await, &path);
    }
    world.close().await;
}
