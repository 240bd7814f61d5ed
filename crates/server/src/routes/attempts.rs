//! Attempts: starting, talking to and stopping them.
//!
//! Invariant: routes that need no body do not read one, since clients send anything there.

use axum::extract::State;
use forge_core::{AttemptsOf, Dropped, Forge};
use forge_types::wire::{ExecutionProcess, TaskAttemptDetail, newest_agent_run};
use forge_types::{AttemptId, CreateAttempt, FollowUp, ReplaceRun, SetBudget, SetUpAgent, TaskId};
use serde_json::{Value, json};

use crate::compat::Older;
use crate::envelope::{Answer, Fault, ok, warn};
use crate::extract::{Id, Params, Payload, decode_value};
use crate::once::Key;

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    let of = match (params.optional_id("task_id")?, params.optional_id("project_id")?) {
        (None, None) => AttemptsOf::All,
        (Some(task), None) => AttemptsOf::Task(task),
        (None, Some(project)) => AttemptsOf::Project(project),
        (Some(_), Some(_)) => {
            return Err(Fault::bad_request("project_id: not together with task_id; give one of them"));
        }
    };
    Ok(ok(forge.listed_attempts(of, params.page()?).await?))
}

pub(crate) async fn create(
    State(forge): State<Forge>,
    key: Key,
    Payload(request): Payload<CreateAttempt>,
) -> Answer {
    let started = forge.create_attempt(request, key.once()).await?;
    Ok(warn(started.attempt, started.warning))
}

/// The path names the task, and the profile may be called `executor`.
pub(crate) async fn start(
    state: State<Forge>,
    key: Key,
    Id(task): Id<TaskId>,
    Payload(mut body): Payload<Value>,
) -> Answer {
    if let Value::Object(fields) = &mut body {
        fields.insert("task_id".to_owned(), Value::String(task.to_string()));
        if let Some(executor) = fields.remove("executor") {
            fields.entry("executor_profile_id").or_insert(executor);
        }
    }
    create(state, key, Payload(decode_value(&body)?)).await
}

pub(crate) async fn show(State(forge): State<Forge>, Id(id): Id<AttemptId>) -> Answer {
    let attempt = forge.attempt(id).await?;
    let task = forge.task(attempt.task_id).await?;
    let runs = forge.runs(id, Dropped::Hidden).await?;
    let output = match newest_agent_run(&runs) {
        Some(run) => forge.run_output(run).await,
        None => None,
    };
    Ok(ok(TaskAttemptDetail::new(attempt, task, &runs, output)))
}

pub(crate) async fn follow_up(
    State(forge): State<Forge>,
    key: Key,
    Id(id): Id<AttemptId>,
    Payload(Older(request)): Payload<Older<FollowUp>>,
) -> Answer {
    Ok(ok(ExecutionProcess::from(forge.follow_up(id, request, key.once()).await?)))
}

pub(crate) async fn replace_run(
    State(forge): State<Forge>,
    Id(id): Id<AttemptId>,
    Payload(request): Payload<ReplaceRun>,
) -> Answer {
    Ok(ok(forge.replace_run(id, request).await?))
}

pub(crate) async fn set_up_agent(
    State(forge): State<Forge>,
    Id(id): Id<AttemptId>,
    Payload(request): Payload<SetUpAgent>,
) -> Answer {
    forge.set_up_agent(id, request).await?;
    Ok(ok(json!({})))
}

pub(crate) async fn set_budget(
    State(forge): State<Forge>,
    Id(id): Id<AttemptId>,
    Payload(request): Payload<SetBudget>,
) -> Answer {
    Ok(ok(forge.set_budget(id, request).await?))
}

pub(crate) async fn stop(State(forge): State<Forge>, Id(id): Id<AttemptId>) -> Answer {
    Ok(ok(forge.stop_attempt(id).await?))
}

pub(crate) async fn start_dev_server(State(forge): State<Forge>, Id(id): Id<AttemptId>) -> Answer {
    Ok(ok(forge.start_dev_server(id).await?))
}
