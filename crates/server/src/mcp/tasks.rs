//! Tools for tasks.
//!
//! Invariant: a status is read in every spelling and written with hyphens.

use forge_core::Forge;
use forge_types::{
    AttemptId, CreateAttemptOptions, CreateTask, Image, ProjectId, StartTask, Task, TaskId, TaskSummary,
    UpdateTask,
};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::argument::{Id, TaskArgument, filled, kebab, profile, status};
use crate::mcp::tool::{Call, Outcome, tools};
use crate::mcp::{attempts, projects};

const USUAL_LIMIT: i64 = 50;

tools! {
    Reads list_tasks(ListArguments)
        "Lists the tasks of a project, newest first, all or those of one status.";
    Reads get_task(TaskArgument)
        "Shows one task with its description and whether an attempt runs, was merged or failed.";
    Adds create_task(CreateArguments)
        "Adds a task to a project without starting it. start_task_attempt starts it; create_task_and_start does both.";
    Starts create_task_and_start(StartArguments)
        "Adds a task and starts an agent on it in a new worktree. Title and description are the agent's prompt. Then call wait_for_attempt.";
    Starts create_and_start_task(StartArguments)
        "The same as create_task_and_start, under its older name.";
    Replaces update_task(UpdateArguments)
        "Changes title, description, status or labels of a task. What is left out stays.";
    Reads list_task_images(TaskArgument)
        "Lists the images of a task: where its agents find each in their worktree, and where it can be downloaded.";
    Replaces delete_task(TaskArgument)
        "Removes a task and its attempts from Forge. Their branches stay, and the work in their worktrees is kept. Refused while an agent runs.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ListArguments {
    /// The id of the project, from list_projects.
    project_id: Id<ProjectId>,
    /// Only tasks with this status: todo, in-progress, in-review, done, cancelled, agent or archived.
    status: Option<String>,
    /// At most this many tasks; 50 when left out.
    limit: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct CreateArguments {
    /// The id of the project, from list_projects.
    project_id: Id<ProjectId>,
    /// What is to be done, in one line.
    title: String,
    /// Everything else that the agent has to know.
    description: Option<String>,
    /// Words to find it by, at most 20.
    labels: Option<Vec<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct StartArguments {
    /// The id of the project, from list_projects.
    project_id: Id<ProjectId>,
    /// What is to be done, in one line.
    title: String,
    /// Everything else that the agent has to know.
    description: Option<String>,
    /// Words to find it by, at most 20.
    labels: Option<Vec<String>>,
    /// The agent: CLAUDE_CODE, CODEX, GEMINI, OPENCODE and so on.
    executor: String,
    /// A variant of the agent, such as PLAN.
    variant: Option<String>,
    /// The branch to begin from, and to merge into later.
    base_branch: String,
    /// The attempt that this task comes from.
    parent_task_attempt: Option<Id<AttemptId>>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct UpdateArguments {
    /// The id of the task, from list_tasks.
    task_id: Id<TaskId>,
    /// New title.
    title: Option<String>,
    /// New description; blank removes it.
    description: Option<String>,
    /// New status: todo, in-progress, in-review, done, cancelled, agent or archived.
    status: Option<String>,
    /// New labels that replace all; an empty list removes them.
    labels: Option<Vec<String>>,
}

async fn list_tasks(call: Call, arguments: ListArguments) -> Outcome {
    let id = arguments.project_id.0;
    let wanted = arguments.status.as_deref().map(status).transpose()?;
    let limit = arguments.limit.unwrap_or(USUAL_LIMIT).max(0);
    let tasks = tasks_of(&call.forge, id).await?;
    let chosen = tasks.iter().filter(|summary| wanted.is_none_or(|wanted| summary.task.status == wanted));
    let list: Vec<Value> =
        chosen.take(limit as usize).map(|summary| show_line(&call.forge, summary)).collect();
    Ok(json!({
        "tasks": list,
        "count": list.len(),
        "project_id": id,
        "url": projects::url(&call.forge, id),
        "applied_filters": {"status": wanted.map(kebab), "limit": limit},
    })
    .into())
}

/// The tasks of a project that exists, newest first.
pub(crate) async fn tasks_of(forge: &Forge, id: ProjectId) -> Result<Vec<TaskSummary>, forge_core::Error> {
    forge.project(id).await?;
    Ok(forge.tasks_snapshot(id).await?.1)
}

async fn get_task(call: Call, arguments: TaskArgument) -> Outcome {
    let summary = call.forge.task_summary(arguments.task_id.0).await?;
    Ok(json!({"task": show(&call.forge, &summary)}).into())
}

async fn create_task(call: Call, arguments: CreateArguments) -> Outcome {
    let request = CreateTask {
        project_id: arguments.project_id.0,
        title: title(&arguments.title)?,
        description: arguments.description,
        parent_task_attempt: None,
        image_ids: None,
        labels: arguments.labels,
    };
    let task = call.forge.create_task(request, None).await?;
    let url = url(&call.forge, &task);
    Ok(json!({"task_id": task.id, "project_id": task.project_id, "url": url}).into())
}

async fn create_task_and_start(call: Call, arguments: StartArguments) -> Outcome {
    let base =
        filled("base_branch", &arguments.base_branch, "the name of a branch; list_branches lists them")?;
    let request = StartTask {
        start: CreateAttemptOptions {
            max_cost_usd: None,
            executor_profile_id: profile(&arguments.executor, arguments.variant)?,
            base_branch: Some(base.to_owned()),
            use_worktree: None,
            auto_pr: None,
        },
        task: CreateTask {
            project_id: arguments.project_id.0,
            title: title(&arguments.title)?,
            description: arguments.description,
            parent_task_attempt: arguments.parent_task_attempt.map(|id| id.0),
            image_ids: None,
            labels: arguments.labels,
        },
    };
    let started = call.forge.start_task(request, None).await?;
    let mut shown = show(&call.forge, &started.task);
    shown["project_id"] = json!(started.task.task.project_id);
    shown["task_id"] = json!(started.task.task.id);
    shown["attempt_id"] = json!(started.attempt.id);
    shown["branch"] = json!(started.attempt.branch);
    shown["warning"] = json!(started.warning);
    shown["url"] = json!(attempts::url(&call.forge, &started.attempt));
    Ok(shown.into())
}

async fn create_and_start_task(call: Call, arguments: StartArguments) -> Outcome {
    create_task_and_start(call, arguments).await
}

async fn update_task(call: Call, arguments: UpdateArguments) -> Outcome {
    let id = arguments.task_id.0;
    let request = UpdateTask {
        title: arguments.title.as_deref().map(title).transpose()?,
        description: arguments.description,
        status: arguments.status.as_deref().map(status).transpose()?,
        labels: arguments.labels,
        ..UpdateTask::default()
    };
    call.forge.update_task(id, request).await?;
    let summary = call.forge.task_summary(id).await?;
    Ok(json!({"task": show(&call.forge, &summary)}).into())
}

async fn list_task_images(call: Call, arguments: TaskArgument) -> Outcome {
    let task = call.forge.task(arguments.task_id.0).await?;
    let images = call.forge.task_images(task.id).await?;
    let list: Vec<Value> = images.iter().map(|image| show_image(&call.forge, image)).collect();
    let url = url(&call.forge, &task);
    Ok(json!({"task_id": task.id, "images": list, "count": list.len(), "url": url}).into())
}

fn show_image(forge: &Forge, image: &Image) -> Value {
    let base = forge.config().public_url.trim_end_matches('/');
    json!({
        "id": image.id,
        "name": image.original_name,
        "file_path": image.file_path,
        "mime_type": image.mime_type,
        "size_bytes": image.size_bytes,
        "url": format!("{base}/api/images/{}/file", image.id),
    })
}

async fn delete_task(call: Call, arguments: TaskArgument) -> Outcome {
    let task = call.forge.task(arguments.task_id.0).await?;
    call.forge.delete_task(task.id).await?;
    let url = projects::url(&call.forge, task.project_id);
    Ok(json!({"deleted_task_id": task.id, "project_id": task.project_id, "url": url}).into())
}

fn title(text: &str) -> Result<String, crate::envelope::Fault> {
    filled("title", text, "what is to be done, in one line").map(str::to_owned)
}

/// Where people see the task.
pub(crate) fn url(forge: &Forge, task: &Task) -> String {
    let base = forge.config().public_url.trim_end_matches('/');
    format!("{base}/projects/{}/tasks/{}", task.project_id, task.id)
}

/// A task as lists show it.
pub(crate) fn show_line(forge: &Forge, summary: &TaskSummary) -> Value {
    let task = &summary.task;
    let mut shown = json!({
        "id": task.id,
        "title": task.title,
        "status": kebab(task.status),
        "created_at": task.created_at,
        "updated_at": task.updated_at,
        "has_in_progress_attempt": summary.has_in_progress_attempt,
        "has_merged_attempt": summary.has_merged_attempt,
        "last_attempt_failed": summary.last_attempt_failed,
        "url": url(forge, task),
    });
    if !task.labels.is_empty() {
        shown["labels"] = json!(task.labels);
    }
    shown
}

fn show(forge: &Forge, summary: &TaskSummary) -> Value {
    let mut shown = show_line(forge, summary);
    shown["project_id"] = json!(summary.task.project_id);
    shown["description"] = json!(summary.task.description);
    shown
}
