//! The state of an attempt's branch, and what can be done with it.
//!
//! Owns: the state of a branch against its target, commits as clients see them, and the conflicts between attempts.
//! Invariant: a conflict always names its files; an operation that stopped without conflicted files is not a conflict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Attempt, AttemptId, Merge, Millis, Task};

/// A git operation that has stopped in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConflictOp {
    Rebase,
    Merge,
    CherryPick,
    Revert,
}

impl ConflictOp {
    /// The name of the git command.
    pub fn command(self) -> &'static str {
        match self {
            ConflictOp::Rebase => "rebase",
            ConflictOp::Merge => "merge",
            ConflictOp::CherryPick => "cherry-pick",
            ConflictOp::Revert => "revert",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BranchStatus {
    pub commits_behind: Option<u32>,
    pub commits_ahead: Option<u32>,
    /// Tracked files only.
    pub has_uncommitted_changes: Option<bool>,
    pub head_oid: Option<String>,
    pub uncommitted_count: Option<usize>,
    pub untracked_count: Option<usize>,
    pub target_branch_name: String,
    /// Against the pushed branch, and only while a pull request is open.
    pub remote_commits_behind: Option<u32>,
    pub remote_commits_ahead: Option<u32>,
    /// Newest first.
    pub merges: Vec<Merge>,
    pub is_rebase_in_progress: bool,
    /// Only when there are conflicted files.
    pub conflict_op: Option<ConflictOp>,
    pub conflicted_files: Vec<String>,
    /// The conflicted files that the agent's last turn left open: it was asked, ended, and the operation is still
    /// stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_open: Vec<String>,
    /// There is no remote that the work could be pushed to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_remote: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitInfo {
    pub sha: String,
    pub subject: String,
    pub author: String,
    pub committed_at: Millis,
}

/// A commit compared with the HEAD of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitComparison {
    pub head_oid: String,
    pub target_oid: String,
    /// Commits of HEAD that the commit lacks.
    pub ahead_from_head: u32,
    pub behind_from_head: u32,
    pub is_linear: bool,
}

/// An attempt between the task it came from and the tasks it spawned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRelationships {
    pub parent_task: Option<Task>,
    pub current_attempt: Attempt,
    /// Newest first.
    pub children: Vec<Task>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChangeTargetBranch {
    pub new_target_branch: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetBranchChanged {
    pub new_target_branch: String,
    /// Commits ahead of and behind the new target.
    #[schemars(with = "Vec<u32>")]
    pub status: (u32, u32),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct MergeAttempt {
    /// The commit's message; absent or blank means the agent's own, else the task's.
    pub message: Option<String>,
}

/// Both names default to the attempt's target branch.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RebaseAttempt {
    pub old_base_branch: Option<String>,
    pub new_base_branch: Option<String>,
}

/// Which attempts of a project would conflict, judged by their commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictReport {
    pub target: Vec<TargetConflict>,
    pub pairs: Vec<PairConflict>,
    pub checked_at: Millis,
    /// Attempts that were checked, newest first.
    pub checked: usize,
    /// Attempts beyond the limit, which were not checked.
    pub skipped: usize,
}

/// An attempt that conflicts with its target branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetConflict {
    pub attempt_id: AttemptId,
    pub branch: String,
    pub target_branch: String,
    pub files: Vec<String>,
}

/// Two attempts; the second to land will conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairConflict {
    pub attempts: [AttemptId; 2],
    pub branches: [String; 2],
    pub files: Vec<String>,
}
