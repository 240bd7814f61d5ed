//! The API described for machines (OpenAPI) and for people (`/docs`).
//!
//! Invariant: both are made from the route table and from the types that it names, so they show exactly what is served;
//! tests compare real responses with it.

mod components;
mod page;
mod parameter;

use serde_json::{Map, Value, json};

use crate::table::{Body, Form, Route, RouteKind, routes};
use components::{Components, Named, Side};
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

/// A route with the schemas of its body and of its answer.
struct Described {
    route: &'static Route,
    body: Option<Value>,
    answer: Value,
}

/// The whole document.
pub(crate) fn document(version: &str) -> Value {
    let mut components = Components::new();
    let described: Vec<Described> = routes()
        .iter()
        .map(|route| Described {
            route,
            body: route.body.map(|body| components.describe(Side::Request, body.schema)),
            answer: components.describe(Side::Answer, route.answer),
        })
        .collect();
    let named = components.finish();
    let mut paths = Map::new();
    for one in described {
        let (path, method) = (one.route.path, one.route.method.to_ascii_lowercase());
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        methods[method] = describe(one, &named);
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
            "schemas": named.schemas,
            "responses": failures.collect::<Map<_, _>>(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "forge_session_8887",
                    "description": "The number is the port that the server listens on."},
            },
        },
    })
}

fn describe(Described { route, body, answer }: Described, named: &Named) -> Value {
    let mut parameters: Vec<Value> = path_names(route.path)
        .map(parameter::in_path)
        .chain(route.query.split_whitespace().map(parameter::in_query))
        .collect();
    if route.once {
        parameters.push(parameter::idempotency_key());
    }
    let mut responses = Map::new();
    responses.insert(route.status.to_string(), success(route, named.tidy(answer, Side::Answer)));
    for status in failures(route) {
        responses.insert(status.to_owned(), json!({"$ref": format!("#/components/responses/{status}")}));
    }
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.summary.trim().trim_end_matches('.'),
        "tags": [route.group],
        "parameters": parameters,
        "responses": responses,
    });
    if let (Some(body), Some(schema)) = (route.body, body) {
        operation["requestBody"] = request_body(body, named.tidy(schema, Side::Request));
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

fn success(route: &Route, data: Value) -> Value {
    if let Some(media) = route.media {
        let schema = json!({"type": "string"});
        return json!({"description": "the content", "content": {media: {"schema": schema}}});
    }
    match route.kind {
        RouteKind::Json => {
            let mut envelope = json!({"allOf": [
                {"$ref": "#/components/schemas/Envelope"},
                {"type": "object", "properties": {"data": data}},
            ]});
            if route.bare {
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

fn request_body(body: Body, schema: Value) -> Value {
    let (media, required) = match body.form {
        Form::Json => ("application/json", true),
        Form::Optional => ("application/json", false),
        Form::Multipart => ("multipart/form-data", true),
        Form::Text => ("text/plain", true),
    };
    json!({"required": required, "content": {media: {"schema": schema}}})
}

fn failures(route: &Route) -> Vec<&'static str> {
    let mut statuses = ALWAYS.to_vec();
    if route.path.contains('{') {
        statuses.extend(["400", "404"]);
    }
    if !route.query.is_empty() {
        statuses.push("400");
    }
    if route.body.is_some() {
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
