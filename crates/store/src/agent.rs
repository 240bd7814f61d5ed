//! Agents of projects and the chats that attempts spawned.
//!
//! Invariant: an agent's row and its hidden task are created and deleted together; except for chats, a project has one
//! agent of each type.

use std::collections::HashMap;

use forge_types::{AttemptId, ForgeAgent, Millis, Neuron, ProjectId, TaskId};
use sqlx::{Row, SqliteConnection};

use crate::error::Result;
use crate::row::{self, attempt_columns, task_columns};
use crate::store::Store;
use crate::tx::Tx;

/// An absent type means every type.
const AGENTS: &str = "SELECT id, project_id, agent_type, task_id, created_ms, updated_ms FROM agents \
     WHERE project_id = $1 AND ($2 IS NULL OR agent_type = $2) ORDER BY created_ms DESC, id";
const CHATS: &str = concat!(
    "SELECT ",
    task_columns!(),
    ", (SELECT agent_type FROM agents WHERE agents.task_id = tasks.id LIMIT 1) AS agent_type \
     FROM tasks WHERE parent_attempt_id = $1 AND hidden = TRUE ORDER BY created_ms DESC, id"
);
const CHAT_ATTEMPTS: &str = concat!(
    "SELECT ",
    attempt_columns!(),
    " FROM attempts WHERE task_id IN (SELECT id FROM tasks WHERE parent_attempt_id = $1 AND hidden = TRUE) \
     ORDER BY created_ms DESC, id"
);

type AgentRow = (String, String, String, String, i64, i64);

async fn agents(
    conn: &mut SqliteConnection,
    project: ProjectId,
    kind: Option<&str>,
) -> Result<Vec<ForgeAgent>> {
    let rows: Vec<AgentRow> =
        sqlx::query_as(AGENTS).bind(project.to_string()).bind(kind).fetch_all(conn).await?;
    let read = |(id, project_id, agent_type, task_id, created_ms, updated_ms): AgentRow| {
        Ok(ForgeAgent {
            id: parse(&id)?,
            project_id: parse(&project_id)?,
            agent_type,
            task_id: parse(&task_id)?,
            created_at: Millis(created_ms),
            updated_at: Millis(updated_ms),
        })
    };
    rows.into_iter().map(read).collect()
}

pub(crate) fn parse<T: std::str::FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>>(
    text: &str,
) -> Result<T, sqlx::Error> {
    text.parse().map_err(|error: T::Err| sqlx::Error::Decode(error.into()))
}

impl Store {
    /// Agents of one type or of all, newest first.
    pub async fn agents(&self, project: ProjectId, kind: Option<&str>) -> Result<Vec<ForgeAgent>> {
        agents(&mut *self.reader().await?, project, kind).await
    }

    /// The chats that an attempt spawned, newest first, each with its newest attempt.
    pub async fn neurons(&self, parent: AttemptId) -> Result<Vec<Neuron>> {
        let mut tx = self.snapshot().await?;
        let chats = sqlx::query(CHATS).bind(parent.to_string()).fetch_all(&mut *tx).await?;
        let rows = sqlx::query(CHAT_ATTEMPTS).bind(parent.to_string()).fetch_all(&mut *tx).await?;
        let mut newest = HashMap::new();
        for attempt in rows.iter().map(row::attempt) {
            let attempt = attempt?;
            newest.entry(attempt.task_id).or_insert(attempt);
        }
        let read = |chat: &sqlx::sqlite::SqliteRow| {
            let task = row::task(chat)?;
            let attempt = newest.remove(&task.id);
            Ok(Neuron { r#type: chat.try_get("agent_type")?, task, attempt })
        };
        chats.iter().map(read).collect()
    }
}

impl Tx {
    /// The newest agent of a type.
    pub async fn agent(&mut self, project: ProjectId, kind: &str) -> Result<Option<ForgeAgent>> {
        Ok(agents(self.conn()?, project, Some(kind)).await?.into_iter().next())
    }

    pub async fn insert_agent(&mut self, agent: &ForgeAgent) -> Result<()> {
        let sql = "INSERT INTO agents (id, project_id, agent_type, task_id, created_ms, updated_ms) \
             VALUES ($1, $2, $3, $4, $5, $6)";
        let (id, task): (String, TaskId) = (agent.id.to_string(), agent.task_id);
        let query = sqlx::query(sql).bind(id).bind(agent.project_id.to_string()).bind(&agent.agent_type);
        let query = query.bind(task.to_string()).bind(agent.created_at.0).bind(agent.updated_at.0);
        query.execute(self.conn()?).await?;
        Ok(())
    }
}
