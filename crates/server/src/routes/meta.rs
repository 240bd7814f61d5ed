//! What the server says about itself: health, routes, documentation.
//!
//! Invariant: everything about routes is read from the route table at the moment of asking.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{Html, Response};
use serde_json::{Map, Value, json};

use crate::App;
use crate::envelope::{json as raw, ok};
use crate::table::{Route, RouteKind, routes};

/// The headings that clients of the route list know, whether or not anything is under them.
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

const DOCS: &str = r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Forge API</title><link rel="stylesheet" href="/page.css"></head>
<body><main><h1>Forge API</h1>
<p>Every JSON answer is <code>{"success", "data", "error_data", "message"}</code>.</p>
<ul><li><a href="/api/openapi.json">OpenAPI document</a></li><li><a href="/api/routes">List of routes</a></li></ul>
</main></body></html>
"#;

pub(crate) async fn health() -> Response {
    ok("OK")
}

pub(crate) async fn ready(State(app): State<App>) -> Response {
    let version = &app.guard.version;
    let body = json!({"status": "ok", "service": "forge-app", "version": version, "message": "Forge application ready"});
    raw(StatusCode::OK, &body)
}

pub(crate) async fn auth_required(State(app): State<App>) -> Response {
    raw(StatusCode::OK, &json!({"auth_required": app.guard.auth_required}))
}

pub(crate) async fn docs() -> Html<&'static str> {
    Html(DOCS)
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
    let note = "Collection roots also answer with a slash at the end. Paths ending in /ws are WebSockets.";
    raw(StatusCode::OK, &json!({"version": app.guard.version, "routes": groups, "note": note}))
}

pub(crate) async fn openapi(State(app): State<App>) -> Response {
    let mut paths = Map::new();
    for route in routes() {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.to_ascii_lowercase()] = describe(route);
    }
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Forge", "version": app.guard.version},
        "paths": paths,
        "components": {"schemas": {"Envelope": {
            "type": "object",
            "required": ["success", "data", "error_data", "message"],
            "properties": {"success": {"type": "boolean"}, "data": {}, "error_data": {}, "message": {"type": ["string", "null"]}},
        }}},
    });
    raw(StatusCode::OK, &document)
}

fn describe(route: &Route) -> Value {
    let in_path = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path.map(|name| {
        let schema = match name.ends_with("_id") {
            true => json!({"type": "string", "format": "uuid"}),
            false => json!({"type": "string"}),
        };
        json!({"name": name, "in": "path", "required": true, "schema": schema})
    });
    let in_query = route.query.split_whitespace().map(|word| {
        let name = word.trim_end_matches('?');
        json!({"name": name, "in": "query", "required": name == word, "schema": {"type": "string"}})
    });
    let parameters: Vec<Value> = in_path.chain(in_query).collect();
    let envelope = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Envelope"}}});
    let success = match route.kind {
        RouteKind::Json => json!({"description": "the envelope", "content": envelope}),
        RouteKind::Raw => json!({"description": "JSON without the envelope"}),
        RouteKind::Page => json!({"description": "for a browser"}),
        RouteKind::File => json!({"description": "the bytes of a file"}),
        RouteKind::WebSocket => json!({"description": "WebSocket of JSON text frames"}),
        RouteKind::EventStream => json!({"description": "text/event-stream"}),
    };
    let status = if route.kind == RouteKind::WebSocket { "101" } else { "2XX" };
    json!({
        "tags": [route.group],
        "parameters": parameters,
        "responses": {status: success, "default": {"description": "a failure", "content": envelope}},
    })
}
