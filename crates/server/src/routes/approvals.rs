//! Approvals: questions of agents and the answers to them.
//!
//! Invariant: a request in the native form gets a bare response, one in the clients' form gets the envelope; the other
//! objects contain both.

use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use forge_core::Forge;
use forge_types::wire::{NativeAnswer, PendingApproval, PlainAnswer, ShownApproval};
use forge_types::{Answer as Said, ApprovalId, ApprovalStatus, AskApproval, ErrorCode};
use serde_json::Value;

use crate::envelope::{Answer, Fault, json, ok, ok_and_bare};
use crate::extract::{Params, Payload, decode_value};

/// The longest that a request may wait for an answer.
pub(crate) const WAIT_MAX_S: u64 = 60;

pub(crate) async fn create(State(forge): State<Forge>, Payload(request): Payload<AskApproval>) -> Answer {
    let approval = forge.ask_for_session(request).await?;
    Ok(ok_and_bare(ShownApproval::from(approval)))
}

pub(crate) async fn pending(State(forge): State<Forge>) -> Answer {
    let approvals = forge.pending_approvals().await?;
    Ok(ok(approvals.into_iter().map(PendingApproval::from).collect::<Vec<_>>()))
}

pub(crate) async fn status(State(forge): State<Forge>, Path(id): Path<String>, params: Params) -> Answer {
    let wait = Duration::from_secs(params.number("wait", 0, WAIT_MAX_S)?.unwrap_or(0));
    Ok(ok_and_bare(forge.approval_status(parse(&id)?, wait).await?))
}

pub(crate) async fn respond(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    Payload(body): Payload<Value>,
) -> Answer {
    let id = parse(&id)?;
    if body.get("approved").is_some() {
        let PlainAnswer { approved, comment } = decode_value(&body)?;
        let said = if approved { Said::Approve } else { Said::Deny { reason: comment } };
        return Ok(ok(forge.answer_approval(id, None, said).await?.status));
    }
    let NativeAnswer { execution_process_id, status } = decode_value(&body)?;
    let answered = forge.answer_approval(id, Some(execution_process_id), said(status)?).await?;
    Ok(json(StatusCode::OK, &answered.status))
}

fn said(status: ApprovalStatus) -> Result<Said, Fault> {
    match status {
        ApprovalStatus::Approved => Ok(Said::Approve),
        ApprovalStatus::Denied { reason } => Ok(Said::Deny { reason }),
        ApprovalStatus::Pending | ApprovalStatus::TimedOut => Err(Fault::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("status.status: '{}' is not allowed; allowed: approved, denied", status.as_str()),
        )),
    }
}

/// To clients the id is any string: what is not one of our ids matches nothing.
fn parse(id: &str) -> Result<ApprovalId, Fault> {
    id.parse().map_err(|_| {
        let message = format!("Approval not found: {id}");
        Fault::new(StatusCode::NOT_FOUND, message).code(ErrorCode::ApprovalNotFound)
    })
}
