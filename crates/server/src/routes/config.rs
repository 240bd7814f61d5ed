//! The user's settings and what the server reports about itself.
//!
//! Invariant: settings leave the server masked; the engine masks them.

use axum::extract::{Request, State};
use forge_core::Forge;

use crate::envelope::{Answer, ok};
use crate::extract::{Params, decode, read_json};

pub(crate) const CONFIG_LIMIT: usize = 20 << 20;

pub(crate) async fn info(State(forge): State<Forge>, params: Params) -> Answer {
    Ok(ok(forge.system_info(params.optional_id("project_id")?).await?))
}

pub(crate) async fn show(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.shown_settings()))
}

pub(crate) async fn save(State(forge): State<Forge>, request: Request) -> Answer {
    let change = decode(&read_json(request, CONFIG_LIMIT).await?)?;
    Ok(ok(forge.change_settings(change).await?))
}
