//! Which file answers a request, and in which form.
//!
//! Invariant: a path that matches no file gets the document, so that links to a task open in the board; what looks like
//! a file, or lies in `assets`, is that file or nothing. Only names with a hash of the content are cached without
//! revalidation.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use super::board::{Built, File};
use super::{NONCE, escape, policy};

const MISSING: &str = include_str!("../../page/missing.html");

/// The response to a path that is not a route, if it belongs to the page.
pub(super) fn find(built: &Built, path: &str, headers: &HeaderMap) -> Option<Response> {
    let name = path.strip_prefix('/').unwrap_or(path);
    if let Some(file) = file(built, name, headers) {
        return Some(file);
    }
    let is_asset = name.split('/').next() == Some("assets");
    let is_file = name.rsplit('/').next().is_some_and(|last| last.contains('.'));
    (name == "index.html" || !is_asset && !is_file).then(|| document(built))
}

/// The document of the board, or a page that says why there is none.
pub(super) fn document(built: &Built) -> Response {
    let fresh = [(header::CACHE_CONTROL, "no-store")];
    match built {
        Ok(board) => {
            let nonce = policy::nonce();
            policy::board(Some(&nonce), (fresh, Html(board.index.replace(NONCE, &nonce))))
        }
        Err(reason) => policy::plain((fresh, Html(MISSING.replace("__REASON__", &escape(reason))))),
    }
}

/// A file of the board, if it has one of this name.
pub(super) fn file(built: &Built, name: &str, headers: &HeaderMap) -> Option<Response> {
    let file = built.as_ref().ok()?.find(name)?;
    let keep = match file.path.starts_with("assets/") {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let about = [(header::CACHE_CONTROL, keep), (header::ETAG, file.tag), (header::VARY, "accept-encoding")];
    Some(policy::board(None, (about, content(file, headers))))
}

fn content(file: &'static File, headers: &HeaderMap) -> Response {
    if has(headers, file.tag) {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    let kind = [(header::CONTENT_TYPE, file.kind)];
    match file.gzip {
        Some(bytes) if takes_gzip(headers) => {
            (kind, [(header::CONTENT_ENCODING, "gzip")], Body::from(bytes)).into_response()
        }
        _ => (kind, Body::from(file.bytes)).into_response(),
    }
}

/// The words of a header that is a list.
fn words(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// Whether the client has what the tag stands for.
fn has(headers: &HeaderMap, tag: &str) -> bool {
    let bare = |tag: &str| tag.trim_start_matches("W/").to_owned();
    words(headers, header::IF_NONE_MATCH).any(|known| known == "*" || bare(known) == bare(tag))
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let mut others = false;
    for word in words(headers, header::ACCEPT_ENCODING) {
        let (coding, rest) = word.split_once(';').unwrap_or((word, ""));
        let weight = rest.trim().strip_prefix("q=").and_then(|weight| weight.trim().parse().ok());
        let is_wanted = weight.unwrap_or(1.0_f32) > 0.0;
        match coding.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => return is_wanted,
            "*" => others = is_wanted,
            _ => {}
        }
    }
    others
}

#[cfg(test)]
mod tests;
