//! Long-lived workers: identity, state, their work and the reasons for it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::request::word;
use crate::wire::CallStyle;
use crate::{
    AlertId, AttemptId, CloseOn, DispatchLanding, MicroUsd, Millis, RoutingId, SECRET_MASK, WorkerStatus,
};

/// Names a worker and its status file, so it is a plain word: letters, digits, `-`, `_` and `.`, not first `.` or `-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkerId(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a worker id: letters, digits, `-`, `_` and `.` are allowed, not first `.` or `-`, at most 128"
)]
pub struct InvalidWorkerId(pub String);

crate::shape::inline_schema! {
    WorkerId => {"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"},
}

impl WorkerId {
    pub fn new(id: impl Into<String>) -> Result<WorkerId, InvalidWorkerId> {
        let id = id.into();
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match !id.is_empty() && id.len() <= 128 && !id.starts_with(['.', '-']) && id.chars().all(allowed) {
            true => Ok(WorkerId(id)),
            false => Err(InvalidWorkerId(id)),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for WorkerId {
    type Err = InvalidWorkerId;

    fn from_str(id: &str) -> Result<Self, Self::Err> {
        WorkerId::new(id)
    }
}

impl TryFrom<String> for WorkerId {
    type Error = InvalidWorkerId;

    fn try_from(id: String) -> Result<Self, Self::Error> {
        WorkerId::new(id)
    }
}

impl From<WorkerId> for String {
    fn from(id: WorkerId) -> Self {
        id.0
    }
}

/// What a worker costs and is good for, the cheapest first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum WorkerTier {
    Free,
    Budget,
    #[default]
    Standard,
    Premium,
}

impl WorkerTier {
    pub const ALL: [WorkerTier; 4] =
        [WorkerTier::Free, WorkerTier::Budget, WorkerTier::Standard, WorkerTier::Premium];

    pub fn as_str(self) -> &'static str {
        match self {
            WorkerTier::Premium => "premium",
            WorkerTier::Standard => "standard",
            WorkerTier::Budget => "budget",
            WorkerTier::Free => "free",
        }
    }

    /// Reads the word in any case.
    pub fn parse(word: &str) -> Option<WorkerTier> {
        WorkerTier::ALL.into_iter().find(|tier| tier.as_str().eq_ignore_ascii_case(word.trim()))
    }
}

impl fmt::Display for WorkerTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The intended state of a worker. Its actual state is its [`Health`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkerPhase {
    /// Its launcher runs.
    Starting,
    Running,
    /// It finishes its current work and takes no new work.
    Paused,
    /// It waits until its provider serves it again.
    Parked,
    /// It died and is restarted after a pause.
    Recovering,
    /// Somebody stopped it.
    Stopped,
    /// It ended by itself, with its work done.
    Finished,
    /// It died and was not restarted.
    Failed,
}

impl WorkerPhase {
    /// Whether it should have a session.
    pub fn is_live(self) -> bool {
        matches!(self, WorkerPhase::Starting | WorkerPhase::Running | WorkerPhase::Paused)
    }

    /// Whether it has a session or is about to get one.
    pub fn is_kept(self) -> bool {
        self.is_live() || matches!(self, WorkerPhase::Parked | WorkerPhase::Recovering)
    }

    /// Whether it ended as intended: its health no longer matters.
    pub fn is_over(self) -> bool {
        matches!(self, WorkerPhase::Stopped | WorkerPhase::Finished)
    }
}

/// A process that cannot be confused with another one of the same number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessMark {
    pub pid: u32,
    /// Clock ticks after boot.
    pub start_time: u64,
    pub boot_id: String,
}

/// A bead that a worker holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssignedBead {
    pub workspace: PathBuf,
    pub id: String,
    pub title: String,
    /// The name by which the tracker knows the worker.
    pub actor: String,
    /// The attempt whose worktree it works in, where a worktree was made for the bead.
    #[serde(default)]
    pub attempt_id: Option<AttemptId>,
}

