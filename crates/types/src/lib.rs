//! The words of the product, shared by every other crate.
//!
//! Owns: ids, times, the data model, requests and events, and how each of them is written as JSON.
//! Invariant: no I/O happens here, and what serialises here is what the wire contract calls the same thing.
//! The contract's *execution process* is our [`Run`] and its *execution run* is our [`Errand`].

mod action;
mod attempt;
mod diff;
mod draft;
mod errand;
mod event;
mod executor;
mod id;
mod issue;
mod log;
mod merge;
mod project;
mod request;
mod run;
mod settings;
mod slug;
mod task;
mod time;

pub use action::{Action, ActionKind, ScriptContext, ScriptLanguage};
pub use attempt::{Attempt, AttemptStatus, AutoPr, Tokens};
pub use diff::{BranchInfo, Diff, DiffChange};
pub use draft::{Draft, DraftKind};
pub use errand::Errand;
pub use event::{Change, Event, EventRecord};
pub use executor::{DEFAULT_VARIANT, Executor, ProfileId, UnknownExecutor, canonical_variant};
pub use id::{ApprovalId, AttemptId, DraftId, ErrandId, MergeId, ProjectId, RunId, TaskId};
pub use issue::IssueLink;
pub use log::{
    ActionType, CommandResult, EntryPatch, EntryType, ErrorType, ExitStatus, FileChange, NormalizedEntry,
    PatchOp, TodoItem, ToolResult, ToolResultKind, ToolStatus,
};
pub use merge::{Merge, PrInfo, PrStatus};
pub use project::Project;
pub use request::{
    AttachPullRequest, CreateAttempt, CreateAttemptOptions, CreateErrand, CreateProject, CreatePullRequest,
    CreateTask, FollowUp, FollowUpErrand, OpenEditor, ReplaceRun, StartTask, TaskFromIssue, UpdateProject,
    UpdateTask,
};
pub use run::{Run, RunOwner, RunPhase, RunReason, RunStatus};
pub use settings::{
    EditorSettings, GithubSettings, Language, NotificationSettings, Settings, Showcases, SoundFile, Theme,
};
pub use slug::{branch_name, name_for, slug};
pub use task::{Task, TaskStatus, TaskSummary};
pub use time::Millis;
