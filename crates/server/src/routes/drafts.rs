//! The drafts of an attempt, one by one.
//!
//! Invariant: the query selects the draft.

use axum::extract::State;
use forge_core::Forge;
use forge_types::wire::DraftResponse;
use forge_types::{AttemptId, DraftKind, QueueDraft};
use serde_json::Value;

use crate::compat::{Older, genie};
use crate::envelope::{Answer, Fault, ok};
use crate::extract::{Id, Params, Payload};

pub(crate) async fn show(State(forge): State<Forge>, params: Params, Id(id): Id<AttemptId>) -> Answer {
    Ok(ok(DraftResponse::from(forge.draft(id, kind(&params)?).await?)))
}

pub(crate) async fn save(
    State(forge): State<Forge>,
    params: Params,
    Id(id): Id<AttemptId>,
    body: Result<Payload<Value>, Fault>,
) -> Answer {
    let kind = kind(&params)?;
    Ok(ok(DraftResponse::from(forge.save_draft(id, kind, genie::draft(body?.0)?).await?)))
}

pub(crate) async fn delete(State(forge): State<Forge>, params: Params, Id(id): Id<AttemptId>) -> Answer {
    Ok(ok(forge.delete_draft(id, kind(&params)?).await?))
}

pub(crate) async fn queue(
    State(forge): State<Forge>,
    params: Params,
    Id(id): Id<AttemptId>,
    body: Result<Payload<Older<QueueDraft>>, Fault>,
) -> Answer {
    let kind = kind(&params)?;
    Ok(ok(DraftResponse::from(forge.queue_draft(id, kind, body?.0.0).await?)))
}

fn kind(params: &Params) -> Result<DraftKind, Fault> {
    match params.require("type")? {
        "follow_up" => Ok(DraftKind::FollowUp),
        "retry" => Ok(DraftKind::Retry),
        other => {
            Err(Fault::bad_request(format!("type: '{other}' is not allowed; allowed: follow_up, retry")))
        }
    }
}
