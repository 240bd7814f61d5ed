//! The readable form of what an agent did: a list of entries, built by patches.

use schemars::JsonSchema;
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

/// How the system message begins with which an agent introduces itself; the model or the agent follows.
pub const INTRODUCTION: &str = "System initialized with ";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NormalizedEntry {
    pub timestamp: Option<String>,
    pub entry_type: EntryType,
    pub content: String,
    pub metadata: Option<Value>,
}

impl NormalizedEntry {
    /// An entry of a kind that this version does not know is still a text.
    pub fn read(content: &Value) -> Self {
        #[derive(Default, Deserialize)]
        struct Text {
            content: String,
        }
        Self::deserialize(content).unwrap_or_else(|_| Self {
            timestamp: None,
            entry_type: EntryType::SystemMessage,
            content: Text::deserialize(content).unwrap_or_default().content,
            metadata: None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EntryType {
    #[schemars(title = "PlainEntry")]
    UserMessage,
    #[schemars(title = "UserFeedbackEntry")]
    UserFeedback { denied_tool: String },
    #[schemars(title = "PlainEntry")]
    AssistantMessage,
    #[schemars(title = "ToolUseEntry")]
    ToolUse { tool_name: String, action_type: ActionType, status: ToolStatus },
    #[schemars(title = "PlainEntry")]
    SystemMessage,
    #[schemars(title = "ErrorEntry")]
    ErrorMessage { error_type: ErrorType },
    #[schemars(title = "PlainEntry")]
    Thinking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ErrorType {
    SetupRequired,
    Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ActionType {
    #[schemars(title = "FileReadAction")]
    FileRead { path: String },
    #[schemars(title = "FileEditAction")]
    FileEdit { path: String, changes: Vec<FileChange> },
    #[schemars(title = "CommandRunAction")]
    CommandRun { command: String, result: Option<CommandResult> },
    #[schemars(title = "SearchAction")]
    Search { query: String },
    #[schemars(title = "WebFetchAction")]
    WebFetch { url: String },
    #[schemars(title = "ToolAction")]
    Tool { tool_name: String, arguments: Option<Value>, result: Option<ToolResult> },
    #[schemars(title = "TaskCreateAction")]
    TaskCreate { description: String },
    #[schemars(title = "PlanPresentationAction")]
    PlanPresentation { plan: String },
    #[schemars(title = "TodoManagementAction")]
    TodoManagement { todos: Vec<TodoItem>, operation: String },
    #[schemars(title = "OtherAction")]
    Other { description: String },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum FileChange {
    #[schemars(title = "WriteChange")]
    Write { content: String },
    #[schemars(title = "DeleteChange")]
    Delete,
    #[schemars(title = "RenameChange")]
    Rename { new_path: String },
    #[schemars(title = "EditChange")]
    Edit { unified_diff: String, has_line_numbers: bool },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandResult {
    pub exit_status: Option<ExitStatus>,
    pub output: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ExitStatus {
    #[schemars(title = "ExitCode")]
    ExitCode { code: i32 },
    #[schemars(title = "ExitSuccess")]
    Success { success: bool },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ToolStatus {
    #[schemars(title = "PlainToolStatus")]
    Created,
    #[schemars(title = "PlainToolStatus")]
    Success,
    #[schemars(title = "PlainToolStatus")]
    Failed,
    #[schemars(title = "DeniedStatus")]
    Denied { reason: Option<String> },
    #[schemars(title = "PendingApprovalStatus")]
    PendingApproval { approval_id: String, requested_at: String, timeout_at: String },
    #[schemars(title = "PlainToolStatus")]
    TimedOut,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TodoItem {
    pub content: String,
    pub status: String,
    pub priority: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename = "ErrorType")]
#[expect(dead_code, reason = "only described")]
struct ErrorShape {
    r#type: ErrorWord,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "only described")]
enum ErrorWord {
    SetupRequired,
    Other,
}

#[derive(JsonSchema)]
#[schemars(rename = "ToolResultKind")]
#[expect(dead_code, reason = "only described")]
struct ToolResultShape {
    r#type: ToolResultWord,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "only described")]
enum ToolResultWord {
    Markdown,
    Json,
}

crate::shape::shaped! { ErrorType => ErrorShape, ToolResultKind => ToolResultShape }
