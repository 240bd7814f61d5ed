//! Actions on a worker. An unmanaged one can only be viewed until it is adopted.

use forge_types::wire::ListedWorker;
use forge_types::{Worker, WorkerId, WorkerPhase};
use serde_json::json;

use super::{ask, call, confirm, delete, open, post, refuse};
use crate::field::Field;
use crate::keys::Command;
use crate::message::{Attach, Effect, Outcome, Topic};
use crate::model::{Section, is_kept};
use crate::state::{Form, Input, Makes, Overlay, Purpose, Slot, State};

const CHANGED: &[Topic] = &[Topic::Workers, Topic::Beads];

pub(crate) fn act(state: &mut State, command: Command, id: &WorkerId) -> Outcome {
    let Some(worker) = state.data.worker(id).cloned() else { return refuse(state, "the worker is gone") };
    match command {
        Command::Peek => peek(state, id),
        Command::Attach if !worker.has_session => refuse(state, "its session is gone"),
        Command::Attach => {
            let args = ["worker", "attach", id.as_str()].map(str::to_owned).into();
            Outcome::nothing().with(Effect::Attach(Attach { args, is_read: false }))
        }
        Command::Adopt if worker.managed => refuse(state, "Forge manages it already"),
        Command::Adopt => {
            let question = format!(
                "Adopt the session {}? Forge then monitors it and can stop it.",
                worker.worker.session
            );
            confirm(state, question, verb(id, "adopt", "adopted"))
        }
        _ if !worker.managed => refuse(state, "Forge does not manage it; press a to adopt it"),
        command => act_on_ours(state, command, &worker),
    }
}

fn verb(id: &WorkerId, verb: &str, done: &str) -> crate::message::Call {
    post(&format!("/api/workers/{id}/{verb}"), json!({}), &format!("{done} {id}"), CHANGED)
}

fn act_on_ours(state: &mut State, command: Command, listed: &ListedWorker) -> Outcome {
    let (worker, is_kept) = (&listed.worker, is_kept(listed));
    let id = &worker.id;
    let bead = worker.bead.as_ref().map(|bead| format!(" Its bead {} goes back to the queue.", bead.id));
    let bead = bead.unwrap_or_default();
    match command {
        Command::Stop | Command::Kill | Command::Pause | Command::Send | Command::Interrupt if !is_kept => {
            refuse(state, "it has ended; r restarts it")
        }
        Command::Stop => {
            let question = format!("Stop worker {id}? It is asked to end, and killed if it does not.{bead}");
            confirm(state, question, verb(id, "stop", "stopped"))
        }
        Command::Kill => {
            let question = format!("Kill worker {id} at once? Unsaved work is lost.{bead}");
            confirm(state, question, verb(id, "kill", "killed"))
        }
        Command::Restart => {
            let lost = if is_kept { " Unsaved work is lost." } else { "" };
            let question = format!("Restart worker {id} as it was?{lost} Running the agent costs money.");
            confirm(state, question, verb(id, "restart", "restarted"))
        }
        Command::Pause if worker.phase == WorkerPhase::Running => call(state, verb(id, "pause", "paused")),
        Command::Pause => call(state, verb(id, "resume", "resumed")),
        Command::Interrupt => call(state, verb(id, "interrupt", "interrupted")),
        Command::Send => ask(state, format!("type into {id}"), Purpose::Send { worker: id.clone() }),
        Command::Forget if is_kept => refuse(state, "it is still running; s stops it"),
        Command::Forget => {
            let question = format!("Remove {id} from the list? It can no longer be restarted.");
            confirm(state, question, delete(&format!("/api/workers/{id}"), &format!("removed {id}"), CHANGED))
        }
        Command::Reassign => match reassign_form(state, worker) {
            Some(form) => open(state, form),
            None => refuse(state, "no bead is ready in its workspace"),
        },
        _ => refuse(state, "a worker has no such action"),
    }
}

fn peek(state: &mut State, id: &WorkerId) -> Outcome {
    state.overlay = Some(Overlay::Peek { worker: id.clone(), text: None });
    Outcome::redraw().with(Effect::Peek(Some(id.clone())))
}

/// Only beads of its workspace can be assigned.
fn reassign_form(state: &State, worker: &Worker) -> Option<Form> {
    let workspace = worker.workspace.to_str()?;
    let project = state.data.projects.rows().iter().find(|project| project.git_repo_path == workspace)?.id;
    let beads = state.data.beads.rows().iter();
    let ready = beads.filter(|bead| bead.project == project && bead.section() == Section::Ready);
    let choices: Vec<String> = ready.map(|bead| bead.facts.id.clone()).collect();
    let bead = Input {
        field: Field::new(choices.first()?),
        choices,
        ..super::form::input(Slot::Bead, "Bead", "Left and Right choose among the ready ones", true)
    };
    Some(Form {
        title: "Give the worker another bead",
        fields: vec![bead],
        focus: 0,
        makes: Makes::Reassign(worker.id.clone()),
        complaint: None,
    })
}
