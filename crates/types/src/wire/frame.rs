//! What streams send.
//!
//! Invariant: a frame is one of these types. The server writes frames as text, because a patch is written once and sent
//! to many; tests read what it writes with these types.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{AttemptDrafts, ExecutionProcess, ShownApproval};
use crate::{
    Alert, Attempt, AttemptId, BranchStatus, ConflictReport, Diff, NormalizedEntry, Project, ProjectId,
    Routing, RunId, TaskCard, TaskId, TaskSummary, Worker, WorkerId,
};

/// One RFC 6902 operation; `remove` has no value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatchOp {
    pub op: PatchWord,
    pub path: String,
    #[serde(default, deserialize_with = "null_too", skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// A value that is null is a value.
fn null_too<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl PatchOp {
    /// The value, if it is one of these.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(self.value.as_ref()?).ok()
    }

    /// What an entry of a log or of a diff holds.
    pub fn content(&self) -> Option<&Value> {
        self.value.as_ref()?.get("content")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PatchWord {
    Add,
    Replace,
    Remove,
}

/// Changes of the document that a stream builds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatchFrame {
    #[serde(rename = "JsonPatch")]
    pub patch: Vec<PatchOp>,
    /// Present when the stream was requested with `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
}

/// The last frame of a stream that ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndFrame {
    pub finished: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StreamFrame {
    Patch(PatchFrame),
    End(EndFrame),
}

impl StreamFrame {
    /// Its number, in a stream that was requested with `after`.
    pub fn seq(&self) -> Option<i64> {
        match self {
            StreamFrame::Patch(frame) => frame.seq,
            StreamFrame::End(frame) => frame.seq,
        }
    }
}

/// Frames after a number, for clients that cannot use streams.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FramePage")]
pub struct FramePage<Frame = StreamFrame> {
    pub frames: Vec<Frame>,
    /// The last frame is the end of the stream.
    pub finished: bool,
    /// There is more right now than fits in this page.
    pub more: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StdoutFrame {
    #[serde(rename = "Stdout")]
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StderrFrame {
    #[serde(rename = "Stderr")]
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OutputFrame {
    Stdout(StdoutFrame),
    Stderr(StderrFrame),
    End(EndFrame),
}

/// A chunk of output; chunks are not lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawLogEntry {
    pub r#type: RawLogWord,
    pub content: String,
    /// In base64, in numbered streams, for a chunk that is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum RawLogWord {
    Stdout,
    Stderr,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "content", rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(rename = "NormalizedLogEntry", extend("x-struct" = true))]
pub enum NormalizedLogEntry<Entry = NormalizedEntry> {
    NormalizedEntry(Entry),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "content", rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(rename = "DiffEntry", extend("x-struct" = true))]
pub enum DiffEntry<File = Diff> {
    Diff(File),
}

/// What the patches of the task stream build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TasksDocument {
    pub tasks: BTreeMap<TaskId, TaskSummary>,
}

/// What the patches of the process stream build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessesDocument {
    pub execution_processes: BTreeMap<RunId, ExecutionProcess>,
}

/// What the patches of the draft stream build, by attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DraftsDocument {
    pub drafts: BTreeMap<AttemptId, AttemptDrafts>,
}

/// What the patches of the diff stream build, by path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiffDocument {
    pub entries: BTreeMap<String, DiffEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    pub version: String,
}

/// What a board shows of a task's attempts, as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardChange {
    pub project_id: ProjectId,
    pub task_id: TaskId,
    /// Null when there is no attempt.
    pub card: Option<TaskCard>,
    /// Newest first.
    pub attempts: Vec<Attempt>,
}

/// The state of a branch that somebody was shown differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BranchChange {
    pub attempt_id: AttemptId,
    pub project_id: ProjectId,
    pub status: BranchStatus,
}

/// The conflicts of a project that somebody was shown differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictsChange {
    pub project_id: ProjectId,
    pub report: ConflictReport,
}

/// Something that happened; `seq` is its number in the server's log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventFrame {
    pub seq: i64,
    #[serde(flatten)]
    pub event: WireEvent,
}

macro_rules! events {
    ($($(#[doc = $words:literal])? $frame:ident $word:literal $variant:ident($data:ty);)*) => {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "event", content = "data")]
        pub enum WireEvent {
            $($(#[doc = $words])? #[serde(rename = $word)] $variant($data),)*
        }

        impl JsonSchema for EventFrame {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "EventFrame".into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let frames = [$({
                    let words = concat!($($words)?).trim();
                    frame_schema::<$data>(generator, stringify!($frame), $word, words)
                },)*];
                json_schema!({
                    "description": "Something that happened; `seq` is its number in the server's log.",
                    "oneOf": frames,
                })
            }
        }
    };
}

events! {
    #[doc = " The first frame: the stream continues after `seq`, which differs from the requested number when the events since then are no longer in the log."]
    HelloFrame "hello" Hello(Hello);
    PatchEvent "json_patch" Patch(Vec<PatchOp>);
    ApprovalEvent "approval" Approval(ShownApproval);
    WorkerEvent "worker" Worker(Worker);
    WorkerRemovedEvent "worker_removed" WorkerRemoved(WorkerId);
    AlertEvent "alert" Alert(Alert);
    RoutingEvent "routing" Routing(Routing);
    ProjectEvent "project" Project(Project);
    ProjectRemovedEvent "project_removed" ProjectRemoved(ProjectId);
    #[doc = " An attempt as it was when it was created."]
    AttemptEvent "attempt" Attempt(Attempt);
    #[doc = " Only for `view=board`, like all that follow."]
    CardEvent "card" Card(CardChange);
    BranchEvent "branch" Branch(BranchChange);
    ConflictsEvent "conflicts" Conflicts(ConflictsChange);
    #[doc = " The project whose beads changed."]
    BeadsEvent "beads" Beads(ProjectId);
}

fn frame_schema<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    title: &str,
    word: &str,
    words: &str,
) -> Schema {
    json_schema!({
        "title": title,
        "description": words,
        "type": "object",
        "required": ["seq", "event", "data"],
        "properties": {
            "seq": {"type": "integer"},
            "event": {"type": "string", "const": word},
            "data": generator.subschema_for::<T>(),
        },
    })
}
