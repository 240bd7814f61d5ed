//! Questions of agents, in the words of the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Approval, ApprovalId, ApprovalStatus, AttemptId, Millis, RunId, TaskId};

/// A question with its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Approval", extend("x-extends" = "ApprovalStatus"))]
pub struct ShownApproval {
    pub id: ApprovalId,
    pub tool_name: String,
    pub tool_input: Value,
    pub session_id: Option<String>,
    pub execution_process_id: Option<RunId>,
    pub tool_call_id: Option<String>,
    #[serde(flatten)]
    pub status: ApprovalStatus,
    pub created_at: Millis,
    pub timeout_at: Millis,
    /// Whose question it is; absent when it came from outside any attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_attempt_id: Option<AttemptId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
}

impl From<Approval> for ShownApproval {
    fn from(approval: Approval) -> Self {
        Self {
            id: approval.id,
            tool_name: approval.tool_name,
            tool_input: approval.tool_input,
            session_id: approval.session_id,
            execution_process_id: approval.run_id,
            tool_call_id: approval.call_id,
            status: approval.status,
            created_at: approval.created_at,
            timeout_at: approval.timeout_at,
            task_attempt_id: approval.attempt_id,
            task_id: approval.task_id,
        }
    }
}

/// A waiting question, with the names of both generations of clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PendingApproval {
    pub id: ApprovalId,
    pub approval_id: ApprovalId,
    pub execution_process_id: Option<RunId>,
    pub tool_name: String,
    pub tool_input: Value,
    pub message: String,
    pub created_at: Millis,
    pub requested_at: Millis,
    pub timeout_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_attempt_id: Option<AttemptId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
}

impl From<Approval> for PendingApproval {
    fn from(approval: Approval) -> Self {
        Self {
            id: approval.id,
            approval_id: approval.id,
            execution_process_id: approval.run_id,
            message: format!("May {} be used?", approval.tool_name),
            tool_name: approval.tool_name,
            tool_input: approval.tool_input,
            created_at: approval.created_at,
            requested_at: approval.created_at,
            timeout_at: approval.timeout_at,
            task_attempt_id: approval.attempt_id,
            task_id: approval.task_id,
        }
    }
}

impl PendingApproval {
    /// What the agent wants to do, in one line. Every tool has its own form of input.
    pub fn wish(&self) -> String {
        let told = ["command", "file_path", "path", "description", "plan"];
        let told = told.iter().find_map(|key| self.tool_input.get(key)?.as_str());
        match (told, &self.tool_input) {
            (Some(told), _) => format!("{}: {told}", self.tool_name),
            (None, Value::Null) => self.tool_name.clone(),
            (None, input) => format!("{}: {input}", self.tool_name),
        }
    }
}

/// An answer in either form.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RespondToApproval {
    Native(NativeAnswer),
    Plain(PlainAnswer),
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NativeAnswer {
    pub execution_process_id: RunId,
    pub status: ApprovalStatus,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlainAnswer {
    pub approved: bool,
    pub comment: Option<String>,
}
