//! Alerts: what a person should know.

use axum::extract::State;
use forge_core::Forge;
use forge_types::AlertId;

use crate::envelope::{Answer, ok};
use crate::extract::{Id, PAGE_MAX, Params};

/// How many alerts are listed by default.
const LIMIT: u32 = 200;

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    Ok(ok(forge.alerts(params.number("limit", 1, PAGE_MAX)?.unwrap_or(LIMIT)).await?))
}

pub(crate) async fn acknowledge(State(forge): State<Forge>, Id(id): Id<AlertId>) -> Answer {
    Ok(ok(forge.acknowledge_alert(id).await?))
}

pub(crate) async fn acknowledge_all(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.acknowledge_alerts().await?))
}
