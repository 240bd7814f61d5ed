//! The API described for machines (OpenAPI) and for people (`/docs`).
//!
//! Invariant: both are made from the route table, so they show exactly what is served. `shape` lists what each route
//! takes and returns, `schema` what those objects look like; tests compare real responses with them.

mod beads;
mod page;
mod schema;
mod shape;
mod streams;
mod workers;

use serde_json::{Map, Value, json};

use crate::table::{Route, RouteKind, routes};
pub(crate) use page::render;

/// The failures of a route, beside those of its parameters and its body.
const ALWAYS: [&str; 5] = ["401", "403", "429", "500", "503"];
const FAILURES: [(&str, &str); 12] = [
    ("400", "a parameter or the JSON of the body is invalid; the message names it"),
    ("401", "a token is required"),
    ("403", "a foreign Host, Origin or Sec-Fetch-Site"),
    ("404", "something that the request names does not exist"),
    ("408", "the body did not arrive in time"),
    ("409", "the current state does not allow it; the message says what to do"),
    ("413", "the body, or the requested file, is too large"),
    ("415", "the body has the wrong type"),
    ("422", "a field is missing or not allowed; the message names it"),
    (
        "429",
        "too many wrong tokens, cookies or login codes from this address; `Retry-After` says when to try again",
    ),
    ("500", "the server failed"),
    ("503", "something that the server needs is unavailable; try again"),
];

/// The whole document.
pub(crate) fn document(version: &str) -> Value {
    let mut paths = Map::new();
    for route in routes() {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.to_ascii_lowercase()] = describe(route);
    }
    let failures = FAILURES.iter().map(|(status, words)| {
        let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}});
        ((*status).to_owned(), json!({"description": words, "content": content}))
    });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Forge",
            "version": version,
            "description": "Runs coding agents in git worktrees. On a loopback address the user who runs the server needs no token.",
        },
        "security": [{}, {"token": []}, {"session": []}],
        "paths": paths,
        "components": {
            "schemas": schema::all(),
            "responses": failures.collect::<Map<_, _>>(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "forge_session_8887",
                    "description": "The number is the port that the server listens on."},
            },
        },
    })
}

fn describe(route: &Route) -> Value {
    let shape = shape::of(route);
    let mut parameters: Vec<Value> =
        path_names(route.path).map(in_path).chain(route.query.split_whitespace().map(in_query)).collect();
    if route.once {
        parameters.push(idempotency_key());
    }
    let mut responses = Map::new();
    responses.insert(shape.status.to_owned(), success(route.kind, shape.data));
    for status in failures(route, shape.body) {
        responses.insert(status.to_owned(), json!({"$ref": format!("#/components/responses/{status}")}));
    }
    let mut operation = json!({
        "operationId": operation_id(route),
        "tags": [route.group],
        "parameters": parameters,
        "responses": responses,
    });
    if let Some(body) = request_body(shape.body) {
        operation["requestBody"] = body;
    }
    operation
}

fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// `GET /api/tags/{tag_id}` is `get_tags_tag_id`.
fn operation_id(route: &Route) -> String {
    let path = route.path.strip_prefix("/api").unwrap_or(route.path);
    let words = path.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let api = if route.path.starts_with("/api") { "" } else { "page_" };
    format!("{}_{api}{}", route.method.to_ascii_lowercase(), words.join("_"))
}

fn in_path(name: &str) -> Value {
    // To clients the id of an approval is any string; beads, sounds and workers have names.
    let schema = match name {
        "approval_id" | "bead_id" | "sound" | "worker_id" => json!({"type": "string"}),
        _ => json!({"type": "string", "format": "uuid"}),
    };
    json!({"name": name, "in": "path", "required": true, "schema": schema})
}

