//! Beads as callers ask for them, and how they are given to agents.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AttemptId, ProfileId, ProjectId, RoutingDecision, ScoreComponents, TaskId, WorkerId};

/// Selects a workspace of beads. Without either field: the only workspace that has any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BeadsOf {
    pub project_id: Option<ProjectId>,
    /// The folder that holds `.beads`.
    pub workspace: Option<PathBuf>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "BeadsOf"))]
pub struct CreateBead {
    #[serde(flatten)]
    pub of: BeadsOf,
    pub title: String,
    pub description: Option<String>,
    pub issue_type: Option<String>,
    pub priority: Option<i64>,
    #[serde(default)]
    pub labels: Vec<String>,
    pub parent: Option<String>,
    /// Beads that must be closed before this one.
    #[serde(default)]
    pub depends_on: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "BeadsOf"))]
pub struct ClaimBead {
    #[serde(flatten)]
    pub of: BeadsOf,
    /// The assignee; a person where nobody is named.
    pub worker: Option<WorkerId>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "BeadsOf"))]
pub struct ReleaseBead {
    #[serde(flatten)]
    pub of: BeadsOf,
    pub comment: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "BeadsOf"))]
pub struct CloseBead {
    #[serde(flatten)]
    pub of: BeadsOf,
    pub reason: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "BeadsOf"))]
pub struct LinkBead {
    #[serde(flatten)]
    pub of: BeadsOf,
    pub depends_on: String,
    /// `blocks` by default.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "BeadsOf"))]
pub struct CommentBead {
    #[serde(flatten)]
    pub of: BeadsOf,
    pub text: String,
}

/// Absent fields stay as they are.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "BeadsOf"))]
pub struct UpdateBead {
    #[serde(flatten)]
    pub of: BeadsOf,
    pub priority: Option<i64>,
    pub status: Option<String>,
}

/// What works on a bead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DispatchMode {
    /// An unattended attempt with its own worktree.
    #[default]
    Attempt,
    /// A long-lived worker in a terminal.
    Worker,
}

/// What happens to the branch when the agent succeeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DispatchLanding {
    /// It waits for a person.
    #[default]
    Review,
    Merge,
    /// A pull request is opened.
    Pr,
}

/// When a bead counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CloseOn {
    /// The agent succeeded.
    #[default]
    Success,
    /// Its work is on the target branch.
    Merge,
}

/// How the beads of a project are given to agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DispatchRule {
    /// Whether that happens automatically.
    pub enabled: bool,
    pub mode: DispatchMode,
    pub landing: DispatchLanding,
    pub close_on: CloseOn,
    /// The most beads of the project that are worked on at once; without it only the limits of the fleet apply.
    pub max_workers: Option<u32>,
    /// The agent for every tier, instead of those in the settings.
    pub executor_profile_id: Option<ProfileId>,
    /// In the mode `worker`: the only definition of workers to use, instead of all that fit a tier.
    pub worker: Option<String>,
    /// Whether tasks in *todo* are given out too.
    pub tasks: bool,
    /// Whether beads and tasks of the board mirror each other, also while nothing is given out.
    pub mirror: bool,
}

/// The rule of a project, and whether it keeps beads that could be given out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DispatchRule")]
pub struct ProjectDispatch {
    #[serde(flatten)]
    pub rule: DispatchRule,
    pub has_beads: bool,
}

/// Absent fields stay as they are; null removes a limit or an agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DispatchChange {
    pub enabled: Option<bool>,
    pub mode: Option<DispatchMode>,
    pub landing: Option<DispatchLanding>,
    pub close_on: Option<CloseOn>,
    #[serde(deserialize_with = "crate::request::present", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_workers: Option<Option<u32>>,
    #[serde(deserialize_with = "crate::request::present", skip_serializing_if = "Option::is_none")]
    pub executor_profile_id: Option<Option<ProfileId>>,
    #[serde(deserialize_with = "crate::request::present", skip_serializing_if = "Option::is_none")]
    pub worker: Option<Option<String>>,
    pub tasks: Option<bool>,
    pub mirror: Option<bool>,
}

impl DispatchChange {
    pub fn apply(self, rule: &mut DispatchRule) {
        rule.enabled = self.enabled.unwrap_or(rule.enabled);
        rule.mode = self.mode.unwrap_or(rule.mode);
        rule.landing = self.landing.unwrap_or(rule.landing);
        rule.close_on = self.close_on.unwrap_or(rule.close_on);
        if let Some(most) = self.max_workers {
            rule.max_workers = most;
        }
        if let Some(profile) = self.executor_profile_id {
            rule.executor_profile_id = profile;
        }
        rule.tasks = self.tasks.unwrap_or(rule.tasks);
        if let Some(worker) = self.worker {
            rule.worker = worker;
        }
        rule.mirror = self.mirror.unwrap_or(rule.mirror);
    }
}

/// One round of giving out beads.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "DispatchChange"))]
pub struct DispatchRequest {
    pub project_id: ProjectId,
    /// Only report what would be done.
    #[serde(default)]
    pub dry_run: bool,
    /// Overrides of the project's rule for this round.
    #[serde(flatten)]
    pub change: DispatchChange,
}

/// The result of a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchReport {
    pub project_id: ProjectId,
    pub workspace: PathBuf,
    pub dry_run: bool,
    /// In the order of value, highest first.
    pub started: Vec<DispatchedBead>,
    pub waiting: Vec<WaitingBead>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchedBead {
    pub bead: String,
    pub title: String,
    pub score: ScoreComponents,
    pub complexity: u8,
    pub decision: RoutingDecision,
    /// The worker that is started for it, in the mode `worker`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerId>,
    /// Absent in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt_id: Option<AttemptId>,
}

/// A bead that is ready and was not given out, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingBead {
    pub bead: String,
    pub title: String,
    pub reason: String,
}
