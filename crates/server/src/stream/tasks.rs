//! The tasks of a project: `/tasks/<id>`.
//!
//! Invariant: agent chats (hidden tasks) are never shown; a task that becomes one is removed, and one that stops being
//! one is added.

use std::collections::HashSet;
use std::fmt::Write as _;

use axum::extract::State;
use forge_core::TaskBlock;
use forge_types::{Change, Event, EventRecord, ProjectId, TaskId, TaskSummary};

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
    open(app, project, &params, delivery?).await
}

pub(crate) async fn watch_in_project(
    State(app): State<App>,
    Id(project): Id<ProjectId>,
    params: Params,
    delivery: Delivery,
) -> Answer {
    open(app, project, &params, delivery).await
}

async fn open(app: App, project: ProjectId, params: &Params, delivery: Delivery) -> Answer {
    let after = delivery.after();
    let mut view = View { project, shown: None, brief: params.flag("brief")? };
    let (seq, snapshot) = match start(&app.forge, after) {
        Start::After(seq) => (seq, None),
        Start::Snapshot => {
            let (seq, blocks) = or_empty(&app.forge, app.forge.task_blocks_snapshot(project).await)?;
            (seq, Some(view.show_all(&blocks)))
        }
    };
    let show = move |record: &EventRecord| view.show(&record.event);
    delivery.send(&app, frames(&app.forge, Numbering::of(after), seq, snapshot, show)).await
}

struct View {
    project: ProjectId,
    /// What the client has, when that is known.
    shown: Option<HashSet<TaskId>>,
    /// Without descriptions.
    brief: bool,
}

impl View {
    /// The whole document: the tasks are JSON already.
    fn show_all(&mut self, blocks: &[TaskBlock]) -> String {
        let mut shown = HashSet::new();
        let mut text = String::from(r#"{"op":"replace","path":"/tasks","value":{"#);
        let mut push = |id: TaskId, document: &str| {
            if !shown.is_empty() {
                text.push(',');
            }
            // Writing into a String cannot fail.
            let _ = write!(text, r#""{id}":{document}"#);
            shown.insert(id);
        };
        for block in blocks {
            match self.brief {
                true => block.brief_rows().for_each(|(id, document)| push(id, &document)),
                false => block.rows().for_each(|(id, document)| push(id, document)),
            }
        }
        text.push_str("}}");
        self.shown = Some(shown);
        text
    }

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
                let op = if is_new { "add" } else { "replace" };
                Some(put_task(op, task, self.brief))
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

/// A task, without its description where that is not wanted.
pub(crate) fn put_task(op: &str, task: &TaskSummary, brief: bool) -> String {
    let path = format!("/tasks/{}", task.task.id);
    match brief && task.task.description.is_some() {
        true => {
            let mut task = task.clone();
            task.task.description = None;
            put(op, &path, &task)
        }
        false => put(op, &path, task),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_types::{Millis, Task};

    fn event(project: ProjectId, id: TaskId, change: Change, hidden: bool) -> Event {
        let task = TaskSummary {
            task: Task { id, ..Task::new(project, "t", Millis(0)) },
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
        let mut view = View { project, shown: Some(HashSet::new()), brief: false };
        assert_eq!(op(view.show(&event(project, id, Change::Created, true))), None);
        assert_eq!(op(view.show(&event(project, id, Change::Updated, false))).as_deref(), Some("add"));
        assert_eq!(op(view.show(&event(project, id, Change::Updated, false))).as_deref(), Some("replace"));
        assert_eq!(op(view.show(&event(project, id, Change::Updated, true))).as_deref(), Some("remove"));
        assert_eq!(op(view.show(&event(project, id, Change::Updated, true))), None);
    }

    #[test]
    fn other_projects_are_not_shown() {
        let mut view = View { project: ProjectId::random(), shown: None, brief: false };
        assert_eq!(view.show(&event(ProjectId::random(), TaskId::random(), Change::Created, false)), None);
    }
}
