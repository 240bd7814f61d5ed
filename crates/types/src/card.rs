//! What a card of the board shows about a task's attempts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AttemptId, AttemptStatus, Executor, MicroUsd, Millis, PrInfo, TaskId};

/// A task's newest attempt at a glance, and what all of its attempts cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCard {
    pub task_id: TaskId,
    /// The newest attempt; the fields below are about it unless they say otherwise.
    pub attempt_id: AttemptId,
    /// How many attempts the task has.
    pub attempts: i64,
    pub status: AttemptStatus,
    pub executor: Executor,
    pub variant: Option<String>,
    pub branch: String,
    pub target_branch: String,
    /// When the script or agent that is running now was started.
    pub running_since: Option<Millis>,
    /// How long its agents worked, without the runs that a retry replaced.
    pub elapsed_ms: i64,
    /// What all attempts of the task cost, as far as known.
    pub cost_usd: Option<MicroUsd>,
    /// Null, like the other two, until counted.
    pub files_changed: Option<i64>,
    pub additions: Option<i64>,
    pub deletions: Option<i64>,
    /// An earlier attempt of the task has changes, or may have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier_changes: bool,
    /// Questions of its agents that nobody has answered.
    pub waiting_approvals: i64,
    /// When its provider serves it again, if it waits for its provider.
    pub parked_until: Option<Millis>,
    /// Its agent reported success, and nothing shows that it did anything.
    pub unverified: bool,
    /// Why work of the attempt is not committed yet.
    pub commit_error: Option<String>,
    /// Its agent failed because somebody has to install it, log in or give it a key first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub setup_required: bool,
    /// Files in which its agent left conflicts open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_conflicts: Vec<String>,
    pub worktree_deleted: bool,
    /// A prompt waits to be sent until nothing runs.
    pub queued_draft: bool,
    /// The newest pull request.
    pub pr: Option<PrInfo>,
    pub merged: bool,
}

/// The size of what an attempt changed against its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changes {
    pub files_changed: i64,
    pub additions: i64,
    pub deletions: i64,
}
