//! Runs and errands, in the words of the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Action, AttemptId, Errand, ErrandId, Millis, Run, RunId, RunReason, RunStatus};

/// One process of an attempt: a script or a turn of its agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionProcess {
    pub id: RunId,
    pub task_attempt_id: Option<AttemptId>,
    pub execution_run_id: Option<ErrandId>,
    pub run_reason: RunReason,
    pub executor_action: Action,
    pub before_head_commit: Option<String>,
    pub after_head_commit: Option<String>,
    pub status: RunStatus,
    pub exit_code: Option<i32>,
    pub dropped: bool,
    pub started_at: Millis,
    pub completed_at: Option<Millis>,
    pub created_at: Millis,
    pub updated_at: Millis,
    /// The transcript, only of the newest one.
    pub output: Option<String>,
    /// Present for a run that waits, or waited, for its provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked_until: Option<Millis>,
    /// True when the agent reported success and nothing shows that it did anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
    /// Why its work is not committed yet; it stays in the worktree and the commit is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_error: Option<String>,
    /// True when somebody has to install the agent, log in or give it a key first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub setup_required: bool,
    /// Files in which the agent left conflicts open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_conflicts: Vec<String>,
}

/// A run without its transcript.
impl From<Run> for ExecutionProcess {
    fn from(run: Run) -> Self {
        Self {
            id: run.id,
            task_attempt_id: run.owner.attempt(),
            execution_run_id: run.owner.errand(),
            run_reason: run.reason,
            executor_action: run.action,
            before_head_commit: run.before_head,
            after_head_commit: run.after_head,
            status: run.status,
            exit_code: run.exit_code,
            dropped: run.dropped,
            started_at: run.started_at,
            completed_at: run.completed_at,
            created_at: run.created_at,
            updated_at: run.updated_at,
            output: None,
            parked_until: run.parked_until,
            unverified: run.unverified,
            commit_error: run.commit_error,
            setup_required: run.setup_required,
            open_conflicts: run.open_conflicts,
        }
    }
}

impl ExecutionProcess {
    /// A list of runs, oldest first; the last one carries the transcript.
    pub fn list(runs: Vec<Run>, last_output: Option<String>) -> Vec<Self> {
        let mut list: Vec<Self> = runs.into_iter().map(Self::from).collect();
        if let Some(last) = list.last_mut() {
            last.output = last_output;
        }
        list
    }
}

/// The response to starting an errand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartedExecutionRun {
    pub execution_run: Errand,
    pub execution_process: Option<ExecutionProcess>,
}
