//! Tools for attempts: starting them, talking to them and stopping them.
//!
//! Invariant: every result contains the attempt's id and where people see it.

use forge_core::{Forge, Page};
use forge_types::{
    Attempt, AttemptId, CreateAttempt, CreateAttemptOptions, FollowUp, ProjectId, Task, TaskId,
};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::argument::{Id, filled, kebab, profile};
use crate::mcp::tool::{Call, Outcome, tools};
use crate::mcp::{projects, tasks};

const USUAL_LIMIT: i64 = 50;

tools! {
    Starts start_task_attempt(StartArguments)
        "Starts an agent on a task, in a new worktree and branch. Returns at once; wait_for_attempt waits for the agent.";
    Reads list_task_attempts(ListArguments)
        "Lists attempts, newest first: of everything, of one project or of one task.";
    Reads get_task_attempt(AttemptArgument)
        "Shows one attempt: status, branch, target branch, worktree, executor and tokens used. For what it achieved see get_attempt_result.";
    Starts follow_up(FollowUpArguments)
        "Sends another message to the attempt's agent, which continues in the same worktree and conversation. A running agent gets it at once or after its turn.";
    Reads get_children(AttemptArgument)
        "Lists the tasks that an attempt spawned, and the task that its own task came from.";
    Replaces stop_task_attempt(AttemptArgument)
        "Stops everything that an attempt runs. Its work so far is kept, and follow_up continues it.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct AttemptArgument {
    /// The id of the attempt, from list_task_attempts.
    pub attempt_id: Id<AttemptId>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct StartArguments {
    /// The id of the task, from list_tasks.
    task_id: Id<TaskId>,
    /// The agent: CLAUDE_CODE, CODEX, GEMINI, OPENCODE and so on.
    executor: String,
    /// A variant of the agent, such as PLAN.
    variant: Option<String>,
    /// The branch to begin from, and to merge into later.
    base_branch: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ListArguments {
    /// Only attempts in this project.
    project_id: Option<Id<ProjectId>>,
    /// Only attempts at this task.
    task_id: Option<Id<TaskId>>,
    /// At most this many attempts; 50 when left out.
    limit: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct FollowUpArguments {
    /// The id of the attempt, from list_task_attempts.
    attempt_id: Id<AttemptId>,
    /// The message for the agent.
    #[serde(alias = "prompt")]
    message: String,
}

async fn start_task_attempt(call: Call, arguments: StartArguments) -> Outcome {
    let base =
        filled("base_branch", &arguments.base_branch, "the name of a branch; list_branches lists them")?;
    let start = CreateAttemptOptions {
        max_cost_usd: None,
        executor_profile_id: profile(&arguments.executor, arguments.variant)?,
        base_branch: Some(base.to_owned()),
        use_worktree: None,
        auto_pr: None,
    };
    let started =
        call.forge.create_attempt(CreateAttempt { task_id: arguments.task_id.0, start }, None).await?;
    let attempt = &started.attempt;
    Ok(json!({
        "task_id": attempt.task_id,
        "attempt_id": attempt.id,
        "branch": attempt.branch,
        "warning": started.warning,
        "url": url(&call.forge, attempt),
    })
    .into())
}

async fn list_task_attempts(call: Call, arguments: ListArguments) -> Outcome {
    let (project, task) = (arguments.project_id.map(|id| id.0), arguments.task_id.map(|id| id.0));
    let limit = arguments.limit.unwrap_or(USUAL_LIMIT).max(0);
    let attempts = call.forge.attempts(task, Page::default()).await?;
    let chosen =
        attempts.iter().filter(|attempt| project.is_none_or(|project| attempt.project_id == project));
    let list: Vec<Value> =
        chosen.take(limit as usize).map(|attempt| show_line(&call.forge, attempt)).collect();
    Ok(json!({
        "attempts": list,
        "count": list.len(),
        "applied_filters": {"project_id": project, "task_id": task, "limit": limit},
        "url": projects::url_of(&call.forge, project),
    })
    .into())
}

async fn get_task_attempt(call: Call, arguments: AttemptArgument) -> Outcome {
    let attempt = call.forge.attempt(arguments.attempt_id.0).await?;
    let mut shown = json!(attempt);
    shown["url"] = json!(url(&call.forge, &attempt));
    Ok(json!({"attempt_id": attempt.id, "task_attempt": shown}).into())
}

async fn follow_up(call: Call, arguments: FollowUpArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let message = filled("message", &arguments.message, "the message for the agent")?;
    let run = call.forge.follow_up(id, FollowUp::saying(message.to_owned()), None).await?;
    let attempt = call.forge.attempt(id).await?;
    let url = url(&call.forge, &attempt);
    Ok(json!({"success": true, "attempt_id": id, "process_id": run.id, "url": url}).into())
}

async fn stop_task_attempt(call: Call, arguments: AttemptArgument) -> Outcome {
    let id = arguments.attempt_id.0;
    call.forge.stop_attempt(id).await?;
    let attempt = call.forge.attempt(id).await?;
    Ok(json!({
        "stopped": true,
        "attempt_id": id,
        "status": attempt.status,
        "url": url(&call.forge, &attempt),
    })
    .into())
}

async fn get_children(call: Call, arguments: AttemptArgument) -> Outcome {
    let id = arguments.attempt_id.0;
    let relations = call.forge.task_relationships(id).await?;
    let children: Vec<Value> = relations.children.iter().map(|task| show_task(&call.forge, task)).collect();
    let parent = relations.parent_task.as_ref().map(|task| show_task(&call.forge, task));
    with_attempt(&call, id, json!({"children": children, "count": children.len(), "parent_task": parent}))
        .await
}

fn show_task(forge: &Forge, task: &Task) -> Value {
    json!({
        "id": task.id,
        "title": task.title,
        "status": kebab(task.status),
        "url": tasks::url(forge, task),
    })
}

/// Adds which attempt a result is about and where people see it.
pub(crate) async fn with_attempt(call: &Call, id: AttemptId, mut data: Value) -> Outcome {
    let attempt = call.forge.attempt(id).await?;
    data["attempt_id"] = json!(id);
    data["task_id"] = json!(attempt.task_id);
    data["branch"] = json!(attempt.branch);
    data["target_branch"] = json!(attempt.target_branch);
    data["url"] = json!(url(&call.forge, &attempt));
    Ok(data.into())
}

/// Where people see the attempt.
pub(crate) fn url(forge: &Forge, attempt: &Attempt) -> String {
    let base = forge.config().public_url.trim_end_matches('/');
    format!("{base}/projects/{}/tasks/{}/attempts/{}", attempt.project_id, attempt.task_id, attempt.id)
}

fn show_line(forge: &Forge, attempt: &Attempt) -> Value {
    json!({
        "id": attempt.id,
        "task_id": attempt.task_id,
        "project_id": attempt.project_id,
        "status": attempt.status,
        "branch": attempt.branch,
        "target_branch": attempt.target_branch,
        "executor": attempt.executor,
        "created_at": attempt.created_at,
        "updated_at": attempt.updated_at,
        "url": url(forge, attempt),
    })
}
