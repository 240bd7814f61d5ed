//! Tools for workers: agents that keep running in tmux sessions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use forge_core::WorkerEnd;
use forge_types::{SpawnWorker, WorkerId, WorkerTier};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::envelope::Fault;
use crate::mcp::argument::{Nothing, refuse};
use crate::mcp::projects::board;
use crate::mcp::tool::{Call, Outcome, tools};

/// How many alerts are listed.
const ALERTS: u32 = 100;

tools! {
    Reads list_workers(Nothing)
        "Lists the workers: agents that keep running in tmux sessions, with phase and health. Those that are not managed belong to others.";
    Reads get_worker(WorkerArgument)
        "Shows one worker: what it was started with, its health, its own status report, and the last lines of its pane.";
    Starts spawn_worker(SpawnArguments)
        "Starts a worker in a tmux session, from a definition or from a launcher and a workspace.";
    Replaces stop_worker(StopArguments)
        "Stops a worker with everything in its session. It is asked to leave first, and killed if it does not.";
    Starts send_to_worker(SendArguments)
        "Types one line into the pane of a worker, and presses Enter.";
    Reads list_alerts(Nothing)
        "Lists what a person should know about the workers, such as crashes; what is open comes first.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct WorkerArgument {
    /// The id of the worker, from list_workers.
    worker_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct SpawnArguments {
    /// A worker of workers.yaml, or a type in the folder workers.
    definition: Option<String>,
    /// Its id; generated if left out.
    worker_id: Option<String>,
    /// The name of a launcher (claude-code, codex, glm, opencode, scripted, or one of your own), or its absolute path.
    launcher: Option<String>,
    /// The model that the agent uses.
    model: Option<String>,
    /// What the model costs: premium, standard, budget or free.
    tier: Option<String>,
    /// The absolute path of the directory in which it works.
    workspace: Option<PathBuf>,
    /// The bead that it works on.
    bead: Option<String>,
    /// More variables for the launcher and the agent.
    env: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct StopArguments {
    /// The id of the worker, from list_workers.
    worker_id: String,
    /// Kill it without asking it first.
    kill: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct SendArguments {
    /// The id of the worker, from list_workers.
    worker_id: String,
    /// One line, without a line break.
    line: String,
}

async fn list_workers(call: Call, _: Nothing) -> Outcome {
    let workers = call.forge.workers().await?;
    Ok(json!({"count": workers.len(), "workers": workers, "url": board(&call.forge)}).into())
}

async fn get_worker(call: Call, arguments: WorkerArgument) -> Outcome {
    let id = parse(&arguments.worker_id)?;
    let listed = call.forge.listed_worker(&id).await?;
    let pane = match listed.has_session {
        true => call.forge.peek_worker(&id, 50).await.ok(),
        false => None,
    };
    Ok(json!({"worker": listed, "pane": pane, "url": board(&call.forge)}).into())
}

async fn spawn_worker(call: Call, arguments: SpawnArguments) -> Outcome {
    let tier = match arguments.tier.as_deref() {
        None => None,
        Some(word) => Some(WorkerTier::parse(word).ok_or_else(|| {
            refuse(format!("tier: '{word}' is not allowed; allowed: premium, standard, budget, free"))
        })?),
    };
    let wanted = SpawnWorker {
        definition: arguments.definition,
        id: arguments.worker_id.as_deref().map(parse).transpose()?,
        launcher: arguments.launcher,
        model: arguments.model,
        tier,
        workspace: arguments.workspace,
        bead: arguments.bead,
        env: arguments.env.unwrap_or_default(),
        ..SpawnWorker::default()
    };
    let worker = call.forge.spawn_worker(wanted).await?.shown();
    Ok(json!({"worker": worker, "url": board(&call.forge)}).into())
}

async fn stop_worker(call: Call, arguments: StopArguments) -> Outcome {
    let how = if arguments.kill == Some(true) { WorkerEnd::Kill } else { WorkerEnd::default() };
    let stopped = call.forge.stop_worker(&parse(&arguments.worker_id)?, how).await?;
    Ok(json!({"worker": stopped.shown(), "url": board(&call.forge)}).into())
}

async fn send_to_worker(call: Call, arguments: SendArguments) -> Outcome {
    call.forge.send_to_worker(&parse(&arguments.worker_id)?, &arguments.line).await?;
    let sent = json!({"worker_id": arguments.worker_id, "sent": arguments.line, "url": board(&call.forge)});
    Ok(sent.into())
}

async fn list_alerts(call: Call, _: Nothing) -> Outcome {
    let alerts = call.forge.alerts(ALERTS).await?;
    let open = alerts.iter().filter(|alert| alert.resolved_at.is_none()).count();
    Ok(json!({"open": open, "alerts": alerts, "url": board(&call.forge)}).into())
}

fn parse(id: &str) -> Result<WorkerId, Fault> {
    id.trim().parse().map_err(|error| refuse(format!("worker_id: {error}")))
}
