//! The project's own checkout against its remote, and the product's releases.
//!
//! Invariant: a pull that was refused is a 200 without the envelope, as clients expect; only failures carry it.

use axum::extract::State;
use axum::http::StatusCode;
use forge_core::{Forge, Pulled};
use forge_types::{ProjectId, wire};

use crate::envelope::{Answer, json as raw, ok};
use crate::extract::{Id, Params};

pub(crate) async fn status(State(forge): State<Forge>, Id(id): Id<ProjectId>, params: Params) -> Answer {
    Ok(ok(forge.checkout_status(id, params.get("base").unwrap_or("main")).await?))
}

pub(crate) async fn pull(State(forge): State<Forge>, Id(id): Id<ProjectId>) -> Answer {
    let body = match forge.pull_project(id).await? {
        Pulled::Done { from } => {
            let message = format!("Successfully pulled updates from {from}");
            wire::Pulled { success: true, message, details: None }
        }
        Pulled::Refused { reason, details } => {
            wire::Pulled { success: false, message: reason, details: Some(details) }
        }
    };
    Ok(raw(StatusCode::OK, &body))
}

pub(crate) async fn releases(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.releases().await?))
}
