//! The table is what is served.

use axum::http::{StatusCode, header};
use forge_server::{RouteKind, routes};
use serde_json::{Value, json};

use crate::world::{UNKNOWN, World, assert_fault};

fn filled(path: &str) -> String {
    let fill = |step: &str| if step.starts_with('{') { UNKNOWN.to_owned() } else { step.to_owned() };
    path.split('/').map(fill).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_route_is_served_and_listed() {
    let world = World::new().await;
    let (_, listed) = world.get("/api/routes").await;
    let (_, openapi) = world.get("/api/openapi.json").await;
    for route in routes() {
        let line = json!(format!("{} {}", route.method, route.path));
        assert!(listed["routes"][route.group].as_array().unwrap().contains(&line), "{line} is not listed");
        let entry = &openapi["paths"][route.path][route.method.to_ascii_lowercase()];
        assert!(entry.is_object(), "{line} is not in the OpenAPI document");
        // A demo would start agents.
        let is_asked = !["/api/worktrees/gc", "/api/demo"].contains(&route.path);
        if route.kind != RouteKind::EventStream && is_asked {
            let (status, body) = world.ask(route.method, &filled(route.path), None).await;
            let message = body["message"].as_str().unwrap_or_default();
            assert_ne!(status, StatusCode::METHOD_NOT_ALLOWED, "{line}");
            assert!(!message.contains("is not served here"), "{line} is not served: {message}");
        }
    }
    world.close().await;
}

#[tokio::test]
async fn a_required_parameter_of_the_table_is_required() {
    let world = World::new().await;
    for route in routes().iter().filter(|route| route.kind != RouteKind::EventStream) {
        let Some(name) = route.query.split(' ').find(|name| !name.is_empty() && !name.ends_with('?')) else {
            continue;
        };
        assert_fault(&world.ask(route.method, &filled(route.path), None).await, 400, name);
    }
    world.close().await;
}

#[tokio::test]
async fn the_route_list_has_the_headings_clients_know() {
    let world = World::new().await;
    let (status, body) = world.get("/api/routes").await;
    assert_eq!((status, &body["version"]), (StatusCode::OK, &json!("1.2.3")));
    assert!(body["note"].is_string());
    let headings = "core auth projects tasks task_attempts processes events images forge filesystem config drafts \
                    containers approvals";
    for heading in headings.split_whitespace() {
        assert!(body["routes"][heading].is_array(), "{heading}");
    }
    world.close().await;
}

#[tokio::test]
async fn unknown_paths_and_methods_answer_with_the_envelope() {
    let world = World::new().await;
    for path in ["/api", "/api/", "/api/nothing", "/api/tasks/a/b/c/d", "/api/information"] {
        for method in ["GET", "POST", "PATCH", "DELETE"] {
            assert_fault(&world.ask(method, path, None).await, 404, "is not served here");
        }
    }
    assert_fault(&world.ask("PATCH", "/api/tasks", None).await, 405, "PATCH");
    assert_fault(&world.ask("POST", "/api/health", None).await, 405, "POST");
    assert_fault(&world.ask("DELETE", "/api/tasks/create-and-start", None).await, 405, "DELETE");
    assert_fault(&world.ask("POST", "/some/page", None).await, 404, "/some/page");
    assert_fault(&world.get("/missing.png").await, 404, "/missing.png");
    world.close().await;
}

#[tokio::test]
async fn the_page_answers_links_into_it() {
    let world = World::new().await;
    for (path, kind) in [
        ("/", "text/html"),
        ("/projects/a/tasks/b/attempts/c?view=diffs", "text/html"),
        ("/docs", "text/html"),
        ("/plain.css", "text/css"),
        ("/site.webmanifest", "application/manifest+json"),
    ] {
        let request = axum::http::Request::builder().uri(path).header(header::HOST, "localhost");
        let response = world.send(request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let got = response.headers()[header::CONTENT_TYPE].to_str().unwrap();
        assert!(got.starts_with(kind), "{path} is {got}");
    }
    world.close().await;
}

#[tokio::test]
async fn health_answers_in_both_forms() {
    let world = World::new().await;
    let health = json!({"success": true, "data": "OK", "error_data": null, "message": null});
    assert_eq!(world.get("/api/health").await, (StatusCode::OK, health));
    let (_, ready) = world.get("/health").await;
    assert_eq!(ready["service"], "forge-app");
    assert_eq!(ready["version"], "1.2.3");
    assert_eq!(world.get("/api/forge/auth-required").await.1, json!({"auth_required": false}));
    assert_eq!(world.get("/api/projects/").await.1["data"], Value::Array(Vec::new()));
    world.close().await;
}
