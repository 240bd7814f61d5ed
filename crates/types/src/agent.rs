//! Agents of a project, which are long-lived chats behind a hidden task, and the agent programs of a machine.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentId, Attempt, Executor, Millis, ProjectId, Task, TaskId};

/// The type of the chats that are started in the user's own checkout. A project may have many of them.
pub const CHAT_AGENT: &str = "genie_chat";
/// The longest type of an agent of a project.
pub const AGENT_TYPE_MAX_CHARS: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForgeAgent {
    pub id: AgentId,
    pub project_id: ProjectId,
    /// Free text: `wish`, `forge`, `review`, `master`, …
    pub agent_type: String,
    pub task_id: TaskId,
    pub created_at: Millis,
    pub updated_at: Millis,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreateAgent {
    pub project_id: ProjectId,
    #[schemars(length(max = AGENT_TYPE_MAX_CHARS), regex(pattern = crate::shape::NOT_BLANK))]
    pub agent_type: String,
}

/// An agent chat that another attempt spawned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Neuron {
    pub r#type: Option<String>,
    pub task: Task,
    /// The newest one.
    pub attempt: Option<Attempt>,
}

/// What this machine has of one agent program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundAgent {
    pub executor: Executor,
    /// For people.
    pub name: String,
    pub program: String,
    pub protocol: String,
    /// How it was found.
    pub found: Option<AgentSource>,
    /// For a program that `npx` fetches, the path of `npx`.
    pub path: Option<PathBuf>,
    pub version: Option<String>,
    /// Names of variables that hold a key, never their values.
    pub keys: Vec<String>,
    /// A login was seen, or none is needed.
    pub logged_in: bool,
    /// It is installed, reports its version, and has a key or a login.
    pub ready: bool,
    /// What keeps it from working, if anything.
    pub state: AgentState,
    /// The command that installs it; empty for one that is built in.
    pub install: String,
    /// The command that asks a person to log in; absent when the program is not installed or needs no login.
    pub log_in: Option<String>,
}

/// How an agent program was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentSource {
    Path,
    /// Only in the PATH of the user's login shell.
    LoginPath,
    /// `npx` fetches it.
    Npx,
    BuiltIn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    Ready,
    /// Also when `npx` could fetch it and nobody has logged in.
    NotInstalled,
    /// It does not report its version.
    NotWorking,
    NotLoggedIn,
}
