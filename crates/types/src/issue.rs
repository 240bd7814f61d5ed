//! The issue on a code host that a task came from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ProjectId, TaskId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IssueLink {
    pub task_id: TaskId,
    pub project_id: ProjectId,
    /// `host/owner/repo`.
    pub repository: String,
    pub number: i64,
    pub url: String,
}
