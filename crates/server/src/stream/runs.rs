//! The runs of an attempt: `/execution_processes/<id>`.
//!
//! Invariant: a run that is dropped disappears unless the client asked for dropped ones too.

use std::collections::BTreeMap;

use axum::extract::State;
use forge_core::Dropped;
use forge_types::wire::ExecutionProcess;
use forge_types::{AttemptId, Change, Event, EventRecord, Run, RunId};

use crate::App;
use crate::envelope::{Answer, Fault};
use crate::extract::Params;
use crate::routes::runs::read_dropped;
use crate::stream::delivery::Delivery;
use crate::stream::live::{Numbering, Start, frames, or_empty, start};
use crate::stream::patch::{put, remove};

pub(crate) async fn watch(
    State(app): State<App>,
    params: Params,
    delivery: Result<Delivery, Fault>,
) -> Answer {
    let (attempt, dropped) = (params.id("task_attempt_id")?, read_dropped(&params)?);
    let delivery = delivery?;
    let after = delivery.after();
    let (seq, snapshot) = match start(&app.forge, after) {
        Start::After(seq) => (seq, None),
        Start::Snapshot => {
            let found = app.forge.runs_snapshot(attempt, dropped).await;
            let (seq, runs) = or_empty(&app.forge, found)?;
            let runs: BTreeMap<RunId, _> =
                runs.into_iter().map(|run| (run.id, ExecutionProcess::from(run))).collect();
            (seq, Some(put("replace", "/execution_processes", &runs)))
        }
    };
    let show = move |record: &EventRecord| show(attempt, dropped, &record.event);
    delivery.send(&app, frames(&app.forge, Numbering::of(after), seq, snapshot, show)).await
}

fn show(attempt: AttemptId, dropped: Dropped, event: &Event) -> Option<String> {
    match event {
        Event::Run { change, run } if run.owner.attempt() == Some(attempt) => {
            Some(patch_run(*change, run, dropped))
        }
        Event::RunRemoved { id, attempt_id } if *attempt_id == Some(attempt) => Some(remove(&path(*id))),
        _ => None,
    }
}

pub(crate) fn patch_run(change: Change, run: &Run, dropped: Dropped) -> String {
    if run.dropped && dropped == Dropped::Hidden {
        return remove(&path(run.id));
    }
    let op = match change {
        Change::Created => "add",
        Change::Updated => "replace",
    };
    put(op, &path(run.id), &ExecutionProcess::from(run.clone()))
}

pub(crate) fn path(id: RunId) -> String {
    format!("/execution_processes/{id}")
}
