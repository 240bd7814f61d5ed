//! Workers: agents in tmux sessions.
//!
//! Invariant: only the names of a worker's variables are shown; what the engine returns is masked here.

use std::time::Duration;

use axum::extract::{Path, State};
use forge_core::{Forge, WorkerEnd};
use forge_types::wire::{PauseWorker, ReassignWorker, SendToWorker, StopWorker, WorkerPane};
use forge_types::{SpawnWorker, WorkerId};

use crate::envelope::{Answer, Fault, ok};
use crate::extract::{OptionalPayload, Params, Payload};

/// How many lines of a pane are shown by default.
const PEEK_LINES: usize = 50;
pub(crate) const PEEK_MAX: usize = 10_000;
/// The longest that a worker may take to leave when it is asked to.
const PATIENCE_MAX_S: u64 = 600;

pub(crate) async fn list(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.workers().await?))
}

pub(crate) async fn spawn(State(forge): State<Forge>, Payload(wanted): Payload<SpawnWorker>) -> Answer {
    Ok(ok(forge.spawn_worker(wanted).await?.shown()))
}

pub(crate) async fn show(State(forge): State<Forge>, Path(id): Path<String>) -> Answer {
    Ok(ok(forge.listed_worker(&parse(&id)?).await?))
}

pub(crate) async fn delete(State(forge): State<Forge>, Path(id): Path<String>) -> Answer {
    Ok(ok(forge.delete_worker(&parse(&id)?).await?))
}

pub(crate) async fn stop(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    OptionalPayload(wanted): OptionalPayload<StopWorker>,
) -> Answer {
    let how = match wanted.timeout_secs {
        Some(secs) => WorkerEnd::Ask(Duration::from_secs(secs.min(PATIENCE_MAX_S))),
        None => WorkerEnd::default(),
    };
    Ok(ok(forge.stop_worker(&parse(&id)?, how).await?.shown()))
}

pub(crate) async fn kill(State(forge): State<Forge>, Path(id): Path<String>) -> Answer {
    Ok(ok(forge.stop_worker(&parse(&id)?, WorkerEnd::Kill).await?.shown()))
}

pub(crate) async fn restart(State(forge): State<Forge>, Path(id): Path<String>) -> Answer {
    Ok(ok(forge.restart_worker(&parse(&id)?).await?.shown()))
}

pub(crate) async fn pause(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    OptionalPayload(wanted): OptionalPayload<PauseWorker>,
) -> Answer {
    Ok(ok(forge.pause_worker(&parse(&id)?, wanted.reason.trim(), wanted.freeze).await?.shown()))
}

pub(crate) async fn resume(State(forge): State<Forge>, Path(id): Path<String>) -> Answer {
    Ok(ok(forge.resume_worker(&parse(&id)?).await?.shown()))
}

pub(crate) async fn send(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    Payload(wanted): Payload<SendToWorker>,
) -> Answer {
    Ok(ok(forge.send_to_worker(&parse(&id)?, &wanted.line).await?))
}

pub(crate) async fn interrupt(State(forge): State<Forge>, Path(id): Path<String>) -> Answer {
    Ok(ok(forge.interrupt_worker(&parse(&id)?).await?))
}

pub(crate) async fn adopt(State(forge): State<Forge>, Path(id): Path<String>) -> Answer {
    Ok(ok(forge.adopt_worker(&parse(&id)?).await?.shown()))
}

pub(crate) async fn reassign(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    Payload(wanted): Payload<ReassignWorker>,
) -> Answer {
    Ok(ok(forge.reassign_worker(&parse(&id)?, wanted.bead.trim()).await?.shown()))
}

pub(crate) async fn launchers(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.launchers().await?))
}

pub(crate) async fn definitions(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.worker_definitions().await?))
}

pub(crate) async fn peek(State(forge): State<Forge>, Path(id): Path<String>, params: Params) -> Answer {
    let lines = params.number("lines", 1, PEEK_MAX)?.unwrap_or(PEEK_LINES);
    let text = forge.peek_worker(&parse(&id)?, lines).await?;
    Ok(ok(WorkerPane { text }))
}

pub(crate) async fn health(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.workers_health().await?))
}

fn parse(id: &str) -> Result<WorkerId, Fault> {
    id.parse().map_err(|error| Fault::bad_request(format!("worker_id: {error}")))
}
