//! Dispatching beads: the rule of each project, one round on request, and why which agent got what.

use axum::extract::State;
use forge_core::Forge;
use forge_types::{DispatchChange, DispatchRequest, ProjectId};

use crate::envelope::{Answer, ok};
use crate::extract::{Id, PAGE_MAX, Params, Payload};
use crate::routes::beads::whose;

const LISTED: u32 = 100;

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    let limit = params.number("limit", 1, PAGE_MAX)?.unwrap_or(LISTED);
    Ok(ok(forge.routings(limit).await?))
}

pub(crate) async fn explain(State(forge): State<Forge>, params: Params) -> Answer {
    Ok(ok(forge.explain_routing(params.require("bead")?, &whose(&params)?).await?))
}

pub(crate) async fn rule(State(forge): State<Forge>, Id(id): Id<ProjectId>) -> Answer {
    Ok(ok(forge.dispatch_rule(id).await?))
}

pub(crate) async fn change_rule(
    State(forge): State<Forge>,
    Id(id): Id<ProjectId>,
    Payload(change): Payload<DispatchChange>,
) -> Answer {
    Ok(ok(forge.change_dispatch_rule(id, change).await?))
}

pub(crate) async fn dispatch(
    State(forge): State<Forge>,
    Payload(request): Payload<DispatchRequest>,
) -> Answer {
    Ok(ok(forge.dispatch(request).await?))
}
