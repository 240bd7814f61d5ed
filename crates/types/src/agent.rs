//! Agents of a project, which are long-lived chats behind a hidden task, and the agent programs of a machine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{AgentId, Attempt, Executor, Millis, ProjectId, Task, TaskId};

/// The type of the chats that are started in the user's own checkout. A project may have many of them.
pub const CHAT_AGENT: &str = "genie_chat";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgeAgent {
    pub id: AgentId,
    pub project_id: ProjectId,
    /// Free text: `wish`, `forge`, `review`, `master`, …
    pub agent_type: String,
    pub task_id: TaskId,
    pub created_at: Millis,
    pub updated_at: Millis,
}

#[derive(Clone, Debug, Deserialize)]
pub struct CreateAgent {
    pub project_id: ProjectId,
    pub agent_type: String,
}

/// An agent chat that another attempt spawned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Neuron {
    pub r#type: Option<String>,
    pub task: Task,
    /// The newest one.
    pub attempt: Option<Attempt>,
}

/// What this machine has of one agent program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundAgent {
    pub executor: Executor,
    /// For people.
    pub name: String,
    pub program: String,
    pub protocol: String,
    /// How it was found: `path`, `login_path` (only in the PATH of the user's login shell), `npx` (which fetches it) or
    /// `built_in`.
    pub found: Option<&'static str>,
    /// For a program that `npx` fetches, the path of `npx`.
    pub path: Option<PathBuf>,
    pub version: Option<String>,
    /// Names of variables that hold a key, never their values.
    pub keys: Vec<String>,
    /// A login was seen, or none is needed.
    pub logged_in: bool,
    /// It is installed, reports its version, and has a key or a login.
    pub ready: bool,
    /// What keeps it from working: `not_installed` (also when `npx` could fetch it and nobody has logged in),
    /// `not_working` (it does not report its version), `not_logged_in`; or `ready`.
    pub state: &'static str,
    /// The command that installs it; empty for one that is built in.
    pub install: String,
    /// The command that asks a person to log in; absent when the program is not installed or needs no login.
    pub log_in: Option<String>,
}
