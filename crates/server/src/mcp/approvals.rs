//! Tools for approvals: what agents ask, and the answers to it.
//!
//! Invariant: an answer is given once; the engine refuses a second one.

use forge_core::{Dropped, Forge};
use forge_types::{Answer, Approval, ApprovalId, AttemptId};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::envelope::Fault;
use crate::mcp::argument::Id;
use crate::mcp::tool::{Call, Outcome, tools};
use crate::mcp::{attempts, projects};

tools! {
    Reads list_approvals(ListArguments)
        "Lists the questions of agents that wait for an answer: which tool they want to use, with what, and until when.";
    Adds answer_approval(AnswerArguments)
        "Answers the question of an agent: it may use the tool, or it may not and is told why.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ListArguments {
    /// Only questions of this attempt.
    attempt_id: Option<Id<AttemptId>>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct AnswerArguments {
    /// The question, as list_approvals tells it.
    approval_id: Id<ApprovalId>,
    /// Whether the agent may do it.
    approved: bool,
    /// What the agent is told when it may not.
    reason: Option<String>,
}

async fn list_approvals(call: Call, arguments: ListArguments) -> Outcome {
    let mut pending = call.forge.pending_approvals().await?;
    if let Some(Id(id)) = arguments.attempt_id {
        call.forge.attempt(id).await?;
        let runs = call.forge.runs(id, Dropped::Hidden).await?;
        pending.retain(|ask| runs.iter().any(|run| ask.run_id == Some(run.id)));
    }
    let mut list = Vec::new();
    for ask in &pending {
        list.push(tell_with(&call.forge, ask, tell(ask)).await?);
    }
    Ok(json!({"approvals": list, "count": list.len(), "url": projects::board(&call.forge)}).into())
}

async fn answer_approval(call: Call, arguments: AnswerArguments) -> Outcome {
    let id = arguments.approval_id.0;
    let answer = match arguments.approved {
        true => Answer::Approve,
        false => Answer::Deny { reason: arguments.reason },
    };
    let answered = call.forge.answer_approval(id, None, answer).await?;
    let told = json!({"approval_id": id, "status": answered.status.as_str()});
    Ok(tell_with(&call.forge, &answered, told).await?.into())
}

/// The answer, with whose question it is and where people see it.
async fn tell_with(forge: &Forge, ask: &Approval, mut data: Value) -> Result<Value, Fault> {
    data["url"] = json!(projects::board(forge));
    let Some(run) = ask.run_id else { return Ok(data) };
    if let Some(id) = forge.run(run).await?.owner.attempt() {
        let attempt = forge.attempt(id).await?;
        data["attempt_id"] = json!(id);
        data["url"] = json!(attempts::url(forge, &attempt));
    }
    Ok(data)
}

pub(crate) fn tell(ask: &Approval) -> Value {
    json!({
        "approval_id": ask.id,
        "process_id": ask.run_id,
        "tool_name": ask.tool_name,
        "tool_input": ask.tool_input,
        "created_at": ask.created_at,
        "timeout_at": ask.timeout_at,
    })
}
