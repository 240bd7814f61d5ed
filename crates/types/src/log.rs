//! The readable form of what an agent did: a list of entries, built by patches.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One change of the entry list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryPatch {
    pub op: PatchOp,
    pub index: usize,
    /// The fold always sets it.
    pub entry: Option<NormalizedEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PatchOp {
    Add,
    Replace,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NormalizedEntry {
    pub timestamp: Option<String>,
    pub entry_type: EntryType,
    pub content: String,
    pub metadata: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EntryType {
    UserMessage,
    UserFeedback { denied_tool: String },
    AssistantMessage,
    ToolUse { tool_name: String, action_type: ActionType, status: ToolStatus },
    SystemMessage,
    ErrorMessage { error_type: ErrorType },
    Thinking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ErrorType {
    SetupRequired,
    Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ActionType {
    FileRead { path: String },
    FileEdit { path: String, changes: Vec<FileChange> },
    CommandRun { command: String, result: Option<CommandResult> },
    Search { query: String },
    WebFetch { url: String },
    Tool { tool_name: String, arguments: Option<Value>, result: Option<ToolResult> },
    TaskCreate { description: String },
    PlanPresentation { plan: String },
    TodoManagement { todos: Vec<TodoItem>, operation: String },
    Other { description: String },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum FileChange {
    Write { content: String },
    Delete,
    Rename { new_path: String },
    Edit { unified_diff: String, has_line_numbers: bool },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandResult {
    pub exit_status: Option<ExitStatus>,
    pub output: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ExitStatus {
    ExitCode { code: i32 },
    Success { success: bool },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub r#type: ToolResultKind,
    pub value: Value,
}

/// Nested once more on the wire: `{"type": {"type": "markdown"}, …}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolResultKind {
    Markdown,
    Json,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ToolStatus {
    Created,
    Success,
    Failed,
    Denied { reason: Option<String> },
    PendingApproval { approval_id: String, requested_at: String, timeout_at: String },
    TimedOut,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    pub content: String,
    pub status: String,
    pub priority: Option<String>,
}
