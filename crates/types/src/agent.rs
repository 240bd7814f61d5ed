//! Agents of a project: long-lived chats that stand behind a hidden task.

use serde::{Deserialize, Serialize};

use crate::{AgentId, Attempt, Millis, ProjectId, Task, TaskId};

/// The type of the chats that are started in the user's own checkout, of which a project may have many.
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
