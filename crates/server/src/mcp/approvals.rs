//! Tools for approvals: what agents ask, and the answers to it.
//!
//! Invariant: an answer is given once; the engine refuses a second one.

use forge_core::Dropped;
use forge_types::{Answer, Approval, ApprovalId, AttemptId};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::argument::Id;
use crate::mcp::tool::{Call, Outcome, tools};

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
    let list: Vec<Value> = pending.iter().map(tell).collect();
    Ok(json!({"approvals": list, "count": list.len()}).into())
}

async fn answer_approval(call: Call, arguments: AnswerArguments) -> Outcome {
    let id = arguments.approval_id.0;
    let answer = match arguments.approved {
        true => Answer::Approve,
        false => Answer::Deny { reason: arguments.reason },
    };
    let answered = call.forge.answer_approval(id, None, answer).await?;
    Ok(json!({"approval_id": id, "status": answered.status.as_str()}).into())
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
