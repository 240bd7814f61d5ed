//! Agents of projects: long-lived chats that clients find again by their type.
//!
//! Invariant: asking twice for an agent of a type gives the same one.

use forge_types::{
    AGENT_TYPE_MAX_CHARS, AgentId, AttemptId, CreateAgent, CreateTask, ForgeAgent, Millis, Neuron, ProjectId,
    Task, TaskStatus,
};

use crate::task::new_task;
use crate::{Error, Forge, Result};

const TITLE: &str = "Genie";

impl Forge {
    /// Agents of one type or of all, newest first.
    pub async fn agents(&self, project: ProjectId, kind: Option<&str>) -> Result<Vec<ForgeAgent>> {
        Ok(self.0.store.agents(project, kind).await?)
    }

    /// The agent of this type; made, with its hidden task, when there is none.
    pub async fn create_agent(&self, request: CreateAgent) -> Result<ForgeAgent> {
        let kind = request.agent_type.trim();
        if kind.is_empty() || kind.chars().count() > AGENT_TYPE_MAX_CHARS {
            return Err(Error::invalid(format!(
                "'{kind}' is not allowed; allowed: 1 to {AGENT_TYPE_MAX_CHARS} characters, such as wish, forge, review or master"
            )).of_field("agent_type"));
        }
        let mut tx = self.0.store.begin().await?;
        if tx.project(request.project_id).await?.is_none() {
            let id = request.project_id;
            return Err(Error::no_project(id).of_field("project_id"));
        }
        if let Some(agent) = tx.agent(request.project_id, kind).await? {
            return Ok(agent);
        }
        let task = new_task(CreateTask::new(request.project_id, TITLE), TaskStatus::Agent)?;
        let agent = agent_of(&task, kind);
        tx.insert_task(&task, true).await?;
        tx.insert_agent(&agent).await?;
        tx.commit().await?;
        Ok(agent)
    }

    /// The chats that an attempt spawned; none of one that is gone, as clients that still show it expect.
    pub async fn neurons(&self, attempt: AttemptId) -> Result<Vec<Neuron>> {
        Ok(self.0.store.neurons(attempt).await?)
    }

    /// The tasks that an attempt spawned; none of one that is gone.
    pub async fn subtasks(&self, attempt: AttemptId) -> Result<Vec<Task>> {
        Ok(self.0.store.child_tasks(attempt).await?)
    }
}

pub(crate) fn agent_of(task: &Task, kind: &str) -> ForgeAgent {
    let now = Millis::now();
    ForgeAgent {
        id: AgentId::random(),
        project_id: task.project_id,
        agent_type: kind.to_owned(),
        task_id: task.id,
        created_at: now,
        updated_at: now,
    }
}
