//! The words of the product, shared by every other crate.
//!
//! Owns: ids, times, the data model, requests and events, and how each of them is written as JSON.
//! Invariant: no I/O happens here, and what serialises here is what the wire contract calls the same thing.
//! The contract's *execution process* is our [`Run`] and its *execution run* is our [`Errand`].

mod action;
mod agent;
mod agent_option;
mod alert_settings;
mod approval;
mod attempt;
mod bead_status;
mod branch;
mod card;
mod day;
pub mod dialect;
mod diff;
mod dispatch;
mod draft;
mod errand;
mod error_code;
mod event;
mod executor;
mod fleet;
mod fleet_settings;
mod id;
mod image;
mod import;
mod issue;
mod log;
mod merge;
mod money;
mod omni;
mod project;
mod request;
mod run;
mod secret;
mod settings;
mod settings_change;
mod shape;
mod slug;
mod tag;
mod task;
mod time;
mod usage;
pub mod wire;
mod withheld;
mod worker_status;

pub use action::{Action, ActionKind, ScriptContext, ScriptLanguage};
pub use agent::{
    AGENT_TYPE_MAX_CHARS, AgentSource, AgentState, CHAT_AGENT, CreateAgent, ForgeAgent, FoundAgent, Neuron,
};
pub use agent_option::{AgentOption, OptionKind};
pub use alert_settings::{AlertSettings, AlertSettingsChange};
pub use approval::{Answer, Approval, ApprovalStatus, AskApproval};
pub use attempt::{Attempt, AttemptStatus, AutoPr, ListedAttempt, Tokens};
pub use bead_status::BeadStatus;
pub use branch::{
    BranchStatus, ChangeTargetBranch, CommitComparison, CommitInfo, ConflictOp, ConflictReport, MergeAttempt,
    PairConflict, RebaseAttempt, TargetBranchChanged, TargetConflict, TaskRelationships,
};
pub use card::{Changes, TaskCard};
pub use day::Day;
pub use diff::{BranchInfo, Diff, DiffChange, is_lock_file};
pub use dispatch::{
    BeadsOf, ClaimBead, CloseBead, CloseOn, CommentBead, CreateBead, DispatchChange, DispatchLanding,
    DispatchMode, DispatchReport, DispatchRequest, DispatchRule, DispatchedBead, LinkBead, ProjectDispatch,
    ReleaseBead, UpdateBead, WaitingBead,
};
pub use draft::{Draft, DraftKind, QueueDraft, SaveDraft};
pub use errand::Errand;
pub use error_code::{ErrorCode, UnknownErrorCode};
pub use event::{Change, Event, EventRecord};
pub use executor::{DEFAULT_VARIANT, Executor, ProfileId, UnknownExecutor, canonical_variant};
pub use fleet::{
    Alert, AlertKind, AssignedBead, Finding, Health, HealthLevel, InvalidWorkerId, LauncherAnswer, Lease,
    Outcome, PassedOver, ProcessMark, Routing, RoutingDecision, RoutingReason, ScoreComponents, Severity,
    SpawnWorker, Worker, WorkerId, WorkerPhase, WorkerTier,
};
pub use fleet_settings::{
    Fallback, FleetChange, FleetSettings, HealthMonitorConfig, PerTier, PriorityTiers, RecoveryPolicy,
    RecoveryRules,
};
pub use id::{
    AgentId, AlertId, ApprovalId, AttemptId, DraftId, ErrandId, ImageId, MergeId, NotificationId, ProjectId,
    RoutingId, RunId, TagId, TaskId, TemplateId,
};
pub use image::Image;
pub use import::{
    AttemptLink, Bundle, ImportMode, ImportReport, ImportRequest, ImportStanding, ImportedProject, Landing,
    LogSource, OldAgent, OldAttempt, OldImage, OldLine, OldMerge, OldProject, OldRun, OldTag, OldTask,
    OldTemplate, OldWorktrees, Skipped, Tally, Voice,
};
pub use issue::IssueLink;
pub use log::{
    ActionType, CommandResult, EntryPatch, EntryType, ErrorType, ExitStatus, FileChange, INTRODUCTION,
    NormalizedEntry, PatchOp, TodoItem, ToolResult, ToolResultKind, ToolStatus,
};
pub use merge::{Merge, PrInfo, PrStatus};
pub use money::{Budget, MicroUsd};
pub use omni::{
    ForgeSettings, ForgeSettingsChange, Notification, NotificationStatus, OmniChange, OmniConfig,
    OmniInstance, RecipientType,
};
pub use project::{ListedProject, Project, RegisteredProject};
pub use request::{
    AttachPullRequest, CreateAttempt, CreateAttemptOptions, CreateErrand, CreateProject, CreatePullRequest,
    CreateTask, FollowUp, FollowUpErrand, OpenEditor, ReplaceRun, SetBudget, SetUpAgent, StartTask,
    TaskFromIssue, UpdateProject, UpdateTask,
};
pub use run::{Run, RunOwner, RunPhase, RunReason, RunStatus};
pub use secret::SECRET_MASK;
pub use settings::{
    EditorSettings, GithubSettings, Language, NotificationSettings, Settings, Showcases, SoundFile, Theme,
};
pub use settings_change::{EditorType, SettingsChange};
pub use slug::{branch_name, name_for};
pub use tag::{CreateTag, CreateTemplate, Tag, Template, UpdateTag, UpdateTemplate};
pub use task::{LABEL_MAX_CHARS, LABELS_MAX, Task, TaskStatus, TaskSummary};
pub use time::Millis;
pub use usage::{
    CostSource, ModelPerformance, ModelUsage, MonthSpending, Usage, UsageGroup, UsageKey, UsageQuery,
    UsageReport, UsageSum, WorkerEfficiency,
};
pub use withheld::WITHHELD;
pub use worker_status::WorkerStatus;
