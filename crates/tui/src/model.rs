//! The server's data, as the views use it.
//!
//! Invariant: a list is distinguishable as not served, not read yet, or empty.

mod bead;

use std::collections::BTreeMap;
use std::fmt::Display;

use forge_types::wire::{ChangedFile, LauncherFile, ListedWorker, PendingApproval, WorkerDefinitions};
use forge_types::{
    Alert, AttemptStatus, ListedAttempt, ModelPerformance, Project, ProjectId, Routing, TaskSummary,
    UsageGroup, UsageSum, Worker, WorkerEfficiency, WorkerId,
};

pub(crate) use bead::{Bead, Section};

/// Whether its agent is running or about to run.
pub(crate) fn is_live(attempt: &ListedAttempt) -> bool {
    matches!(attempt.attempt.status, AttemptStatus::Pending | AttemptStatus::Running)
}

/// Whether Forge has a session of it, or is about to.
pub(crate) fn is_kept(worker: &ListedWorker) -> bool {
    worker.managed && worker.worker.phase.is_kept()
}

/// The part of an id that people read and type.
pub(crate) fn short(id: impl Display) -> String {
    id.to_string().chars().take(8).collect()
}

/// The day or the model that was used.
pub(crate) fn name_of(group: &UsageGroup) -> String {
    let model = group.model.clone().filter(|name| !name.is_empty());
    group.day.map(|day| day.to_string()).or(model).unwrap_or_else(|| "-".to_owned())
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    pub days: Vec<UsageGroup>,
    pub models: Vec<UsageGroup>,
    pub total: UsageSum,
    pub workers: List<WorkerEfficiency>,
    pub served: List<ModelPerformance>,
}

/// What workers can be started with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Means {
    pub launchers: Vec<LauncherFile>,
    pub defined: WorkerDefinitions,
}

/// A list of the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum List<T> {
    #[default]
    Unread,
    NotServed,
    Read(Vec<T>),
}

impl<T> List<T> {
    pub(crate) fn rows(&self) -> &[T] {
        match self {
            List::Read(rows) => rows,
            List::Unread | List::NotServed => &[],
        }
    }

    /// Replaces the row for which `is_it` holds, or adds the row first.
    pub(crate) fn put(&mut self, row: T, is_it: impl Fn(&T) -> bool) {
        match self {
            List::Read(rows) => match rows.iter_mut().find(|row| is_it(row)) {
                Some(place) => *place = row,
                None => rows.insert(0, row),
            },
            // The first read brings the rest; until then one row is better than none.
            List::Unread | List::NotServed => *self = List::Read(vec![row]),
        }
    }

    pub(crate) fn remove(&mut self, is_it: impl Fn(&T) -> bool) {
        if let List::Read(rows) = self {
            rows.retain(|row| !is_it(row));
        }
    }
}

/// Everything read from the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Data {
    pub projects: List<Project>,
    pub attempts: List<ListedAttempt>,
    pub tasks: List<TaskSummary>,
    pub questions: List<PendingApproval>,
    pub beads: List<Bead>,
    pub workers: List<ListedWorker>,
    pub alerts: List<Alert>,
    pub routing: List<Routing>,
    pub usage: Usage,
    pub means: Means,
}

impl Data {
    pub(crate) fn project_name(&self, id: ProjectId) -> &str {
        let found = self.projects.rows().iter().find(|project| project.id == id);
        found.map_or("", |project| project.name.as_str())
    }

    pub(crate) fn worker(&self, id: &WorkerId) -> Option<&ListedWorker> {
        self.workers.rows().iter().find(|listed| listed.worker.id == *id)
    }

    /// A worker's work, with the title if it is a known bead.
    pub(crate) fn work_of(&self, worker: &Worker) -> String {
        let work = worker.task();
        match self.beads.rows().iter().find(|bead| bead.facts.id == work) {
            Some(bead) => format!("{work}: {}", bead.title()),
            None => work,
        }
    }

    /// Bead ids are unique only within a project.
    pub(crate) fn bead(&self, id: &str, project: ProjectId) -> Option<&Bead> {
        self.beads.rows().iter().find(|bead| bead.facts.id == id && bead.project == project)
    }
}

/// Changed files by path.
pub(crate) type Changes = BTreeMap<String, ChangedFile>;
