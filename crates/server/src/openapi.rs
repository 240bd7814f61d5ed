//! The API described for machines (OpenAPI) and for people (`/docs`).
//!
//! Invariant: both are made from the route table and from the types that it names, so they show exactly what is served;
//! tests compare real responses with it.

mod components;
mod example;
mod page;
mod parameter;

use std::collections::BTreeSet;

use forge_types::ErrorCode;
use serde_json::{Map, Value, json};

use crate::table::{Body, Form, Route, RouteKind, routes};
use components::{Components, Named, Side};
pub(crate) use page::render;

/// What a status means, whatever the code.
const FAILURES: [(u16, &str); 13] = [
    (400, "a parameter or the JSON of the body is invalid; the message names it"),
    (401, "a token is required"),
    (403, "a foreign Host, Origin or Sec-Fetch-Site"),
    (404, "something that the request names does not exist"),
    (408, "the body did not arrive in time"),
    (409, "the current state does not allow it; the message says what to do"),
    (413, "the body, or the requested file, is too large"),
    (415, "the body has the wrong type"),
    (422, "a field is missing or not allowed; the message names it"),
    (
        429,
        "too many wrong tokens, cookies or login codes from this address; `Retry-After` says when to try again",
    ),
    (500, "the server failed"),
    (502, "another machine failed or did not answer"),
    (503, "something that the server needs is unavailable; try again"),
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
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Forge",
            "version": version,
            "description": "Runs coding agents in git worktrees. On a loopback address the user who runs the server needs no token.",
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The server that this description comes from."}],
        "security": [{}, {"token": []}, {"session": []}],
        "paths": paths,
        "components": {
            "schemas": named.schemas,
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
    let failures = route.failures();
    let refused = failures.get(&route.status);
    let mut responses = Map::new();
    responses
        .insert(route.status.to_string(), success(route, named.tidy(answer, Side::Answer), refused, named));
    for (status, words) in FAILURES {
        if let Some(codes) = failures.get(&status) {
            let content = json!({"application/json": {"schema": failure(codes)}});
            responses.insert(status.to_string(), json!({"description": words, "content": content}));
        }
    }
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.summary.trim().trim_end_matches('.'),
        "tags": [route.group],
        "parameters": parameters,
        "responses": responses,
    });
    if let (Some(body), Some(schema)) = (route.body, body) {
        operation["requestBody"] = request_body(body, named.tidy(schema, Side::Request), named);
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

/// The envelope of a failure, with the codes that it can have.
fn failure(codes: &BTreeSet<ErrorCode>) -> Value {
    json!({"allOf": [
        {"$ref": "#/components/schemas/Failure"},
        {"type": "object", "properties": {"error_code": {"enum": codes}}},
    ]})
}

fn success(route: &Route, data: Value, refused: Option<&BTreeSet<ErrorCode>>, named: &Named) -> Value {
    let example = example::of(&data, &named.schemas);
    if let Some(media) = route.media {
        let content = match route.kind {
            RouteKind::Raw => json!({"schema": data}),
            _ => json!({"schema": {"type": "string"}}),
        };
        return json!({"description": "the content", "content": {media: content}});
    }
    match route.kind {
        RouteKind::Json => {
            let mut schema = json!({"allOf": [
                {"$ref": "#/components/schemas/Envelope"},
                {"type": "object", "properties": {"data": data}},
            ]});
            let others = [route.bare.then_some(data), refused.map(failure)];
            if others.iter().any(Option::is_some) {
                let all: Vec<Value> = [Some(schema)].into_iter().chain(others).flatten().collect();
                schema = json!({"anyOf": all});
            }
            let example = json!({"success": true, "data": example, "error_data": null, "message": null});
            let content = json!({"application/json": {"schema": schema, "example": example}});
            json!({"description": "the envelope", "content": content})
        }
        RouteKind::Raw => {
            let content = json!({"application/json": {"schema": data, "example": example}});
            json!({"description": "bare JSON", "content": content})
        }
        RouteKind::Page if route.status == 303 => json!({"description": "a redirect to the board"}),
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

fn request_body(body: Body, mut schema: Value, named: &Named) -> Value {
    let (media, required) = match body.form {
        Form::Json => ("application/json", true),
        Form::Optional => ("application/json", false),
        Form::Multipart => ("multipart/form-data", true),
        Form::Text => ("text/plain", true),
    };
    let mut content = json!({"example": example::of(&schema, &named.schemas)});
    if body.form == Form::Optional && schema != json!({}) {
        schema = json!({"anyOf": [schema, {"type": "null"}]});
    }
    content["schema"] = schema;
    json!({"required": required, "content": {media: content}})
}
