//! What the server tells, as the views use it.
//!
//! Invariant: a list that the server does not serve is told from one that is empty and from one that was not read yet.

use std::collections::BTreeMap;

use forge_types::{Alert, AttemptStatus, MicroUsd, Millis, Project, ProjectId, Routing, TaskSummary, Worker};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

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

/// A bead, as far as it is shown; trackers differ in the rest.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Bead {
    pub id: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub status: Option<String>,
    #[serde(default)]
    pub standing: Standing,
    #[serde(default)]
    pub priority: Option<i64>,
    #[serde(default)]
    pub assignee: Option<String>,
    #[serde(default, deserialize_with = "moment")]
    pub updated_at: Option<Millis>,
}

/// What Forge knows of a bead besides its tracker.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Standing {
    pub ready: bool,
    pub blocked_by: Vec<String>,
    /// Why it waits for a person, if it does.
    pub parked: Option<String>,
}

impl Bead {
    pub fn is_closed(&self) -> bool {
        self.status.as_deref() == Some("closed")
    }

    /// How it stands, in a word.
    pub fn word(&self) -> &str {
        match self.status.as_deref().unwrap_or("open") {
            _ if self.standing.parked.is_some() => "parked",
            "open" if self.standing.ready => "ready",
            "open" if !self.standing.blocked_by.is_empty() => "blocked",
            status => status,
        }
    }
}

/// Trackers write times in many ways; one that cannot be read is none.
fn moment<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Millis>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    pub days: Vec<Spent>,
    pub models: Vec<Spent>,
    pub total: Spent,
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
}

impl Data {
    pub fn project_name(&self, id: ProjectId) -> &str {
        let found = self.projects.rows().iter().find(|project| project.id == id);
        found.map_or("", |project| project.name.as_str())
    }
}

/// Files by path.
pub type Changes = BTreeMap<String, Changed>;
