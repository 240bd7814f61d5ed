//! The web page: the board, embedded in the program, and the plain pages beside it.
//!
//! Invariant: a path that is not a route and not a file of the page is a 404, under `/api` with the envelope whatever
//! the method.

mod answer;
mod board;
mod policy;

use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use forge_types::ErrorCode;
use serde_json::json;

use crate::envelope::{Answer, Fault};
use board::BUILT;

/// The placeholder in the document for the nonce of each response.
const NONCE: &str = "__NONCE__";
const LOCKED: &str = include_str!("../page/locked.html");
const STYLE: &str = include_str!("../page/plain.css");
/// Colours, sizes and distances are those of the board.
const TOKENS: &str = include_str!("../../../web/src/styles/tokens.css");
/// The board's fonts, by the beginning of their files.
const FONTS: [(&str, &str); 2] =
    [("Geist Variable", "assets/geist-latin"), ("Geist Mono Variable", "assets/geist-mono-latin")];

pub(crate) async fn index() -> Response {
    answer::document(&BUILT)
}

/// The style of the pages that have no script.
pub(crate) async fn style() -> Response {
    let about = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];
    policy::plain((about, format!("{}{}{STYLE}", faces(), TOKENS.replace("@theme", ":root"))))
}

/// The fonts, in a build that has the board.
fn faces() -> String {
    let files = || BUILT.iter().flat_map(|board| board.files);
    let found = FONTS.map(|(family, begin)| {
        let file = files().find(|file| file.path.starts_with(begin));
        file.map(|file| {
            let path = file.path;
            format!(
                "@font-face {{ font-family: \"{family}\"; font-weight: 100 900; src: url(\"/{path}\"); }}\n"
            )
        })
    });
    found.into_iter().flatten().collect()
}

pub(crate) async fn manifest(headers: HeaderMap) -> Response {
    answer::file(&BUILT, "site.webmanifest", &headers).unwrap_or_else(|| {
        let body = json!({"name": "Forge", "short_name": "Forge", "start_url": "/", "display": "standalone"});
        ([(header::CONTENT_TYPE, "application/manifest+json")], body.to_string()).into_response()
    })
}

/// Whether a person asks with a browser, rather than a program.
pub(crate) fn is_asked_for(request: &Request) -> bool {
    let accepts = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    is_page(request) && accepts.is_some_and(|kinds| kinds.contains("text/html"))
}

/// Whether a link from anywhere may lead to it.
pub(crate) fn is_visit(request: &Request) -> bool {
    request.method() == Method::GET && is_page(request)
}

/// Instead of any page, for whoever has not logged in.
pub(crate) fn locked() -> Response {
    let fresh = [(header::CACHE_CONTROL, "no-store")];
    policy::plain((StatusCode::UNAUTHORIZED, fresh, Html(LOCKED)))
}

/// Every path that is not in the route table.
pub(crate) async fn fallback(request: Request) -> Answer {
    let path = request.uri().path();
    let found = is_page(&request).then(|| answer::find(&BUILT, path, request.headers())).flatten();
    found.ok_or_else(|| {
        let message = format!("{} {path} is not served here", request.method());
        let fault = Fault::new(StatusCode::NOT_FOUND, message).code(ErrorCode::NotServed);
        fault.hint("GET /api/routes lists what is")
    })
}

/// A page of the server itself, which needs no script.
pub(crate) fn plain(page: String) -> Response {
    policy::plain(Html(page))
}

/// Text escaped for HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn is_page(request: &Request) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD) && !is_api(request.uri().path())
}

fn is_api(path: &str) -> bool {
    path.strip_prefix("/api").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
