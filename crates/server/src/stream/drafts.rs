//! The drafts of a project's attempts: `/drafts/<attempt>/follow_up|retry`.
//!
//! Invariant: every attempt of the project has its key, also one created after the snapshot, so that a later replace
//! always finds its parent.

use std::collections::BTreeMap;

use axum::extract::State;
use forge_types::wire::AttemptDrafts;
use forge_types::{AttemptId, Draft, DraftKind, Event, EventRecord, Millis, ProjectId};

use crate::App;
use crate::envelope::{Answer, Fault};
use crate::extract::Params;
use crate::stream::live::{Numbering, Start, frames, or_empty, start};
use crate::stream::patch::{put, remove};
use crate::stream::socket::Upgrade;

pub(crate) async fn watch(State(app): State<App>, params: Params, upgrade: Result<Upgrade, Fault>) -> Answer {
    let (project, after) = (params.id("project_id")?, params.after()?);
    let upgrade = upgrade?;
    let (seq, snapshot) = match start(&app.forge, after) {
        Start::After(seq) => (seq, None),
        Start::Snapshot => {
            let (seq, drafts) = or_empty(&app.forge, app.forge.drafts_snapshot(project).await)?;
            (seq, Some(patch_all(drafts)))
        }
    };
    let show = move |record: &EventRecord| show(project, &record.event);
    Ok(upgrade.send(&app, frames(&app.forge, Numbering::of(after), seq, snapshot, show)))
}

fn patch_all(drafts: Vec<(AttemptId, Vec<Draft>)>) -> String {
    let now = Millis::now();
    let drafts =
        drafts.into_iter().map(|(attempt, stored)| (attempt, AttemptDrafts::new(attempt, stored, now)));
    put("replace", "/drafts", &drafts.collect::<BTreeMap<_, _>>())
}

fn show(project: ProjectId, event: &Event) -> Option<String> {
    match event {
        Event::AttemptCreated { id, project_id, .. } if *project_id == project => {
            Some(put("add", &format!("/drafts/{id}"), &AttemptDrafts::new(*id, Vec::new(), Millis::now())))
        }
        Event::AttemptRemoved { id, project_id, .. } if *project_id == project => {
            Some(remove(&format!("/drafts/{id}")))
        }
        Event::Draft { attempt_id, project_id, kind, draft } if *project_id == project => {
            Some(patch_draft(*attempt_id, *kind, draft.as_ref()))
        }
        _ => None,
    }
}

/// A deleted follow-up draft is an empty one, a deleted retry draft is null.
pub(crate) fn patch_draft(attempt: AttemptId, kind: DraftKind, draft: Option<&Draft>) -> String {
    match kind {
        DraftKind::Retry => put("replace", &format!("/drafts/{attempt}/retry"), &draft),
        DraftKind::FollowUp => {
            let path = format!("/drafts/{attempt}/follow_up");
            match draft {
                Some(draft) => put("replace", &path, draft),
                None => put("replace", &path, &Draft::empty(attempt, Millis::now())),
            }
        }
    }
}
