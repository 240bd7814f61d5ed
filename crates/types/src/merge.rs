//! A record that an attempt's work landed, or is on its way as a pull request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AttemptId, MergeId, Millis};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Merge {
    #[schemars(title = "DirectMerge")]
    Direct {
        id: MergeId,
        task_attempt_id: AttemptId,
        merge_commit: String,
        target_branch_name: String,
        created_at: Millis,
    },
    #[schemars(title = "PrMerge")]
    Pr {
        id: MergeId,
        task_attempt_id: AttemptId,
        created_at: Millis,
        target_branch_name: String,
        pr_info: PrInfo,
    },
}

impl Merge {
    /// The commit on the target branch, once there is one.
    pub fn commit(&self) -> Option<&str> {
        match self {
            Merge::Direct { merge_commit, .. } => Some(merge_commit),
            Merge::Pr { pr_info, .. } => pr_info.merge_commit_sha.as_deref(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrInfo {
    pub number: i64,
    pub url: String,
    pub status: PrStatus,
    pub merged_at: Option<Millis>,
    pub merge_commit_sha: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PrStatus {
    Open,
    Merged,
    Closed,
    Unknown,
}
