//! Tasks together with what was started for them, and the bodies that start something.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Attempt, Budget, CreateAttemptOptions, CreateTask, IssueLink, ProfileId, Project, Task, TaskSummary,
};

/// The response to create-and-start: the task flat, and again beside its attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "TaskWithAttemptStatus"))]
pub struct StartedTask {
    #[serde(flatten)]
    pub summary: TaskSummary,
    pub attempts: Vec<Attempt>,
    pub task_attempt: Attempt,
    pub task: Task,
}

impl StartedTask {
    pub fn new(summary: TaskSummary, attempt: Attempt) -> Self {
        let task = summary.task.clone();
        Self { summary, attempts: vec![attempt.clone()], task_attempt: attempt, task }
    }
}

/// The task of an issue, flat like a started task, with its newest attempt when there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "TaskWithAttemptStatus"))]
pub struct TaskOfIssue {
    #[serde(flatten)]
    pub summary: TaskSummary,
    pub attempts: Vec<Attempt>,
    pub task_attempt: Option<Attempt>,
    pub task: Task,
    pub issue: IssueLink,
}

impl TaskOfIssue {
    pub fn new(summary: TaskSummary, attempt: Option<Attempt>, issue: IssueLink) -> Self {
        let task = summary.task.clone();
        Self { summary, attempts: attempt.iter().cloned().collect(), task_attempt: attempt, task, issue }
    }
}

/// A task in the list of its project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "TaskWithAttemptStatus"))]
pub struct TaskWithLatestAttempt {
    #[serde(flatten)]
    pub summary: TaskSummary,
    pub latest_attempt: Option<Attempt>,
}

/// A project to try things out, with scripted agents running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Demo {
    pub project: Project,
    pub tasks: Vec<Task>,
}

/// A [`CreateTask`] whose project the path names.
#[derive(Clone, Debug)]
pub struct CreateTaskHere;

impl JsonSchema for CreateTaskHere {
    fn schema_name() -> Cow<'static, str> {
        "CreateTaskHere".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = CreateTask::json_schema(generator);
        schema.remove("x-extends");
        if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            fields.remove("project_id");
        }
        if let Some(names) = schema.get_mut("required").and_then(Value::as_array_mut) {
            names.retain(|name| name != "project_id");
        }
        schema
    }
}

#[derive(Clone, Debug, JsonSchema)]
#[schemars(extend("x-extends" = "AttemptOptions"))]
pub struct CreateAndStartTaskHere {
    #[schemars(flatten)]
    pub options: CreateAttemptOptions,
    pub task: CreateTaskHere,
}

/// An attempt of the task that the path names.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StartAttempt {
    pub executor: ProfileId,
    pub base_branch: Option<String>,
    pub use_worktree: Option<bool>,
    pub max_cost_usd: Option<Budget>,
}
