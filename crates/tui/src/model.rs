//! What the server tells, as the views use it.
//!
//! Invariant: a list that the server does not serve is told from one that is empty and from one that was not read yet.

mod bead;
mod worker;

use std::collections::BTreeMap;

use forge_types::{Alert, AttemptStatus, MicroUsd, Millis, Project, ProjectId, Routing, TaskSummary};
use serde::Deserialize;
use serde_json::Value;

pub use bead::{Bead, Section};
pub use worker::{Definition, Means, Worker};

/// An attempt under the name of its task.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Attempt {
    #[serde(flatten)]
    pub attempt: forge_types::Attempt,
    #[serde(default)]
    pub task_title: String,
}

impl Attempt {
    /// Something of it is at work, or about to be.
    pub fn is_live(&self) -> bool {
        matches!(self.attempt.status, AttemptStatus::Pending | AttemptStatus::Running)
    }
}

/// An agent waits for an answer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Question {
    pub id: String,
    pub execution_process_id: Option<String>,
    pub tool_name: String,
    #[serde(default)]
    pub tool_input: Value,
    pub created_at: Millis,
    /// Whose agent it is; the server tells it of the run.
    #[serde(default)]
    pub attempt: Option<String>,
}

impl Question {
    /// What the agent wants to do, in one line.
    pub fn wish(&self) -> String {
        let said = ["command", "file_path", "path", "description", "plan"];
        let said = said.iter().find_map(|key| self.tool_input[*key].as_str()).map(str::to_owned);
        let said = said.or_else(|| (!self.tool_input.is_null()).then(|| self.tool_input.to_string()));
        match said {
            Some(said) => format!("{}: {said}", self.tool_name),
            None => self.tool_name.clone(),
        }
    }
}

/// What was used on a day, or with a model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Spent {
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
    pub fn name(&self) -> &str {
        let name = self.day.as_deref().or(self.model.as_deref());
        name.filter(|name| !name.is_empty()).unwrap_or("-")
    }
}

/// What a worker used, and how much it got for it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct WorkerSpent {
    pub worker_id: String,
    pub call_count: u64,
    pub total_tokens: u64,
    pub total_cost_usd: Option<MicroUsd>,
    #[serde(default)]
    pub efficiency_score: Option<f64>,
    #[serde(default)]
    pub tier: Option<String>,
}

/// How a model served.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ModelServed {
    pub model: String,
    #[serde(default)]
    pub avg_latency_ms: Option<f64>,
    #[serde(default)]
    pub cache_hit_rate: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    pub days: Vec<Spent>,
    pub models: Vec<Spent>,
    pub total: Spent,
    pub workers: List<WorkerSpent>,
    pub served: List<ModelServed>,
}

/// A file that an attempt changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    pub added: u64,
    pub removed: u64,
}

/// A list of the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum List<T> {
    #[default]
    Unread,
    NotServed,
    Read(Vec<T>),
}

impl<T> List<T> {
    pub fn rows(&self) -> &[T] {
        match self {
            List::Read(rows) => rows,
            List::Unread | List::NotServed => &[],
        }
    }

    /// Puts a row in the place of the one that `is_it`, or first.
    pub fn put(&mut self, row: T, is_it: impl Fn(&T) -> bool) {
        match self {
            List::Read(rows) => match rows.iter_mut().find(|row| is_it(row)) {
                Some(place) => *place = row,
                None => rows.insert(0, row),
            },
            // The first read brings it anyway; until then it is better than nothing.
            List::Unread | List::NotServed => *self = List::Read(vec![row]),
        }
    }

    pub fn remove(&mut self, is_it: impl Fn(&T) -> bool) {
        if let List::Read(rows) = self {
            rows.retain(|row| !is_it(row));
        }
    }
}

/// Everything that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
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
    pub fn project_name(&self, id: ProjectId) -> &str {
        let found = self.projects.rows().iter().find(|project| project.id == id);
        found.map_or("", |project| project.name.as_str())
    }

    pub fn worker(&self, id: &str) -> Option<&Worker> {
        self.workers.rows().iter().find(|worker| worker.id() == id)
    }

    /// What a worker has to do, with its title where it is a bead that was read.
    pub fn work_of(&self, worker: &Worker) -> String {
        let work = worker.facts.task();
        match self.beads.rows().iter().find(|bead| bead.id == work) {
            Some(bead) => format!("{work}: {}", bead.title),
            None => work,
        }
    }

    /// Ids of beads are told apart by their project.
    pub fn bead(&self, id: &str, project: Option<ProjectId>) -> Option<&Bead> {
        self.beads.rows().iter().find(|bead| bead.id == id && bead.project == project)
    }
}

/// Files by path.
pub type Changes = BTreeMap<String, Changed>;
