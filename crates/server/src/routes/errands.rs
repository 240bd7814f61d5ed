//! Errands, which the wire calls execution runs.
//!
//! Invariant: an errand serialises as the contract's execution run; its runs are execution processes.

use axum::extract::State;
use forge_core::Forge;
use forge_types::wire::{ExecutionProcess, StartedExecutionRun};
use forge_types::{CreateErrand, ErrandId, FollowUpErrand};

use crate::compat::Older;
use crate::envelope::{Answer, ok, warn};
use crate::extract::{Id, Params, Payload, cut};
use crate::routes::runs::last_output;

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    let page = params.page()?;
    let errands = forge.errands(params.optional_id("project_id")?).await?;
    Ok(ok(cut(errands, page)))
}

pub(crate) async fn start(State(forge): State<Forge>, Payload(request): Payload<CreateErrand>) -> Answer {
    let started = forge.start_errand(request).await?;
    let execution_process = started.run.map(ExecutionProcess::from);
    Ok(warn(StartedExecutionRun { execution_run: started.errand, execution_process }, started.warning))
}

pub(crate) async fn show(State(forge): State<Forge>, Id(id): Id<ErrandId>) -> Answer {
    Ok(ok(forge.errand(id).await?))
}

pub(crate) async fn follow_up(
    State(forge): State<Forge>,
    Id(id): Id<ErrandId>,
    Payload(Older(request)): Payload<Older<FollowUpErrand>>,
) -> Answer {
    Ok(ok(ExecutionProcess::from(forge.follow_up_errand(id, request).await?)))
}

pub(crate) async fn stop(State(forge): State<Forge>, Id(id): Id<ErrandId>) -> Answer {
    Ok(ok(forge.stop_errand(id).await?))
}

pub(crate) async fn runs(State(forge): State<Forge>, Id(id): Id<ErrandId>, params: Params) -> Answer {
    let page = params.page()?;
    let runs = cut(forge.errand_runs(id).await?, page);
    let output = last_output(&forge, &runs).await;
    Ok(ok(ExecutionProcess::list(runs, output)))
}
