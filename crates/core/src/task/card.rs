//! Cards of the board, and which of them an event changes.
//!
//! Invariant: whatever changes a card makes an event of its task, or of something that names the task, its attempt or
//! its run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use forge_store::Page;
use forge_types::wire::CardChange;
use forge_types::{AttemptId, Event, EventRecord, Millis, ProjectId, TaskCard, TaskId};

use crate::{Forge, Result};

impl Forge {
    /// One card for each visible task of a project that has an attempt, or that of one task.
    pub async fn cards(&self, project: ProjectId, task: Option<TaskId>) -> Result<Vec<TaskCard>> {
        self.project(project).await?;
        Ok(self.0.store.cards(project, task, Millis::now()).await?)
    }

    /// The cards that these events may have changed, as they are now. Agent chats have none.
    pub async fn changed_cards(&self, events: &[Arc<EventRecord>]) -> Result<Vec<CardChange>> {
        let (mut tasks, mut attempts) = (BTreeMap::new(), BTreeSet::new());
        for record in events {
            match subject(&record.event) {
                Some(Subject::Task(task, project)) => drop(tasks.insert(task, project)),
                Some(Subject::Attempt(attempt)) => drop(attempts.insert(attempt)),
                Some(Subject::Gone(task)) => drop(tasks.remove(&task)),
                None => {}
            }
        }
        for attempt in attempts {
            if let Some(attempt) = self.0.store.attempt(attempt).await? {
                tasks.insert(attempt.task_id, attempt.project_id);
            }
        }
        let mut changes = Vec::with_capacity(tasks.len());
        for (task, project) in tasks {
            let card = self.0.store.cards(project, Some(task), Millis::now()).await?.pop();
            let attempts = match &card {
                Some(_) => self.0.store.attempts(Some(task), Page::default()).await?,
                None => Vec::new(),
            };
            changes.push(CardChange { project_id: project, task_id: task, card, attempts });
        }
        Ok(changes)
    }
}

/// What an event is about.
enum Subject {
    Task(TaskId, ProjectId),
    Attempt(AttemptId),
    Gone(TaskId),
}

fn subject(event: &Event) -> Option<Subject> {
    match event {
        Event::Task { task, hidden, .. } => {
            let is_shown = !hidden && task.attempt_count > 0;
            is_shown.then_some(Subject::Task(task.task.id, task.task.project_id))
        }
        Event::AttemptCreated { task_id, project_id, .. }
        | Event::AttemptRemoved { task_id, project_id, .. } => Some(Subject::Task(*task_id, *project_id)),
        Event::TaskRemoved { id, .. } => Some(Subject::Gone(*id)),
        Event::Run { run, .. } => run.owner.attempt().map(Subject::Attempt),
        Event::RunRemoved { attempt_id, .. } => attempt_id.map(Subject::Attempt),
        Event::Draft { attempt_id, .. } => Some(Subject::Attempt(*attempt_id)),
        Event::Approval { approval, .. } => approval.attempt_id.map(Subject::Attempt),
        Event::Routing { routing, .. } => routing.attempt_id.map(Subject::Attempt),
        Event::Project { .. }
        | Event::ProjectRemoved { .. }
        | Event::Worker { .. }
        | Event::WorkerRemoved { .. }
        | Event::Alert { .. } => None,
    }
}
