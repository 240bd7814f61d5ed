//! The project's own checkout against its remote, and the product's releases.
//!
//! Invariant: a pull that was refused is a 200 without the envelope, as clients expect; only failures carry it.

use axum::extract::State;
use axum::http::StatusCode;
use forge_core::{Forge, Pulled};
use forge_types::ProjectId;
use serde_json::json;

use crate::envelope::{Answer, json as raw, ok};
use crate::extract::{Id, Params};

pub(crate) async fn status(State(forge): State<Forge>, Id(id): Id<ProjectId>, params: Params) -> Answer {
    Ok(ok(forge.checkout_status(id, params.get("base").unwrap_or("main")).await?))
}

pub(crate) async fn pull(State(forge): State<Forge>, Id(id): Id<ProjectId>) -> Answer {
    let body = match forge.pull_project(id).await? {
        Pulled::Done { from } => {
            json!({"success": true, "message": format!("Successfully pulled updates from {from}")})
        }
        Pulled::Refused { reason, details } => {
            json!({"success": false, "message": reason, "details": details})
        }
    };
    Ok(raw(StatusCode::OK, &body))
}

pub(crate) async fn releases(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.releases().await?))
}
