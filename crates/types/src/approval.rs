//! A question that an agent asks before it uses a tool, and the answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ApprovalId, AttemptId, Millis, RunId, TaskId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub id: ApprovalId,
    /// The run whose agent waits; none when the question came from outside any run.
    pub run_id: Option<RunId>,
    pub tool_name: String,
    pub tool_input: Value,
    /// The agent's own name for this use of the tool.
    pub call_id: Option<String>,
    pub session_id: Option<String>,
    pub status: ApprovalStatus,
    pub created_at: Millis,
    /// Answers after this time are not accepted.
    pub timeout_at: Millis,
    pub answered_at: Option<Millis>,
    /// The attempt that its run belongs to, if any.
    #[serde(default)]
    pub attempt_id: Option<AttemptId>,
    #[serde(default)]
    pub task_id: Option<TaskId>,
}

/// The state of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ApprovalStatus {
    Pending,
    Approved,
    Denied { reason: Option<String> },
    TimedOut,
}

#[derive(JsonSchema)]
#[schemars(rename = "ApprovalStatus")]
#[expect(dead_code, reason = "only described")]
struct StatusShape {
    status: ApprovalWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = true))]
    reason: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "only described")]
enum ApprovalWord {
    Pending,
    Approved,
    Denied,
    TimedOut,
}

crate::shape::shaped! { ApprovalStatus => StatusShape }

impl ApprovalStatus {
    pub fn as_str(&self) -> &'static str {
        match self {
            ApprovalStatus::Pending => "pending",
            ApprovalStatus::Approved => "approved",
            ApprovalStatus::Denied { .. } => "denied",
            ApprovalStatus::TimedOut => "timed_out",
        }
    }
}

/// A question from outside the engine.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CreateApproval")]
pub struct AskApproval {
    #[schemars(regex(pattern = crate::shape::NOT_BLANK))]
    pub tool_name: String,
    pub tool_input: Value,
    /// The agent's conversation, or the id of its run.
    pub session_id: String,
}

/// A person's answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Approve,
    Deny { reason: Option<String> },
}

impl From<Answer> for ApprovalStatus {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Approve => ApprovalStatus::Approved,
            Answer::Deny { reason } => ApprovalStatus::Denied { reason },
        }
    }
}
