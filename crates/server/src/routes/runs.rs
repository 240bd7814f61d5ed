//! Runs, which the wire calls execution processes.
//!
//! Invariant: lists are oldest first and their last element carries the transcript, because clients take the last one.

use axum::extract::State;
use forge_core::{Dropped, Forge};
use forge_types::wire::ExecutionProcess;
use forge_types::{Run, RunId};

use crate::envelope::{Answer, Fault, ok};
use crate::extract::{Id, Params, cut};

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    let runs = forge.runs(params.id("task_attempt_id")?, read_dropped(&params)?).await?;
    let runs = cut(runs, params.page()?);
    let output = last_output(&forge, &runs).await;
    Ok(ok(ExecutionProcess::list(runs, output)))
}

pub(crate) async fn show(State(forge): State<Forge>, Id(id): Id<RunId>) -> Answer {
    let run = forge.run(id).await?;
    let output = forge.run_output(&run).await;
    Ok(ok(ExecutionProcess { output, ..run.into() }))
}

pub(crate) async fn stop(State(forge): State<Forge>, Id(id): Id<RunId>) -> Answer {
    Ok(ok(forge.stop_run(id).await?))
}

/// Whether the caller wants soft-deleted runs too.
pub(crate) fn read_dropped(params: &Params) -> Result<Dropped, Fault> {
    Ok(match params.flag("show_soft_deleted")? {
        true => Dropped::Shown,
        false => Dropped::Hidden,
    })
}

pub(crate) async fn last_output(forge: &Forge, runs: &[Run]) -> Option<String> {
    forge.run_output(runs.last()?).await
}
