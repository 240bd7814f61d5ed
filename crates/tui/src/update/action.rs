//! Actions on the selected row: a request at once, after a confirmation, or after typed input.
//!
//! Invariant: where work or money is at stake, nothing is sent before the person confirms.

mod bead;
mod form;
mod worker;

use forge_types::wire::{PendingApproval, PlainAnswer, SendToWorker};
use forge_types::{CloseBead, FollowUp, ListedAttempt, TaskId};
use serde::Serialize;
use serde_json::json;

use crate::field::Field;
use crate::keys::Command;
use crate::message::{Attach, Call, Effect, Method, Outcome, Topic};
use crate::model::{is_live, short};
use crate::rows::table;
use crate::state::{Form, Overlay, Purpose, State, Subject, View};
pub(crate) use form::{renew, submit};

const NO_PROJECT: &str = "there is no project yet; run `forge project add` in a repository";

pub(crate) fn act(state: &mut State, command: Command) -> Outcome {
    let subject = table(state).subject();
    // Whatever the action does to the list, the next key acts on the same row.
    state.look_mut().selected = subject.clone();
    match (command, subject) {
        (Command::New, _) => {
            let form = match state.view {
                View::Workers => Some(form::worker_form(state)),
                View::Beads => form::bead_form(state),
                _ => form::task_form(state),
            };
            match form {
                Some(form) => open(state, form),
                None => refuse(state, NO_PROJECT),
            }
        }
        (Command::AcknowledgeAll, _) => {
            call(state, post("/api/alerts/ack-all", json!({}), "all alerts acknowledged", &[Topic::Alerts]))
        }
        (_, None) => refuse(state, "nothing is selected"),
        (Command::Acknowledge, Some(Subject::Alert(id))) => {
            let path = format!("/api/alerts/{id}/ack");
            call(state, post(&path, json!({}), "alert acknowledged", &[Topic::Alerts]))
        }
        (Command::Approve | Command::Deny, Some(subject)) => answer_question(state, command, &subject),
        (command, Some(Subject::Worker(id))) => worker::act(state, command, &id),
        (command, Some(Subject::Bead { project, id })) => bead::act(state, command, project, &id),
        (Command::Open, Some(Subject::Task(id))) => open_task(state, id),
        (command, Some(subject)) => match attempt_of(state, &subject).cloned() {
            Some(attempt) => act_on_attempt(state, command, &attempt),
            None => refuse(state, "this row is not an attempt"),
        },
    }
}

fn refuse(state: &mut State, why: &str) -> Outcome {
    state.complain(why);
    Outcome::redraw()
}

fn open(state: &mut State, form: Form) -> Outcome {
    state.overlay = Some(Overlay::Form(form));
    Outcome::redraw()
}

fn ask(state: &mut State, label: String, purpose: Purpose) -> Outcome {
    state.overlay = Some(Overlay::Ask { label, purpose, field: Field::default() });
    Outcome::redraw()
}

fn confirm(state: &mut State, question: String, call: Call) -> Outcome {
    state.overlay = Some(Overlay::Confirm { question, call });
    Outcome::redraw()
}

fn post(path: &str, body: impl Serialize, done: &str, reload: &[Topic]) -> Call {
    let (path, done) = (path.to_owned(), done.to_owned());
    Call { method: Method::POST, path, body: json!(body), done, reload: reload.to_vec() }
}

fn put(path: &str, body: impl Serialize, done: &str, reload: &[Topic]) -> Call {
    Call { method: Method::PUT, ..post(path, body, done, reload) }
}

fn delete(path: &str, done: &str, reload: &[Topic]) -> Call {
    Call { method: Method::DELETE, ..post(path, (), done, reload) }
}

pub(crate) fn call(state: &mut State, call: Call) -> Outcome {
    state.pending += 1;
    Outcome::redraw().with(Effect::Call(call))
}

/// The attempt of a row; for a question, the attempt that asks it.
fn attempt_of<'a>(state: &'a State, subject: &Subject) -> Option<&'a ListedAttempt> {
    let wanted = match subject {
        Subject::Attempt(id) => Some(*id),
        Subject::Question(_) => question_of(state, subject).and_then(|question| question.task_attempt_id),
        _ => None,
    }?;
    state.data.attempts.rows().iter().find(|listed| listed.attempt.id == wanted)
}

/// The question of a row; for an attempt, its oldest question.
fn question_of<'a>(state: &'a State, subject: &Subject) -> Option<&'a PendingApproval> {
    state.data.questions.rows().iter().find(|question| match subject {
        Subject::Question(id) => question.id == *id,
        Subject::Attempt(id) => question.task_attempt_id == Some(*id),
        _ => false,
    })
}

