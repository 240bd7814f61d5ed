//! The tasks of a project: `/tasks/<id>`.
//!
//! Invariant: agent chats (hidden tasks) are never shown; a task that becomes one is removed, and one that stops being
//! one is added.

use std::collections::{BTreeMap, HashSet};

use axum::extract::State;
use forge_types::{Change, Event, EventRecord, ProjectId, TaskId};

use crate::App;
use crate::envelope::{Answer, Fault};
use crate::extract::{Id, Params};
use crate::stream::delivery::Delivery;
use crate::stream::live::{Numbering, Start, frames, or_empty, start};
use crate::stream::patch::{put, remove};

pub(crate) async fn watch(
    State(app): State<App>,
    params: Params,
    delivery: Result<Delivery, Fault>,
) -> Answer {
    let project = params.id("project_id")?;
    open(app, project, delivery?).await
}

pub(crate) async fn watch_in_project(
    State(app): State<App>,
    Id(project): Id<ProjectId>,
    delivery: Delivery,
) -> Answer {
    open(app, project, delivery).await
}

async fn open(app: App, project: ProjectId, delivery: Delivery) -> Answer {
    let after = delivery.after();
    let mut view = View { project, shown: None };
    let (seq, snapshot) = match start(&app.forge, after) {
        Start::After(seq) => (seq, None),
        Start::Snapshot => {
            let (seq, tasks) = or_empty(&app.forge, app.forge.tasks_snapshot(project).await)?;
            view.shown = Some(tasks.iter().map(|row| row.task.id).collect());
            let tasks: BTreeMap<TaskId, _> = tasks.iter().map(|row| (row.task.id, row)).collect();
            (seq, Some(put("replace", "/tasks", &tasks)))
        }
    };
    let show = move |record: &EventRecord| view.show(&record.event);
    delivery.send(&app, frames(&app.forge, Numbering::of(after), seq, snapshot, show)).await
}

struct View {
    project: ProjectId,
    /// What the client has, when that is known.
    shown: Option<HashSet<TaskId>>,
}

impl View {
    fn show(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Task { change, task, hidden } if task.task.project_id == self.project => {
                let id = task.task.id;
                if *hidden {
                    return self.forget(id, *change);
                }
                let is_new = match &mut self.shown {
                    Some(shown) => shown.insert(id),
                    None => *change == Change::Created,
                };
                Some(put(if is_new { "add" } else { "replace" }, &format!("/tasks/{id}"), task))
            }
            Event::TaskRemoved { id, project_id } if *project_id == self.project => {
                self.forget(*id, Change::Updated)
            }
            _ => None,
        }
    }

    fn forget(&mut self, id: TaskId, change: Change) -> Option<String> {
        let has = match &mut self.shown {
            Some(shown) => shown.remove(&id),
            None => change == Change::Updated,
        };
        has.then(|| remove(&format!("/tasks/{id}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_types::{Millis, Task, TaskStatus, TaskSummary};

    fn event(project: ProjectId, id: TaskId, change: Change, hidden: bool) -> Event {
        let task = Task {
            id,
            project_id: project,
            title: "t".into(),
            description: None,
            status: TaskStatus::Todo,
            parent_task_attempt: None,
            dev_server_id: None,
            created_at: Millis(0),
            updated_at: Millis(0),
            labels: Vec::new(),
        };
        let task = TaskSummary {
            task,
            has_in_progress_attempt: false,
            has_merged_attempt: false,
            last_attempt_failed: false,
            executor: String::new(),
            attempt_count: 0,
        };
        Event::Task { change, task, hidden }
    }

    fn op(patch: Option<String>) -> Option<String> {
        let patch: serde_json::Value = serde_json::from_str(&patch?).unwrap();
        Some(patch["op"].as_str().unwrap().to_owned())
    }

    #[test]
    fn a_task_that_becomes_a_chat_goes_and_comes_back() {
        let (project, id) = (ProjectId::random(), TaskId::random());
        let mut view = View { project, shown: Some(HashSet::new()) };
        assert_eq!(op(view.show(&event(project, id, Change::Created, true))), None);
        assert_eq!(op(view.show(&event(project, id, Change::Updated, false))).as_deref(), Some("add"));
        assert_eq!(op(view.show(&event(project, id, Change::Updated, false))).as_deref(), Some("replace"));
        assert_eq!(op(view.show(&event(project, id, Change::Updated, true))).as_deref(), Some("remove"));
        assert_eq!(op(view.show(&event(project, id, Change::Updated, true))), None);
    }

    #[test]
    fn other_projects_are_not_shown() {
        let mut view = View { project: ProjectId::random(), shown: None };
        assert_eq!(view.show(&event(ProjectId::random(), TaskId::random(), Change::Created, false)), None);
    }
}
