//! Tools for errands, which the wire calls execution runs: an agent without a task.
//!
//! Invariant: an errand is shown with the contract's names.

use forge_types::{CreateErrand, Errand, ErrandId, ProjectId};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::argument::{Id, filled, profile};
use crate::mcp::projects;
use crate::mcp::tool::{Call, Outcome, tools};

tools! {
    Starts start_execution_run(StartArguments)
        "Runs an agent once in its own worktree, without a task on the board. Its work is not merged; use a task for that.";
    Reads list_execution_runs(ListArguments)
        "Lists execution runs (agents without a task), of everything or of one project.";
    Reads get_execution_run(ErrandArgument)
        "Shows one execution run with its prompt and the state of its processes.";
    Replaces stop_execution_run(ErrandArgument)
        "Stops the agent of an execution run. What it did so far stays in its worktree.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct StartArguments {
    /// The id of the project, from list_projects.
    project_id: Id<ProjectId>,
    /// The prompt of the agent.
    prompt: String,
    /// The agent: CLAUDE_CODE, CODEX, GEMINI, OPENCODE and so on.
    executor: String,
    /// A variant of the agent, such as PLAN.
    variant: Option<String>,
    /// The branch to begin from; the project's own when left out.
    base_branch: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ListArguments {
    /// Only execution runs in this project.
    project_id: Option<Id<ProjectId>>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ErrandArgument {
    /// The id of the execution run, from list_execution_runs.
    execution_run_id: Id<ErrandId>,
}

async fn start_execution_run(call: Call, arguments: StartArguments) -> Outcome {
    let request = CreateErrand {
        project_id: arguments.project_id.0,
        prompt: filled("prompt", &arguments.prompt, "a prompt for the agent")?.to_owned(),
        executor_profile_id: profile(&arguments.executor, arguments.variant)?,
        base_branch: arguments.base_branch.filter(|name| !name.trim().is_empty()),
    };
    let started = call.forge.start_errand(request).await?;
    let errand = &started.errand;
    Ok(json!({
        "execution_run_id": errand.id,
        "project_id": errand.project_id,
        "branch": errand.branch,
        "warning": started.warning,
        "url": projects::url(&call.forge, errand.project_id),
    })
    .into())
}

async fn list_execution_runs(call: Call, arguments: ListArguments) -> Outcome {
    let project_id = arguments.project_id.map(|id| id.0);
    let errands = call.forge.errands(project_id).await?;
    let list: Vec<Value> = errands.iter().map(|errand| show(&call, errand)).collect();
    let url = projects::url_of(&call.forge, project_id);
    Ok(json!({"runs": list, "count": list.len(), "url": url}).into())
}

async fn get_execution_run(call: Call, arguments: ErrandArgument) -> Outcome {
    let errand = call.forge.errand(arguments.execution_run_id.0).await?;
    let runs = call.forge.errand_runs(errand.id).await?;
    let mut shown = show(&call, &errand);
    shown["prompt"] = json!(errand.prompt);
    shown["status"] = json!(runs.last().map(|run| run.status));
    shown["final_message"] = json!(runs.last().and_then(|run| run.summary.as_deref()));
    Ok(shown.into())
}

async fn stop_execution_run(call: Call, arguments: ErrandArgument) -> Outcome {
    let id = arguments.execution_run_id.0;
    call.forge.stop_errand(id).await?;
    let errand = call.forge.errand(id).await?;
    let url = projects::url(&call.forge, errand.project_id);
    Ok(json!({"stopped": true, "execution_run_id": id, "project_id": errand.project_id, "url": url}).into())
}

fn show(call: &Call, errand: &Errand) -> Value {
    json!({
        "id": errand.id,
        "project_id": errand.project_id,
        "branch": errand.branch,
        "target_branch": errand.target_branch,
        "executor": errand.executor,
        "created_at": errand.created_at,
        "url": projects::url(&call.forge, errand.project_id),
    })
}
