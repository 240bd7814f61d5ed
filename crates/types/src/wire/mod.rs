//! What goes over HTTP, WebSockets, server-sent events and MCP where it is not one of our own objects.
//!
//! Most objects of the wire are the objects of this crate. Here are those that are assembled from several of them, the
//! bodies and frames that nothing inside uses, and the words that the wire has for ours: our *run* is its *execution
//! process*, our *errand* its *execution run*. Invariant: everything here is written and read by the same type, and its
//! schema comes from that type; the route table names it, so the description of the API cannot differ from it.

mod approval;
mod attempt;
mod bead;
mod draft;
mod frame;
mod machine;
mod meta;
mod process;
mod publish;
mod started;
mod worker;
mod worktree;

pub use approval::{NativeAnswer, PendingApproval, PlainAnswer, RespondToApproval, ShownApproval};
pub use attempt::{
    AttemptDiff, ChangedFile, DigestStatus, ProcessDigest, ReplaceProcessResult, TaskAttemptDetail,
    TextEntry, newest_agent_run,
};
pub use bead::{Bead, BeadComment, BeadDependency, BeadLink, BeadStanding, BeadUnlink};
pub use draft::{AttemptDrafts, DraftResponse};
pub use frame::{
    BranchChange, CardChange, ConflictsChange, DiffDocument, DiffEntry, DraftsDocument, EndFrame, EventFrame,
    FramePage, Hello, NormalizedLogEntry, OutputFrame, PatchFrame, PatchOp, PatchWord, ProcessesDocument,
    RawLogEntry, RawLogWord, StderrFrame, StdoutFrame, StreamFrame, TasksDocument, WireEvent,
};
pub use machine::{
    AgentProfiles, ContainerInfo, DirectoryEntry, DirectoryListing, EditorUrl, Environment, KnownAgent,
    MatchType, McpAnswer, McpConfig, ProfilesFile, SearchResult, SystemInfo, Upload,
};
pub use meta::{Anything, AuthRequired, Envelope, Failure, LoginLink, Ready, RouteList};
pub use process::{ExecutionProcess, StartedExecutionRun};
pub use publish::{
    AttachedPullRequest, DeviceStart, LoginAnswer, LoginCheck, Notifications, OmniInstances, OmniProbe,
    OmniProbed, OmniStatus, Pulled, Release,
};
pub use started::{
    CreateAndStartTaskHere, CreateTaskHere, Demo, StartAttempt, StartedTask, TaskOfIssue,
    TaskWithLatestAttempt,
};
pub use worker::{
    CallStyle, LauncherFile, ListedWorker, PauseWorker, ReassignWorker, SendToWorker, StopWorker,
    WorkerDefinition, WorkerDefinitions, WorkerHealth, WorkerPane, WorkersHealth,
};
pub use worktree::{
    AdoptedWorktree, GarbageReport, GarbageRequest, KeptWorktree, ReleasedWorktree, RestoreSource,
    RestoredWorktree, Standing, TrashLine, WorktreeLine, WorktreeReport,
};
