//! One try at a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AttemptId, Budget, MicroUsd, Millis, ProfileId, ProjectId, TaskId};

/// An attempt as every response shows it, with what follows from its runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TaskAttempt")]
pub struct Attempt {
    pub id: AttemptId,
    pub task_id: TaskId,
    /// Absolute worktree path, or the project's path when the attempt works in the main checkout.
    pub container_ref: Option<String>,
    pub branch: String,
    pub target_branch: String,
    /// `EXECUTOR` or `EXECUTOR:VARIANT`.
    pub executor: String,
    pub worktree_deleted: bool,
    pub setup_completed_at: Option<Millis>,
    #[serde(flatten)]
    pub tokens: Tokens,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub status: AttemptStatus,
    pub project_id: ProjectId,
    pub executor_profile_id: ProfileId,
    pub worktree_path: Option<String>,
    /// False for an attempt in the user's own checkout, which no cleanup may ever touch.
    #[serde(default = "yes")]
    pub use_worktree: bool,
    /// Present when a pull request is to be opened automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_pr: Option<AutoPr>,
    /// What its runs cost, as far as known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<MicroUsd>,
    /// The most that its runs may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<Budget>,
}

/// An attempt as lists show it, under the name of its task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "TaskAttempt"))]
pub struct ListedAttempt {
    #[serde(flatten)]
    pub attempt: Attempt,
    pub task_title: String,
}

/// The state of a pull request that opens automatically once the agent succeeded with changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum AutoPr {
    Waiting,
    Opened { url: String },
    Failed { message: String },
}

#[derive(JsonSchema)]
#[schemars(rename = "AutoPr")]
#[expect(dead_code, reason = "only described")]
struct AutoPrShape {
    state: AutoPrState,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only described")]
enum AutoPrState {
    Waiting,
    Opened,
    Failed,
}

crate::shape::shaped! { AutoPr => AutoPrShape }

fn yes() -> bool {
    true
}

/// What the agent reports to have used; `None` until it reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    pub cache_creation_tokens: Option<i64>,
    pub cache_read_tokens: Option<i64>,
}

/// State of the newest agent run of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttemptStatus {
    Pending,
    Running,
    Completed,
    Failed,
    Stopped,
}
