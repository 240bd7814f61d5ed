//! The embedded page: one document, one script, one style sheet.
//!
//! Invariant: a path that is no API path and names no file gets the document, so that links to a task open in the page;
//! everything else unknown is a 404, under `/api` with the envelope whatever the method.

use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use serde_json::json;

use crate::envelope::{Answer, Fault};

const INDEX: &str = include_str!("../page/index.html");
const SCRIPT: &str = include_str!("../page/page.js");
const STYLE: &str = include_str!("../page/page.css");

pub(crate) async fn index() -> Html<&'static str> {
    Html(INDEX)
}

pub(crate) async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)
}

pub(crate) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)
}

pub(crate) async fn manifest() -> Response {
    let body = json!({"name": "Forge", "short_name": "Forge", "start_url": "/", "display": "standalone"});
    ([(header::CONTENT_TYPE, "application/manifest+json")], body.to_string()).into_response()
}

/// Every path that is not in the route table.
pub(crate) async fn fallback(request: Request) -> Answer {
    let path = request.uri().path();
    let is_page = matches!(*request.method(), Method::GET | Method::HEAD) && !is_api(path);
    if is_page && !path.rsplit('/').next().unwrap_or_default().contains('.') {
        return Ok(Html(INDEX).into_response());
    }
    let message = format!("{} {path} is not served here; GET /api/routes lists what is", request.method());
    Err(Fault::new(StatusCode::NOT_FOUND, message))
}

fn is_api(path: &str) -> bool {
    path.strip_prefix("/api").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
