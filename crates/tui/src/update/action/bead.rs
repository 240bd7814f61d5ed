//! Actions on a bead.

use forge_types::{BeadsOf, ClaimBead, ProjectId, ReleaseBead, UpdateBead};

use super::{ask, call, confirm, post, put, refuse};
use crate::keys::Command;
use crate::message::{Outcome, Topic};
use crate::model::Section;
use crate::state::{Purpose, State};

pub(crate) const CHANGED: &[Topic] = &[Topic::Beads];
/// Most to least urgent.
const URGENCIES: std::ops::RangeInclusive<i64> = 0..=4;

/// Selects the beads of a project.
pub(crate) fn of(project: ProjectId) -> BeadsOf {
    BeadsOf { project_id: Some(project), workspace: None }
}

pub(crate) fn act(state: &mut State, command: Command, project: ProjectId, id: &str) -> Outcome {
    let Some(bead) = state.data.bead(id, project).cloned() else { return refuse(state, "the bead is gone") };
    let (path, of) = (format!("/api/beads/{id}"), of(project));
    match command {
        _ if bead.is_closed() => refuse(state, "it is closed"),
        Command::Claim => {
            let done = format!("{id} is yours");
            call(state, post(&format!("{path}/claim"), ClaimBead { of, worker: None }, &done, CHANGED))
        }
        Command::Release => {
            let release = post(
                &format!("{path}/release"),
                ReleaseBead { of, comment: None },
                &format!("{id} is available again"),
                CHANGED,
            );
            match bead.holder() {
                Some(holder) => confirm(state, format!("Take {id} away from {holder}?"), release),
                None => call(state, release),
            }
        }
        Command::Close => {
            let label = format!("close {id}, because");
            ask(state, label, Purpose::Close { project, bead: id.to_owned() })
        }
        Command::Raise | Command::Lower => {
            let by = if command == Command::Raise { -1 } else { 1 };
            let priority = bead.urgency() + by;
            if !URGENCIES.contains(&priority) {
                return refuse(state, "priorities range from P0 (most urgent) to P4");
            }
            let body = UpdateBead { of, priority: Some(priority), status: None };
            call(state, put(&path, body, &format!("{id} is P{priority} now"), CHANGED))
        }
        _ => refuse(state, "a bead has no such action"),
    }
}

/// Beads that are ready to start.
pub(crate) fn ready(state: &State) -> impl Iterator<Item = String> {
    let ready = state.data.beads.rows().iter().filter(|bead| bead.section() == Section::Ready);
    ready.map(|bead| bead.facts.id.clone())
}
