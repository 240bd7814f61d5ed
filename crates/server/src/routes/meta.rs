//! What the server reports about itself: health, routes, documentation.
//!
//! Invariant: everything about routes is read from the route table when requested.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use forge_core::Forge;
use forge_types::wire::{AuthRequired, Ready, RouteList};

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
        return raw(StatusCode::SERVICE_UNAVAILABLE, &ready_body("unavailable", &error.to_string(), version));
    }
    raw(StatusCode::OK, &ready_body("ok", "Forge application ready", version))
}

fn ready_body(status: &str, message: &str, version: &str) -> Ready {
    let service = "forge-app".to_owned();
    Ready { status: status.to_owned(), service, version: version.to_owned(), message: message.to_owned() }
}

pub(crate) async fn auth_required(State(app): State<App>) -> Response {
    raw(StatusCode::OK, &AuthRequired { auth_required: app.guard.auth_required })
}

pub(crate) async fn docs(State(app): State<App>) -> Response {
    page::plain(openapi::render(&openapi::document(&app.guard.version)))
}

pub(crate) async fn list_routes(State(app): State<App>) -> Response {
    let mut groups: BTreeMap<String, Vec<String>> =
        GROUPS.iter().map(|name| ((*name).to_owned(), Vec::new())).collect();
    for route in routes() {
        groups.entry(route.group.to_owned()).or_default().push(format!("{} {}", route.method, route.path));
    }
    let note = "Collection roots also work with a slash at the end. Paths ending in /ws are WebSockets.";
    let version = app.guard.version.clone();
    raw(StatusCode::OK, &RouteList { version, routes: groups, note: note.to_owned() })
}

pub(crate) async fn openapi(State(app): State<App>) -> Response {
    raw(StatusCode::OK, &openapi::document(&app.guard.version))
}
