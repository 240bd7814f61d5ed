//! A git repository that Forge works in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Budget, Millis, ProjectId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Project {
    pub id: ProjectId,
    pub name: String,
    /// Real, absolute path of the main repository.
    pub git_repo_path: String,
    pub setup_script: Option<String>,
    pub dev_script: Option<String>,
    pub cleanup_script: Option<String>,
    /// Comma separated relative paths copied into new worktrees.
    pub copy_files: Option<String>,
    pub commit_prompt: Option<String>,
    pub default_base_branch: Option<String>,
    /// The most that all runs of the project together may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<Budget>,
    pub created_at: Millis,
    pub updated_at: Millis,
}

/// A project in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "Project"))]
pub struct ListedProject {
    #[serde(flatten)]
    pub project: Project,
    /// How many visible tasks it has in each status, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_counts: Option<BTreeMap<String, i64>>,
}

/// A project that was just added, and what Forge had to do for that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "Project"))]
pub struct RegisteredProject {
    #[serde(flatten)]
    pub project: Project,
    /// The branch on which an empty first commit was made, because the repository had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_commit: Option<String>,
}
