//! The agent programs of this machine.

use axum::extract::State;
use forge_core::{Forge, Freshness};

use crate::envelope::{Answer, ok};
use crate::extract::Params;

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    let freshness = if params.flag("fresh")? { Freshness::Anew } else { Freshness::Recent };
    Ok(ok(forge.found_agents(freshness).await?))
}
