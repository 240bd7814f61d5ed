//! Agents of projects and the chats that attempts spawned.
//!
//! Invariant: an agent's row and its hidden task are created and deleted together; except for chats, a project has one
//! agent of each type.

use std::collections::HashMap;

use forge_types::{Attempt, AttemptId, ForgeAgent, Neuron, ProjectId, Task};

use crate::entity::{entity, select};
use crate::error::Result;
use crate::sql::{Conn, bind};
use crate::store::Store;
use crate::tx::Tx;

entity! {
    agents: ForgeAgent {
        key id,
        fixed project_id,
        fixed agent_type,
        fixed task_id,
        fixed created_at = "created_ms",
        set updated_at = "updated_ms",
    }
}

/// A chat without its attempt.
struct Chat {
    task: Task,
    agent_type: Option<String>,
}

entity! {
    tasks: Chat {
        part task: Task,
        derived agent_type = "(SELECT agent_type FROM agents WHERE agents.task_id = tasks.id LIMIT 1)",
    }
}

/// An absent type means every type.
const AGENTS: &str = select!(
    ForgeAgent,
    "FROM agents WHERE project_id = $1 AND ($2 IS NULL OR agent_type = $2) ORDER BY created_ms DESC, id"
);
const CHATS: &str =
    select!(Chat, "FROM tasks WHERE parent_attempt_id = $1 AND hidden = TRUE ORDER BY created_ms DESC, id");
const CHAT_ATTEMPTS: &str = select!(
    Attempt,
    "FROM attempts WHERE task_id IN (SELECT id FROM tasks WHERE parent_attempt_id = $1 AND hidden = TRUE) \
     ORDER BY created_ms DESC, id"
);

async fn agents(conn: &mut Conn, project: ProjectId, kind: Option<&str>) -> Result<Vec<ForgeAgent>> {
    bind!(AGENTS, project, kind).list(conn).await
}

impl Store {
    /// Agents of one type or of all, newest first.
    pub async fn agents(&self, project: ProjectId, kind: Option<&str>) -> Result<Vec<ForgeAgent>> {
        agents(&mut *self.reader().await?, project, kind).await
    }

    /// The chats that an attempt spawned, newest first, each with its newest attempt.
    pub async fn neurons(&self, parent: AttemptId) -> Result<Vec<Neuron>> {
        let mut tx = self.snapshot().await?;
        let chats: Vec<Chat> = bind!(CHATS, parent).list(&mut tx).await?;
        let mut newest = HashMap::new();
        for attempt in bind!(CHAT_ATTEMPTS, parent).list::<Attempt>(&mut tx).await? {
            newest.entry(attempt.task_id).or_insert(attempt);
        }
        let neuron = |Chat { task, agent_type }: Chat| {
            let attempt = newest.remove(&task.id);
            Neuron { r#type: agent_type, task, attempt }
        };
        Ok(chats.into_iter().map(neuron).collect())
    }
}

impl Tx {
    /// The newest agent of a type.
    pub async fn agent(&mut self, project: ProjectId, kind: &str) -> Result<Option<ForgeAgent>> {
        Ok(agents(self.conn()?, project, Some(kind)).await?.into_iter().next())
    }

    pub async fn insert_agent(&mut self, agent: &ForgeAgent) -> Result<()> {
        self.insert(agent).await
    }
}