/// What a launcher reported when it had started a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LauncherAnswer {
    pub model: Option<String>,
    pub message: Option<String>,
    pub bead_id: Option<String>,
    pub bead_title: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Worker {
    pub id: WorkerId,
    pub session: String,
    pub model: String,
    pub tier: WorkerTier,
    pub workspace: PathBuf,
    pub phase: WorkerPhase,
    /// All that is needed to start it again.
    pub config: Value,
    pub process: Option<ProcessMark>,
    /// The first process of its session, whose number identifies everything that belongs to it.
    #[serde(default)]
    pub pane: Option<ProcessMark>,
    pub bead: Option<AssignedBead>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<LauncherAnswer>,
    /// The socket of its tmux server, unless that is Forge's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tmux: Option<PathBuf>,
    /// Its status file has paused it, not a person: then its status file can also resume it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused_by_file: bool,
    pub health: Health,
    /// The content of its status file, unchanged.
    pub status: Option<Value>,
    /// When it was started again, oldest first.
    pub restarts: Vec<Millis>,
    /// Until when it waits: for its provider, or before it is started again.
    pub parked_until: Option<Millis>,
    /// When its current or last session was made.
    #[serde(default)]
    pub started_at: Option<Millis>,
    /// Why it is in its phase, where that needs an explanation.
    pub note: Option<String>,
    pub created_at: Millis,
    pub updated_at: Millis,
}

impl Worker {
    /// The worker as callers see it: variables that its agent gets may be secrets, so only their names are included.
    pub fn shown(&self) -> Worker {
        let mut shown = self.clone();
        if let Some(env) = shown.config.get_mut("env").and_then(Value::as_object_mut) {
            env.values_mut().for_each(|value| *value = SECRET_MASK.into());
        }
        shown
    }

    /// Its health; none for a worker that ended as intended. A worker that failed is never reported as healthy.
    pub fn fares(&self) -> Option<HealthLevel> {
        match self.phase {
            phase if phase.is_over() => None,
            WorkerPhase::Failed => Some(self.health.level.max(HealthLevel::Critical)),
            _ => Some(self.health.level),
        }
    }

    /// Its state in one of the seven words that workers use for themselves: what Forge knows, else what it reports.
    pub fn indication(&self) -> WorkerStatus {
        match self.phase {
            WorkerPhase::Starting | WorkerPhase::Recovering => WorkerStatus::Starting,
            WorkerPhase::Paused | WorkerPhase::Parked => WorkerStatus::Paused,
            WorkerPhase::Stopped | WorkerPhase::Finished => WorkerStatus::Stopped,
            WorkerPhase::Failed => WorkerStatus::Failed,
            WorkerPhase::Running if self.health.level >= HealthLevel::Critical => WorkerStatus::Failed,
            WorkerPhase::Running if self.status.is_none() => WorkerStatus::Active,
            WorkerPhase::Running => match self.says().unwrap_or_default() {
                // Older writers write none when they have no task.
                "" => WorkerStatus::Idle,
                word => WorkerStatus::parse(word).unwrap_or(WorkerStatus::Error),
            },
        }
    }

    /// Its state in its own word.
    pub fn says(&self) -> Option<&str> {
        self.reported("status")
    }

    /// When it last wrote its status file.
    pub fn last_sign(&self) -> Option<Millis> {
        ["last_update", "last_activity"].iter().filter_map(|key| self.reported(key)?.parse().ok()).max()
    }

    /// The reason for its phase, else what it reports.
    pub fn last_word(&self) -> &str {
        let note = self.note.as_deref();
        note.or_else(|| self.reported("message")).or_else(|| self.says()).unwrap_or_default()
    }

    /// When its current or last session was made.
    pub fn since(&self) -> Millis {
        self.started_at.unwrap_or(self.created_at)
    }

    /// A text of its status file.
    fn reported(&self, key: &str) -> Option<&str> {
        self.status.as_ref()?.get(key)?.as_str()
    }

