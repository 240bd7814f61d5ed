//! An agent invocation without a task. The wire calls it an *execution run*.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ErrandId, Millis, ProjectId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ExecutionRun")]
pub struct Errand {
    pub id: ErrandId,
    pub project_id: ProjectId,
    pub branch: String,
    pub target_branch: String,
    pub executor: String,
    pub variant: Option<String>,
    pub container_ref: Option<String>,
    pub prompt: String,
    pub worktree_deleted: bool,
    pub created_at: Millis,
    pub updated_at: Millis,
}
