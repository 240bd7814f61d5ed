//! The files of attempts, as bytes.
//!
//! Invariant: whatever an agent wrote, a browser that opens it runs nothing of it: its type follows from its content
//! and is never one that browsers run, and even as a separate page it may load nothing and do nothing.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use forge_core::{Forge, Side};
use forge_types::AttemptId;

use crate::envelope::{Answer, Fault};
use crate::extract::{Id, Params};
use crate::media;

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

pub(crate) async fn show(State(forge): State<Forge>, Id(id): Id<AttemptId>, params: Params) -> Answer {
    let path = params.require("path")?;
    let side = match params.get("side") {
        Some("old") => Side::Old,
        None | Some("new") => Side::New,
        Some(given) => {
            return Err(Fault::bad_request(format!("side: '{given}' is not allowed; allowed: old, new")));
        }
    };
    let bytes = forge.file(id, path, side).await?;
    let headers = [
        (header::CONTENT_TYPE, media::of(&bytes)),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, bytes).into_response())
}