    /// What it works on, in one line: what it reports, else the bead that it was given or that its launcher named.
    pub fn task(&self) -> String {
        let titled = |id: &str, title: &str| match title {
            "" => id.to_owned(),
            title => format!("{id}: {title}"),
        };
        match self.status.as_ref().map(|status| &status["current_task"]) {
            Some(Value::String(text)) if !text.trim().is_empty() => return text.clone(),
            Some(Value::Object(task)) => {
                let word = |keys: [&str; 3]| {
                    keys.iter().find_map(|key| task.get(*key)?.as_str()).unwrap_or_default().to_owned()
                };
                let line = [word(["bead_id", "id", "task_id"]), word(["bead_title", "title", "description"])];
                return line.join(" ").trim().to_owned();
            }
            _ => {}
        }
        let answer = self.answer.as_ref();
        match (&self.bead, answer.and_then(|answer| answer.bead_id.as_deref())) {
            (Some(bead), _) => titled(&bead.id, &bead.title),
            (None, Some(id)) => {
                titled(id, answer.and_then(|answer| answer.bead_title.as_deref()).unwrap_or_default())
            }
            (None, None) => String::new(),
        }
    }
}

/// A worker to be started: by a definition, by the other fields, or both; then the fields take precedence.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SpawnWorker {
    /// A worker of `workers.yaml`, or a type of `workers/<type>.yaml`.
    pub definition: Option<String>,
    pub id: Option<WorkerId>,
    /// The name of a launcher, or a path.
    pub launcher: Option<String>,
    pub model: Option<String>,
    #[serde(deserialize_with = "word")]
    pub tier: Option<WorkerTier>,
    pub workspace: Option<PathBuf>,
    /// Where it works unless `workspace` or the definition says so.
    pub default_workspace: Option<PathBuf>,
    pub bead: Option<String>,
    /// Further variables for the launcher and the agent.
    pub env: BTreeMap<String, String>,
    pub timeout_secs: Option<u64>,
    /// How the launcher takes its arguments.
    #[serde(deserialize_with = "word")]
    pub style: Option<CallStyle>,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum HealthLevel {
    #[default]
    Healthy,
    Degraded,
    Critical,
    Failed,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    pub level: HealthLevel,
    pub findings: Vec<Finding>,
    /// Resident memory of everything below its pane.
    pub memory_mb: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "HealthFinding")]
pub enum Finding {
    ProcessGone,
    AgentGone,
    SessionGone,
    Stale,
    TaskStuck,
    MemoryHigh,
    WaitsForPermission,
    RateLimited,
    ContextFull,
    /// Its status file says `failed`, although it lives.
    SaysFailed,
    /// Its status file says `stopped`, although it lives.
    SaysStopped,
    /// Its status file says `error`, or cannot be understood.
    SaysError,
    RecoveryExhausted,
}

impl Finding {
    /// Whether it comes from the worker's status file.
    pub fn is_complaint(self) -> bool {
        matches!(self, Finding::SaysFailed | Finding::SaysStopped | Finding::SaysError)
    }

    /// Whether it proves that nobody works there any more.
    pub fn is_death(self) -> bool {
        matches!(self, Finding::ProcessGone | Finding::AgentGone | Finding::SessionGone)
    }
}

/// The parts of a score, in points; together at most 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreComponents {
    /// 0 to 40.
    pub priority: u8,
    /// 0 to 30.
    #[serde(rename = "type")]
    pub kind: u8,
    /// 0 to 15.
    pub complexity: u8,
    /// 0 to 15: a suitable worker is free now, or how many wait before it.
    pub availability: u8,
}

