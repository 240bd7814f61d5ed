//! Tools for runs, which the wire calls execution processes: the past and current processes of an attempt.
//!
//! Invariant: a process is shown with the contract's names, and with the attempt that it belongs to.

use forge_core::Dropped;
use forge_types::{Run, RunId};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::argument::Id;
use crate::mcp::attempts::{AttemptArgument, with_attempt};
use crate::mcp::projects;
use crate::mcp::results::show_run;
use crate::mcp::tool::{Call, Outcome, tools};

tools! {
    Reads list_processes(AttemptArgument)
        "Lists the processes of an attempt, oldest first: setup script, agent, cleanup script and dev server, with status and exit code.";
    Reads get_process(ProcessArgument)
        "Shows one process of an attempt: status, exit code, the prompt of its agent and its final message.";
    Replaces stop_process(ProcessArgument)
        "Stops one process of an attempt and lets the others run; stop_task_attempt stops all of them.";
    Starts start_dev_server(AttemptArgument)
        "Starts the project's dev script in an attempt's worktree. A project has one dev server: another one is stopped.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ProcessArgument {
    /// The id of the process, from list_processes.
    process_id: Id<RunId>,
}

async fn list_processes(call: Call, arguments: AttemptArgument) -> Outcome {
    let id = arguments.attempt_id.0;
    call.forge.attempt(id).await?;
    let runs = call.forge.runs(id, Dropped::Hidden).await?;
    let list: Vec<Value> = runs.iter().map(show_run).collect();
    with_attempt(&call, id, json!({"processes": list, "count": list.len()})).await
}

async fn get_process(call: Call, arguments: ProcessArgument) -> Outcome {
    let run = call.forge.run(arguments.process_id.0).await?;
    show(&call, &run).await
}

async fn stop_process(call: Call, arguments: ProcessArgument) -> Outcome {
    let id = arguments.process_id.0;
    call.forge.stop_run(id).await?;
    show(&call, &call.forge.run(id).await?).await
}

async fn start_dev_server(call: Call, arguments: AttemptArgument) -> Outcome {
    let id = arguments.attempt_id.0;
    call.forge.start_dev_server(id).await?;
    with_attempt(&call, id, json!({"started": true})).await
}

async fn show(call: &Call, run: &Run) -> Outcome {
    let mut shown = show_run(run);
    shown["prompt"] = json!(run.action.prompt());
    shown["final_message"] = json!(run.summary);
    let data = json!({"process_id": run.id, "process": shown});
    match run.owner.attempt() {
        Some(id) => with_attempt(call, id, data).await,
        None => with_errand(call, run, data).await,
    }
}

/// A run without an attempt belongs to an execution run.
async fn with_errand(call: &Call, run: &Run, mut data: Value) -> Outcome {
    if let Some(id) = run.owner.errand() {
        let errand = call.forge.errand(id).await?;
        data["execution_run_id"] = json!(id);
        data["url"] = json!(projects::url(&call.forge, errand.project_id));
    }
    Ok(data.into())
}
