//! A piece of work, and what lists show about its attempts.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{AttemptId, Millis, ProjectId, TaskId};

/// The most labels of a task, and the longest of them.
pub const LABELS_MAX: usize = 20;
pub const LABEL_MAX_CHARS: usize = 50;

/// Labels as a request may name them: lines of text that are more than blanks.
pub(crate) struct Labels;

crate::shape::inline_schema! { Labels => {
    "type": "array",
    "maxItems": LABELS_MAX,
    "items": {
        "type": "string",
        "minLength": 1,
        "maxLength": LABEL_MAX_CHARS,
        "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$",
    },
} }

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    pub id: TaskId,
    pub project_id: ProjectId,
    pub title: String,
    pub description: Option<String>,
    pub status: TaskStatus,
    /// The attempt that spawned this task.
    pub parent_task_attempt: Option<AttemptId>,
    /// Always null; old clients expect the key.
    #[schemars(with = "Option<AttemptId>")]
    pub dev_server_id: Option<String>,
    pub created_at: Millis,
    pub updated_at: Millis,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl Task {
    /// A task to do that has a title and nothing else.
    pub fn new(project_id: ProjectId, title: impl Into<String>, at: Millis) -> Self {
        Self {
            id: TaskId::random(),
            project_id,
            title: title.into(),
            description: None,
            status: TaskStatus::Todo,
            parent_task_attempt: None,
            dev_server_id: None,
            created_at: at,
            updated_at: at,
            labels: Vec::new(),
        }
    }

    /// The prompt of the agent: the title, then the description when there is one.
    pub fn prompt(&self) -> String {
        match self.description.as_deref().map(str::trim) {
            Some(description) if !description.is_empty() => {
                format!("{}\n\n{}", self.title, self.description.as_deref().unwrap_or_default())
            }
            _ => self.title.clone(),
        }
    }
}

/// A task with the flags that lists and streams carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TaskWithAttemptStatus", extend("x-extends" = "Task"))]
pub struct TaskSummary {
    #[serde(flatten)]
    pub task: Task,
    /// A setup, cleanup or agent run is in progress.
    pub has_in_progress_attempt: bool,
    pub has_merged_attempt: bool,
    /// The newest such run failed or was stopped.
    pub last_attempt_failed: bool,
    /// Executor of the newest attempt, empty when there is none.
    pub executor: String,
    pub attempt_count: i64,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    Todo,
    InProgress,
    InReview,
    Done,
    Cancelled,
    /// A chat that the board does not show.
    Agent,
    Archived,
}

impl TaskStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            TaskStatus::Todo => "todo",
            TaskStatus::InProgress => "inprogress",
            TaskStatus::InReview => "inreview",
            TaskStatus::Done => "done",
            TaskStatus::Cancelled => "cancelled",
            TaskStatus::Agent => "agent",
            TaskStatus::Archived => "archived",
        }
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TaskStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain: String = text.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).collect();
        Ok(match plain.to_ascii_lowercase().as_str() {
            "todo" => TaskStatus::Todo,
            "inprogress" => TaskStatus::InProgress,
            "inreview" => TaskStatus::InReview,
            "done" | "complete" | "completed" => TaskStatus::Done,
            "cancelled" => TaskStatus::Cancelled,
            "agent" => TaskStatus::Agent,
            "archived" => TaskStatus::Archived,
            _ => {
                return Err(format!(
                    "unknown status '{text}'; allowed: todo, inprogress, inreview, done, cancelled, agent, archived"
                ));
            }
        })
    }
}

impl<'de> Deserialize<'de> for TaskStatus {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_in_every_spelling_and_written_in_one() {
        for text in ["in-progress", "in_progress", "InProgress", "inprogress"] {
            assert_eq!(text.parse::<TaskStatus>().unwrap().as_str(), "inprogress");
        }
        assert_eq!("complete".parse::<TaskStatus>().unwrap(), TaskStatus::Done);
        assert!("finished".parse::<TaskStatus>().unwrap_err().contains("allowed: todo"));
    }
}