impl ScoreComponents {
    pub fn total(&self) -> u8 {
        self.priority + self.kind + self.complexity + self.availability
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoutingDecision {
    /// `None` when a new worker is to be started.
    pub chosen_worker: Option<WorkerId>,
    pub model: String,
    pub tier: WorkerTier,
    pub reason: RoutingReason,
    /// What such work costs on average, where there is a history.
    pub estimated_cost: Option<MicroUsd>,
}

/// The reason of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoutingReason {
    /// Urgent or hard: the model that the tier asks for.
    PriorityMatch,
    /// Not urgent: the cheap tier.
    CostOptimization,
    /// A worker of the tier is free now.
    Availability,
    /// A worker that has done such work before is free.
    Specialized,
    /// No model of the tier is available.
    Fallback,
}

/// A decision, its expected result and its actual result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Routing {
    pub id: RoutingId,
    /// Where the work comes from: the folder of a bead's workspace.
    pub workspace: PathBuf,
    /// The bead.
    pub work: String,
    pub title: String,
    pub score: ScoreComponents,
    /// How hard it looked, 0 to 100.
    pub complexity: u8,
    pub decision: RoutingDecision,
    /// The tier that it asks for, which may differ from the tier that it got.
    #[serde(default)]
    pub wanted: Option<WorkerTier>,
    /// Models that were unavailable.
    #[serde(default)]
    pub passed_over: Vec<PassedOver>,
    /// The worker that got it, also when it was started for it.
    pub worker: Option<WorkerId>,
    /// The attempt whose worktree it is done in.
    #[serde(default)]
    pub attempt_id: Option<AttemptId>,
    /// The definition or the launcher that starts a worker for it.
    #[serde(default)]
    pub by: Option<String>,
    #[serde(default)]
    pub landing: DispatchLanding,
    #[serde(default)]
    pub close_on: CloseOn,
    pub outcome: Option<Outcome>,
    pub actual_cost: Option<MicroUsd>,
    pub decided_at: Millis,
    pub ended_at: Option<Millis>,
}

/// A model that was unavailable, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PassedOver {
    pub model: String,
    pub tier: WorkerTier,
    pub why: String,
}

/// The result of work that was given to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RoutingOutcome")]
pub enum Outcome {
    Closed,
    /// It went back to the queue.
    Released,
    /// It failed too often and waits for a person.
    Parked,
}

/// Who works on a bead. Forge's own record, whatever the tracker says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lease {
    pub workspace: PathBuf,
    pub bead: String,
    pub worker: WorkerId,
    pub actor: String,
    pub taken_at: Millis,
}

/// Something that a person should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Alert {
    pub id: AlertId,
    pub kind: AlertKind,
    pub severity: Severity,
    /// What it is about: a worker's id, a workspace, a model; empty for the whole fleet.
    pub subject: String,
    pub message: String,
    /// How often it was noticed.
    pub count: u32,
    pub first_at: Millis,
    pub last_at: Millis,
    pub acknowledged_at: Option<Millis>,
    pub resolved_at: Option<Millis>,
}

impl Alert {
    /// A warning that is open and that nobody has seen. What is only reported and needs no action never becomes graver.
    pub fn can_escalate(&self) -> bool {
        self.severity == Severity::Warning && self.acknowledged_at.is_none() && self.resolved_at.is_none()
    }
}