fn answer_question(state: &mut State, command: Command, subject: &Subject) -> Outcome {
    let Some(question) = question_of(state, subject).cloned() else {
        return refuse(state, "its agent has no open question");
    };
    match command {
        Command::Deny => {
            let label = format!("deny {}, because", question.tool_name);
            ask(state, label, Purpose::Deny { question: question.id })
        }
        _ => {
            let path = format!("/api/approvals/{}/respond", question.id);
            let done = format!("approved {}", question.tool_name);
            let body = PlainAnswer { approved: true, comment: None };
            call(state, post(&path, body, &done, &[Topic::Questions]))
        }
    }
}

fn act_on_attempt(state: &mut State, command: Command, listed: &ListedAttempt) -> Outcome {
    let ListedAttempt { attempt, task_title } = listed;
    let (id, path) = (short(attempt.id), format!("/api/task-attempts/{}", attempt.id));
    let name = format!("{id} ({task_title})");
    match command {
        Command::FollowUp => {
            ask(state, format!("message to {id}"), Purpose::FollowUp { attempt: attempt.id })
        }
        Command::Stop if is_live(listed) => {
            let done = format!("stopped {id}");
            let call = post(&format!("{path}/stop"), json!({}), &done, &[Topic::Attempts]);
            confirm(state, format!("Stop the agent of {name}? Its changes are kept."), call)
        }
        Command::Stop => refuse(state, "it is not running"),
        Command::Merge => {
            let into = &attempt.target_branch;
            let done = format!("merged {id} into {into}");
            let call = post(&format!("{path}/merge"), json!({}), &done, &[Topic::Attempts, Topic::Tasks]);
            confirm(state, format!("Merge {name} into {into}?"), call)
        }
        Command::Open => {
            let (project, task) = (attempt.project_id, attempt.task_id);
            browse(state, &format!("/projects/{project}/tasks/{task}/attempts/{}", attempt.id))
        }
        Command::Attach => lend(&["view", &attempt.id.to_string(), "--follow"]),
        Command::Diff => lend(&["diff", &attempt.id.to_string()]),
        _ => refuse(state, "an attempt has no such action"),
    }
}

/// Hands the terminal to a command whose output the person reads.
fn lend(args: &[&str]) -> Outcome {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    Outcome::nothing().with(Effect::Attach(Attach { args, is_read: true }))
}

fn open_task(state: &mut State, id: TaskId) -> Outcome {
    let found = state.data.tasks.rows().iter().find(|task| task.task.id == id);
    match found.map(|task| format!("/projects/{}/tasks/{id}", task.task.project_id)) {
        Some(page) => browse(state, &page),
        None => refuse(state, "the task is gone"),
    }
}

/// Also shows the address, for terminals without a browser.
fn browse(state: &mut State, page: &str) -> Outcome {
    let url = format!("{}{page}", state.base);
    state.say(url.clone());
    Outcome::redraw().with(Effect::Browse(url))
}

/// A line was typed.
pub(crate) fn answer(state: &mut State, purpose: Purpose, text: &str) -> Outcome {
    let text = text.trim();
    match purpose {
        Purpose::Filter => {
            state.look_mut().filter = text.to_owned();
            Outcome::redraw()
        }
        Purpose::Deny { question } => {
            let path = format!("/api/approvals/{question}/respond");
            let comment = (!text.is_empty()).then(|| text.to_owned());
            let body = PlainAnswer { approved: false, comment };
            call(state, post(&path, body, "denied", &[Topic::Questions]))
        }
        // An empty line cancels.
        Purpose::FollowUp { .. } | Purpose::Send { .. } if text.is_empty() => Outcome::redraw(),
        Purpose::FollowUp { attempt } => {
            let path = format!("/api/task-attempts/{attempt}/follow-up");
            let done = format!("sent to {}", short(attempt));
            call(state, post(&path, FollowUp::saying(text.to_owned()), &done, &[Topic::Attempts]))
        }
        Purpose::Close { .. } if text.is_empty() => {
            refuse(state, "closing a bead needs a reason; it stays open")
        }
        Purpose::Close { project, bead: id } => {
            let body = CloseBead { of: bead::of(project), reason: text.to_owned() };
            call(state, post(&format!("/api/beads/{id}/close"), body, &format!("closed {id}"), bead::CHANGED))
        }
        Purpose::Send { worker } => {
            let path = format!("/api/workers/{worker}/send");
            let body = SendToWorker { line: text.to_owned() };
            call(state, post(&path, body, &format!("sent to {worker}"), &[]))
        }
    }
}
