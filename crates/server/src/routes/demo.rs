//! The demo.

use axum::extract::State;
use forge_core::Forge;

use crate::envelope::{Answer, ok};

pub(crate) async fn start(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.start_demo().await?))
}