impl Alert {
    /// Noticed for the first time, with the usual severity of its kind.
    pub fn new(kind: AlertKind, subject: impl Into<String>, message: String) -> Self {
        let now = Millis::now();
        Self {
            id: AlertId::random(),
            kind,
            severity: kind.severity(),
            subject: subject.into(),
            message,
            count: 1,
            first_at: now,
            last_at: now,
            acknowledged_at: None,
            resolved_at: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AlertSeverity")]
pub enum Severity {
    Info,
    Warning,
    Critical,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    WorkerCrashed,
    RecoveryExhausted,
    WorkerStale,
    TaskStuck,
    WaitsForPermission,
    ContextFull,
    MemoryHigh,
    StatusBad,
    Budget,
    Quota,
    QueueEmpty,
    BeadBlocked,
    BeadParked,
    StaleAssignee,
    DiskLow,
    AutoRestart,
    WorkerParked,
    WorkerRecovered,
}

impl AlertKind {
    /// Those that are about one worker and end with it.
    pub const OF_WORKERS: [AlertKind; 11] = [
        AlertKind::WorkerCrashed,
        AlertKind::RecoveryExhausted,
        AlertKind::WorkerStale,
        AlertKind::TaskStuck,
        AlertKind::WaitsForPermission,
        AlertKind::ContextFull,
        AlertKind::MemoryHigh,
        AlertKind::StatusBad,
        AlertKind::AutoRestart,
        AlertKind::WorkerParked,
        AlertKind::WorkerRecovered,
    ];

    pub fn severity(self) -> Severity {
        match self {
            AlertKind::WorkerCrashed | AlertKind::RecoveryExhausted => Severity::Critical,
            AlertKind::AutoRestart
            | AlertKind::WorkerParked
            | AlertKind::WorkerRecovered
            | AlertKind::QueueEmpty => Severity::Info,
            _ => Severity::Warning,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn worker() -> Worker {
        serde_json::from_value(json!({
            "id": "a", "session": "forge-worker-a", "model": "m", "tier": "standard", "workspace": "/w",
            "phase": "running", "config": {"launcher": "/l", "env": {"TOKEN": "s3cret"}}, "process": null,
            "bead": null, "health": {"level": "healthy", "findings": [], "memory_mb": null}, "status": null,
            "restarts": [], "parked_until": null, "note": null, "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
        }))
        .unwrap()
    }

    #[test]
    fn variables_of_a_worker_are_shown_without_their_values() {
        let mut worker = worker();
        assert_eq!(worker.shown().config, json!({"launcher": "/l", "env": {"TOKEN": SECRET_MASK}}));
        worker.config = Value::Null;
        assert_eq!(worker.shown(), worker);
    }

    #[test]
    fn a_worker_is_shown_as_forge_knows_it_and_then_as_it_says() {
        let shown = |phase, status: Value| {
            let status = Some(status).filter(|status| !status.is_null());
            Worker { phase, status, ..worker() }.indication()
        };
        use WorkerPhase::{Failed, Paused, Running, Stopped};
        assert_eq!(shown(Running, Value::Null), WorkerStatus::Active);
        assert_eq!(shown(Running, json!({"status": "idle"})), WorkerStatus::Idle);
        assert_eq!(shown(Running, json!({"status": "Busy"})), WorkerStatus::Error);
        assert_eq!(shown(Paused, json!({"status": "active"})), WorkerStatus::Paused);
        assert_eq!(shown(Stopped, json!({"status": "active"})), WorkerStatus::Stopped);
        assert_eq!(shown(Failed, json!({"status": "active"})), WorkerStatus::Failed);
        let health = Health { level: HealthLevel::Critical, ..Health::default() };
        assert_eq!(Worker { health, ..worker() }.indication(), WorkerStatus::Failed);
    }

    #[test]
    fn a_worker_that_failed_is_not_healthy_and_one_that_was_stopped_has_no_health() {
        let fares = |phase| Worker { phase, ..worker() }.fares();
        assert_eq!(fares(WorkerPhase::Running), Some(HealthLevel::Healthy));
        assert_eq!(fares(WorkerPhase::Failed), Some(HealthLevel::Critical));
        assert_eq!(fares(WorkerPhase::Stopped), None);
        assert_eq!(fares(WorkerPhase::Finished), None);
    }

    #[test]
    fn a_task_is_what_the_worker_says_else_its_bead_else_what_its_launcher_named() {
        let answer = LauncherAnswer { bead_id: Some("fg-1".into()), ..LauncherAnswer::default() };
        let mut worker = Worker { answer: Some(answer), ..worker() };
        assert_eq!(worker.task(), "fg-1");
        worker.bead =
            serde_json::from_value(json!({"workspace": "/w", "id": "fg-2", "title": "Two", "actor": "a"}))
                .unwrap();
        assert_eq!(worker.task(), "fg-2: Two");
        worker.status = Some(json!({"current_task": "fg-3: Three"}));
        assert_eq!(worker.task(), "fg-3: Three");
        worker.status = Some(json!({"current_task": {"bead_id": "fg-4", "bead_title": "Four"}}));
        assert_eq!(worker.task(), "fg-4 Four");
        worker.status = Some(json!({"current_task": null}));
        assert_eq!(worker.task(), "fg-2: Two");
    }
}
