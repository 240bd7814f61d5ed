//! Tools for approvals: the questions of agents, and the answers.
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
        "Answers the question of an agent: it may use the tool, or it may not and learns why.";
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
    /// The id of the question, from list_approvals.
    approval_id: Id<ApprovalId>,
    /// Whether the agent may use the tool.
    approved: bool,
    /// The reason that the agent gets when it may not.
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
        list.push(with_owner(&call.forge, ask, show(ask)).await?);
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
    let data = json!({"approval_id": id, "status": answered.status.as_str()});
    Ok(with_owner(&call.forge, &answered, data).await?.into())
}

/// Adds whose question it is and where people see it.
async fn with_owner(forge: &Forge, ask: &Approval, mut data: Value) -> Result<Value, Fault> {
    data["url"] = json!(projects::board(forge));
    let Some(run) = ask.run_id else { return Ok(data) };
    if let Some(id) = forge.run(run).await?.owner.attempt() {
        let attempt = forge.attempt(id).await?;
        data["attempt_id"] = json!(id);
        data["url"] = json!(attempts::url(forge, &attempt));
    }
    Ok(data)
}

pub(crate) fn show(ask: &Approval) -> Value {
    json!({
        "approval_id": ask.id,
        "process_id": ask.run_id,
        "tool_name": ask.tool_name,
        "tool_input": ask.tool_input,
        "created_at": ask.created_at,
        "timeout_at": ask.timeout_at,
    })
}
