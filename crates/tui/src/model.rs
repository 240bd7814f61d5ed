//! The server's data, as the views use it.
//!
//! Invariant: a list is distinguishable as not served, not read yet, or empty.

mod bead;
mod worker;

use std::collections::BTreeMap;

use forge_types::{Alert, AttemptStatus, MicroUsd, Millis, Project, ProjectId, Routing, TaskSummary};
use serde::Deserialize;
use serde_json::Value;

pub(crate) use bead::{Bead, Section};
pub(crate) use worker::{Definition, Means, Worker};

/// An attempt with the title of its task.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Attempt {
    #[serde(flatten)]
    pub attempt: forge_types::Attempt,
    #[serde(default)]
    pub task_title: String,
}

impl Attempt {
    /// Whether it is running or about to run.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.attempt.status, AttemptStatus::Pending | AttemptStatus::Running)
    }
}

/// A question that an agent waits on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Question {
    pub id: String,
    pub execution_process_id: Option<String>,
    pub tool_name: String,
    #[serde(default)]
    pub tool_input: Value,
    pub created_at: Millis,
    /// The attempt of the agent's run, as the server reports it.
    #[serde(default)]
    pub attempt: Option<String>,
}

impl Question {
    /// What the agent wants to do, in one line.
    pub(crate) fn wish(&self) -> String {
        let said = ["command", "file_path", "path", "description", "plan"];
        let said = said.iter().find_map(|key| self.tool_input[*key].as_str()).map(str::to_owned);
        let said = said.or_else(|| (!self.tool_input.is_null()).then(|| self.tool_input.to_string()));
        match said {
            Some(said) => format!("{}: {said}", self.tool_name),
            None => self.tool_name.clone(),
        }
    }
}

/// Usage on a day or with a model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Spent {
    #[serde(default)]
    pub day: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
    pub runs: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    pub cost_usd: Option<MicroUsd>,
    #[serde(default)]
    pub unpriced_tokens: u64,
}

impl Spent {
    pub(crate) fn name(&self) -> &str {
        let name = self.day.as_deref().or(self.model.as_deref());
        name.filter(|name| !name.is_empty()).unwrap_or("-")
    }
}

/// What a worker used, and how efficiently.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct WorkerSpent {
    pub worker_id: String,
    pub call_count: u64,
    pub total_tokens: u64,
    pub total_cost_usd: Option<MicroUsd>,
    #[serde(default)]
    pub efficiency_score: Option<f64>,
    #[serde(default)]
    pub tier: Option<String>,
}

/// How a model performed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct ModelServed {
    pub model: String,
    #[serde(default)]
    pub avg_latency_ms: Option<f64>,
    #[serde(default)]
    pub cache_hit_rate: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    pub days: Vec<Spent>,
    pub models: Vec<Spent>,
    pub total: Spent,
    pub workers: List<WorkerSpent>,
    pub served: List<ModelServed>,
}

/// A file that an attempt changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    pub added: u64,
    pub removed: u64,
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
    pub attempts: List<Attempt>,
    pub tasks: List<TaskSummary>,
    pub questions: List<Question>,
    pub beads: List<Bead>,
    pub workers: List<Worker>,
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

    pub(crate) fn worker(&self, id: &str) -> Option<&Worker> {
        self.workers.rows().iter().find(|worker| worker.id() == id)
    }

    /// A worker's work, with the title if it is a known bead.
    pub(crate) fn work_of(&self, worker: &Worker) -> String {
        let work = worker.facts.task();
        match self.beads.rows().iter().find(|bead| bead.id == work) {
            Some(bead) => format!("{work}: {}", bead.title),
            None => work,
        }
    }

    /// Bead ids are unique only within a project.
    pub(crate) fn bead(&self, id: &str, project: Option<ProjectId>) -> Option<&Bead> {
        self.beads.rows().iter().find(|bead| bead.id == id && bead.project == project)
    }
}

/// Files by path.
pub(crate) type Changes = BTreeMap<String, Changed>;
