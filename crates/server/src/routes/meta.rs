//! What the server reports about itself: health, routes, documentation.
//!
//! Invariant: everything about routes is read from the route table when requested.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use forge_core::Forge;
use serde_json::{Map, Value, json};

use crate::App;
use crate::envelope::{Answer, json as raw, ok};
use crate::table::routes;
use crate::{openapi, page};

/// The headings that clients of the route list know, also those with nothing under them.
const GROUPS: [&str; 14] = [
    "core",
    "auth",
    "projects",
    "tasks",
    "task_attempts",
    "processes",
    "events",
    "images",
    "forge",
    "filesystem",
    "config",
    "drafts",
    "containers",
    "approvals",
];

pub(crate) async fn health(State(forge): State<Forge>) -> Answer {
    forge.check_database()?;
    Ok(ok("OK"))
}

pub(crate) async fn ready(State(app): State<App>) -> Response {
    let version = &app.guard.version;
    if let Err(error) = app.forge.check_database() {
        let body = json!({"status": "unavailable", "service": "forge-app", "version": version, "message": error.message()});
        return raw(StatusCode::SERVICE_UNAVAILABLE, &body);
    }
    let body = json!({"status": "ok", "service": "forge-app", "version": version, "message": "Forge application ready"});
    raw(StatusCode::OK, &body)
}

pub(crate) async fn auth_required(State(app): State<App>) -> Response {
    raw(StatusCode::OK, &json!({"auth_required": app.guard.auth_required}))
}

pub(crate) async fn docs(State(app): State<App>) -> Response {
    page::plain(openapi::render(&openapi::document(&app.guard.version)))
}

pub(crate) async fn list_routes(State(app): State<App>) -> Response {
    let mut groups: Map<String, Value> = GROUPS.iter().map(|name| ((*name).to_owned(), json!([]))).collect();
    for route in routes() {
        let line = Value::String(format!("{} {}", route.method, route.path));
        match groups.entry(route.group).or_insert_with(|| json!([])) {
            Value::Array(lines) => lines.push(line),
            other => *other = json!([line]),
        }
    }
    let note = "Collection roots also work with a slash at the end. Paths ending in /ws are WebSockets.";
    raw(StatusCode::OK, &json!({"version": app.guard.version, "routes": groups, "note": note}))
}

pub(crate) async fn openapi(State(app): State<App>) -> Response {
    raw(StatusCode::OK, &openapi::document(&app.guard.version))
}