fn in_query(word: &str) -> Value {
    let name = word.trim_end_matches('?');
    let schema = match name {
        "limit" | "offset" | "after" | "wait" | "wait_ms" | "max_bytes" | "older_than_h" | "lines"
        | "context" => {
            json!({"type": "integer", "minimum": 0})
        }
        "tail" => json!({"type": "integer", "minimum": 1}),
        "stats_only" | "show_soft_deleted" | "global" | "ready" | "fresh" | "counts" => {
            json!({"type": "boolean"})
        }
        "type" => json!({"type": "string", "enum": ["follow_up", "retry"]}),
        "side" => json!({"type": "string", "enum": ["old", "new"]}),
        name if name.ends_with("_id") => json!({"type": "string", "format": "uuid"}),
        _ => json!({"type": "string"}),
    };
    json!({"name": name, "in": "query", "required": name == word, "schema": schema})
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key", "in": "header", "required": false,
        "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        "description": "A name, such as a UUID, under which this request has one effect. If sent again within 24 hours, it gets \
            the same response, with `Idempotency-Replayed: true`; it waits for an equal request in progress (409 after 30 s). \
            With another body or path it is refused (422). A request that was refused may be sent again.",
    })
}

fn success(kind: RouteKind, data: &str) -> Value {
    if let Some(media) = data.strip_prefix('@') {
        let schema = json!({"type": "string"});
        return json!({"description": "the content", "content": {media: {"schema": schema}}});
    }
    let either = data.strip_prefix('~');
    let data = schema::of(either.unwrap_or(data));
    match kind {
        RouteKind::Json => {
            let mut envelope = json!({"allOf": [
                {"$ref": "#/components/schemas/Envelope"},
                {"type": "object", "properties": {"data": data}},
            ]});
            if either.is_some() {
                envelope = json!({"anyOf": [envelope, data]});
            }
            json!({"description": "the envelope", "content": {"application/json": {"schema": envelope}}})
        }
        RouteKind::Raw => {
            json!({"description": "bare JSON", "content": {"application/json": {"schema": data}}})
        }
        RouteKind::Page => {
            json!({"description": "a page", "content": {"text/html": {"schema": {"type": "string"}}}})
        }
        RouteKind::File => {
            let bytes = json!({"type": "string", "format": "binary"});
            json!({"description": "the bytes", "content": {"application/octet-stream": {"schema": bytes}}})
        }
        RouteKind::WebSocket => {
            // OpenAPI has no place for frames.
            let words = "a WebSocket of JSON text frames, closed with 1000 at its end";
            json!({"description": words, "x-frame": data})
        }
        RouteKind::EventStream => {
            json!({"description": "server-sent events", "content": {"text/event-stream": {"schema": {"type": "string"}}}})
        }
    }
}

fn request_body(body: &str) -> Option<Value> {
    let (media, schema, required) = match (body, body.strip_suffix('?')) {
        ("", _) => return None,
        ("multipart", _) => ("multipart/form-data", schema::of("Upload"), true),
        ("text", _) => ("text/plain", json!({"type": "string"}), true),
        (_, Some(name)) => ("application/json", schema::of(name), false),
        (name, None) => ("application/json", schema::of(name), true),
    };
    Some(json!({"required": required, "content": {media: {"schema": schema}}}))
}

fn failures(route: &Route, body: &str) -> Vec<&'static str> {
    let mut statuses = ALWAYS.to_vec();
    if route.path.contains('{') {
        statuses.extend(["400", "404"]);
    }
    if !route.query.is_empty() {
        statuses.push("400");
    }
    if !body.is_empty() {
        statuses.extend(["400", "404", "408", "413", "415", "422"]);
    }
    if route.kind == RouteKind::File && !route.query.is_empty() {
        statuses.extend(["409", "413", "422"]);
    }
    if route.method != "GET" {
        statuses.push("409");
    }
    if route.once {
        statuses.extend(["400", "408", "413", "422"]);
    }
    statuses.sort_unstable();
    statuses.dedup();
    statuses
}
