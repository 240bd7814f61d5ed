//! Tasks: what is to be done, and everything that is written on their cards.
//!
//! Owns tasks, labels, tags, templates, images and drafts, and reads the attempts of a task. Invariant: a task changes in
//! one transaction with its event.

pub(crate) mod attempts;
pub(crate) mod card;
pub(crate) mod draft;
pub(crate) mod image;
pub(crate) mod label;
pub(crate) mod tag;

use std::collections::HashMap;

use forge_store::{Page, TaskBlock};
use forge_types::{
    Attempt, CreateTask, Millis, ProjectId, Task, TaskId, TaskStatus, TaskSummary, UpdateTask,
};
use futures_util::{Stream, StreamExt};

use crate::once::Effect;
use crate::{Error, Forge, Once, Result};

/// A task after a change, and what it was before.
pub(crate) struct Changed {
    pub(crate) was: TaskStatus,
    pub(crate) task: Task,
}

impl Forge {
    pub(crate) async fn change_task(&self, id: TaskId, request: UpdateTask) -> Result<Changed> {
        let labels = request.labels.as_deref().map(label::check).transpose()?;
        self.check_images(request.image_ids.as_deref().unwrap_or_default()).await?;
        let mut tx = self.0.store.begin().await?;
        let found = tx.task(id).await?;
        let mut task = found.ok_or_else(|| Error::no_task(id))?;
        let was = task.status;
        task.title = request.title.unwrap_or(task.title);
        match request.description {
            Some(text) if text.trim().is_empty() => task.description = None,
            Some(text) => task.description = Some(text),
            None => {}
        }
        task.status = request.status.unwrap_or(task.status);
        task.parent_task_attempt = request.parent_task_attempt.or(task.parent_task_attempt);
        task.labels = labels.unwrap_or(task.labels);
        task.updated_at = Millis::now();
        tx.update_task(&task).await.map_err(|error| match error {
            forge_store::StoreError::Missing => {
                Error::not_found("no attempt has this id".to_owned()).of_field("parent_task_attempt")
            }
            other => other.into(),
        })?;
        if let Some(images) = &request.image_ids {
            tx.replace_images(id, images).await?;
        }
        // Somebody who hears that a task is done may throw away what it was made from.
        match task.status == TaskStatus::Done && was != TaskStatus::Done {
            true => tx.commit_synced().await?,
            false => tx.commit().await?,
        };
        Ok(Changed { was, task })
    }

    /// The tasks of a project, newest first, as the database yields them.
    pub fn stream_tasks(
        &self,
        project: ProjectId,
        page: Page,
    ) -> impl Stream<Item = Result<TaskBlock>> + Send + use<> {
        self.0.store.stream_tasks(project, page).map(|row| row.map_err(Error::from))
    }

    pub async fn latest_attempts(&self, project: ProjectId) -> Result<HashMap<TaskId, Attempt>> {
        Ok(self.0.store.latest_attempts(project).await?)
    }

    /// The tasks of a project and the event after which they change.
    pub async fn tasks_snapshot(&self, project: ProjectId) -> Result<(i64, Vec<TaskSummary>)> {
        Ok(self.0.store.tasks_snapshot(project).await?)
    }

    /// The same as JSON.
    pub async fn task_blocks_snapshot(&self, project: ProjectId) -> Result<(i64, Vec<TaskBlock>)> {
        Ok(self.0.store.task_blocks_snapshot(project).await?)
    }

    pub async fn create_task(&self, request: CreateTask, once: Option<&Once>) -> Result<Task> {
        if let Some(task) = self.made_task(once).await? {
            return Ok(task);
        }
        let project_id = request.project_id;
        let images = request.image_ids.clone().unwrap_or_default();
        let task = new_task(request, TaskStatus::Todo)?;
        let key = once.map(|once| once.row(&Effect::Task(task.id), Some(&task))).transpose()?;
        if !images.is_empty() {
            self.check_images(&images).await?;
            let mut tx = self.0.store.begin().await?;
            tx.insert_task(&task, false).await.map_err(|error| unknown_reference(error, project_id))?;
            tx.attach_images(task.id, &images).await?;
            if let Some(key) = key {
                tx.put_keyed(&key).await?;
            }
            tx.commit().await?;
            return Ok(task);
        }
        // The foreign key is the check: one statement instead of a look-up on the hot path.
        let created = self.0.store.create_task(&task, key).await;
        created.map_err(|error| unknown_reference(error, project_id))?;
        Ok(task)
    }

    /// The task that an earlier request under the same key made.
    async fn made_task(&self, once: Option<&Once>) -> Result<Option<Task>> {
        let Some((once, Effect::Task(id))) = once.and_then(|once| Some((once, once.effect()?))) else {
            return Ok(None);
        };
        let task = match once.answer() {
            Some(task) => task,
            None => self.task(*id).await?,
        };
        Ok(Some(once.replay(task)))
    }

    pub async fn task(&self, id: TaskId) -> Result<Task> {
        self.0.store.task(id).await?.ok_or_else(|| Error::no_task(id))
    }

    /// A task with the flags that lists carry.
    pub async fn task_summary(&self, id: TaskId) -> Result<TaskSummary> {
        let found = self.0.store.task_summary(id).await?;
        found.ok_or_else(|| Error::no_task(id))
    }
}

pub(crate) fn new_task(request: CreateTask, status: TaskStatus) -> Result<Task> {
    let now = Millis::now();
    Ok(Task {
        id: TaskId::random(),
        project_id: request.project_id,
        title: request.title,
        description: request.description,
        status,
        parent_task_attempt: request.parent_task_attempt,
        dev_server_id: None,
        created_at: now,
        updated_at: now,
        labels: label::check(request.labels.as_deref().unwrap_or_default())?,
    })
}

fn unknown_reference(error: forge_store::StoreError, project: ProjectId) -> Error {
    match error {
        forge_store::StoreError::Missing => Error::not_found(format!(
            "project_id or parent_task_attempt: no such project or attempt (project_id {project})"
        )),
        other => other.into(),
    }
}
