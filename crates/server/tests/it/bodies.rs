//! What is wrong with a request is reported in the envelope.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::json;

use crate::world::{UNKNOWN, World, assert_fault, read};

fn post(path: &str, kind: Option<&str>, body: impl Into<Body>) -> Request<Body> {
    let mut request = Request::builder().method("POST").uri(path).header(header::HOST, "localhost");
    if let Some(kind) = kind {
        request = request.header(header::CONTENT_TYPE, kind);
    }
    request.body(body.into()).unwrap()
}

#[tokio::test]
async fn a_body_is_refused_with_the_reason() {
    let world = World::new().await;
    let json_kind = Some("application/json");
    let big = format!(r#"{{"title": "{}"}}"#, "x".repeat(3 << 20));
    let cases = [
        (post("/api/tasks", json_kind, "{\"title\": "), 400, "line 1 column"),
        (post("/api/tasks", json_kind, ""), 400, "empty"),
        (post("/api/tasks", Some("text/plain"), "{}"), 415, "text/plain"),
        (post("/api/tasks", None, "{}"), 415, "application/json"),
        (post("/api/tasks", json_kind, "{\"title\": 5}"), 422, "title"),
        (post("/api/tasks", json_kind, "{\"project_id\": \"x\", \"title\": \"t\"}"), 422, "project_id"),
        (post("/api/tasks", json_kind, "[]"), 422, ""),
        (post("/api/tasks", json_kind, big), 413, "2097152"),
    ];
    for (request, status, what) in cases {
        assert_fault(&read(world.send(request).await).await, status, what);
    }
    world.close().await;
}

#[tokio::test]
async fn ids_and_parameters_are_named_when_wrong() {
    let world = World::new().await;
    let cases = [
        ("/api/projects/nope", 400, "project_id: 'nope'"),
        ("/api/tasks/nope", 400, "task_id"),
        ("/api/task-attempts/%FF", 400, "attempt_id"),
        ("/api/execution-processes/nope", 400, "process_id"),
        ("/api/execution-runs/nope", 400, "run_id"),
        ("/api/tasks", 400, "project_id"),
        ("/api/tasks?project_id=1", 400, "project_id: '1'"),
        ("/api/tasks/stream/ws", 400, "project_id"),
        ("/api/execution-processes", 400, "task_attempt_id"),
        ("/api/execution-processes/stream/ws", 400, "task_attempt_id"),
        ("/api/drafts/stream/ws", 400, "project_id"),
        ("/api/projects?limit=0", 400, "limit"),
        ("/api/task-attempts?limit=10001", 400, "10000"),
        ("/api/task-attempts?offset=x", 400, "offset"),
        ("/api/events?after=x", 400, "after"),
    ];
    for (path, status, what) in cases {
        assert_fault(&world.get(path).await, status, what);
    }
    let flag = format!("/api/execution-processes?task_attempt_id={UNKNOWN}&show_soft_deleted=maybe");
    assert_fault(&world.get(&flag).await, 400, "allowed: true, false");
    world.close().await;
}

#[tokio::test]
async fn what_does_not_exist_is_404_with_its_id() {
    let world = World::new().await;
    for path in ["projects", "tasks", "task-attempts", "execution-processes", "execution-runs"] {
        assert_fault(&world.get(&format!("/api/{path}/{UNKNOWN}")).await, 404, UNKNOWN);
    }
    let body = json!({"project_id": UNKNOWN, "title": "t"});
    assert_fault(&world.ask("POST", "/api/tasks", Some(body)).await, 404, UNKNOWN);
    world.close().await;
}
