//! What is done to the selected row: a request at once, after a question, or after something was typed.
//!
//! Invariant: where work or money is at stake, nothing is sent before the person said yes.

use serde_json::{Value, json};

use crate::field::Field;
use crate::keys::Command;
use crate::message::{Attach, Call, Effect, Outcome, Topic};
use crate::model::{Attempt, Question};
use crate::rows::table;
use crate::state::{Form, Input, Makes, Overlay, Purpose, State, Subject, View};
use forge_types::WorkerPhase;

/// What agents are started with where nothing else is typed.
const USUAL_AGENT: &str = "CLAUDE_CODE";

pub fn act(state: &mut State, command: Command) -> Outcome {
    let subject = table(state).subject().cloned();
    match (command, subject) {
        (Command::New, _) if state.view == View::Workers => open(state, worker_form()),
        (Command::New, _) => match task_form(state) {
            Some(form) => open(state, form),
            None => refuse(state, "there is no project yet; `forge project add` in a repository makes one"),
        },
        (Command::AcknowledgeAll, _) => {
            call(state, request("/api/alerts/ack-all", json!({}), "every alert is seen", &[Topic::Alerts]))
        }
        (_, None) => refuse(state, "nothing is selected"),
        (Command::Acknowledge, Some(Subject::Alert(id))) => {
            let path = format!("/api/alerts/{id}/ack");
            call(state, request(&path, json!({}), "the alert is seen", &[Topic::Alerts]))
        }
        (Command::Approve | Command::Deny, Some(subject)) => answer_question(state, command, &subject),
        (command, Some(Subject::Worker(id))) => act_on_worker(state, command, &id),
        (Command::Open, Some(Subject::Task(id))) => open_task(state, &id),
        (command, Some(subject)) => match attempt_of(state, &subject).cloned() {
            Some(attempt) => act_on_attempt(state, command, &attempt),
            None => refuse(state, "this row is no attempt"),
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

fn request(path: &str, body: Value, done: &str, reload: &[Topic]) -> Call {
    Call { path: path.to_owned(), body, done: done.to_owned(), reload: reload.to_vec() }
}

pub fn call(state: &mut State, call: Call) -> Outcome {
    state.pending += 1;
    Outcome::redraw().with(Effect::Call(call))
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// The attempt of a row, also of the row of its question.
fn attempt_of<'a>(state: &'a State, subject: &Subject) -> Option<&'a Attempt> {
    let wanted = match subject {
        Subject::Attempt(id) => Some(id),
        Subject::Question(id) => {
            let asked = state.data.questions.rows().iter().find(|question| question.id == *id);
            asked.and_then(|question| question.attempt.as_ref())
        }
        _ => None,
    }?;
    state.data.attempts.rows().iter().find(|attempt| attempt.attempt.id.to_string() == *wanted)
}

/// The question of a row, also of the row of its attempt: the oldest of them.
fn question_of<'a>(state: &'a State, subject: &Subject) -> Option<&'a Question> {
    state.data.questions.rows().iter().find(|question| match subject {
        Subject::Question(id) => question.id == *id,
        Subject::Attempt(id) => question.attempt.as_ref() == Some(id),
        _ => false,
    })
}

fn answer_question(state: &mut State, command: Command, subject: &Subject) -> Outcome {
    let Some(question) = question_of(state, subject).cloned() else {
        return refuse(state, "its agent asks for nothing");
    };
    match command {
        Command::Deny => {
            let label = format!("deny {}, because", question.tool_name);
            ask(state, label, Purpose::Deny { question: question.id })
        }
        _ => {
            let path = format!("/api/approvals/{}/respond", question.id);
            let done = format!("approved {}", question.tool_name);
            call(state, request(&path, json!({"approved": true}), &done, &[Topic::Questions]))
        }
    }
}

fn act_on_attempt(state: &mut State, command: Command, attempt: &Attempt) -> Outcome {
    let Attempt { attempt: facts, task_title } = attempt;
    let (id, path) = (facts.id.to_string(), format!("/api/task-attempts/{}", facts.id));
    let name = format!("{} ({task_title})", short(&id));
    match command {
        Command::FollowUp => ask(state, format!("say to {}", short(&id)), Purpose::FollowUp { attempt: id }),
        Command::Stop if attempt.is_live() => {
            let done = format!("stopped {}", short(&id));
            let call = request(&format!("{path}/stop"), json!({}), &done, &[Topic::Attempts]);
            confirm(state, format!("Stop the agent of {name}? What it did is kept."), call)
        }
        Command::Stop => refuse(state, "nothing of it is at work"),
        Command::Merge => {
            let into = &facts.target_branch;
            let done = format!("merged {} into {into}", short(&id));
            let call = request(&format!("{path}/merge"), json!({}), &done, &[Topic::Attempts, Topic::Tasks]);
            confirm(state, format!("Merge {name} into {into}?"), call)
        }
        Command::Open => {
            let page = format!("/projects/{}/tasks/{}/attempts/{id}", facts.project_id, facts.task_id);
            browse(state, &page)
        }
        Command::Attach => {
            let args = ["view", &id, "--follow"].map(str::to_owned).into();
            Outcome::nothing().with(Effect::Attach(Attach { args, is_read: true }))
        }
        _ => refuse(state, "that cannot be done to an attempt"),
    }
}

fn open_task(state: &mut State, id: &str) -> Outcome {
    let found = state.data.tasks.rows().iter().find(|task| task.task.id.to_string() == id);
    match found.map(|task| format!("/projects/{}/tasks/{id}", task.task.project_id)) {
        Some(page) => browse(state, &page),
        None => refuse(state, "the task is gone"),
    }
}

/// Also says where it is, for terminals without a browser.
fn browse(state: &mut State, page: &str) -> Outcome {
    let url = format!("{}{page}", state.base);
    state.say(url.clone());
    Outcome::redraw().with(Effect::Browse(url))
}

fn act_on_worker(state: &mut State, command: Command, id: &str) -> Outcome {
    let found = state.data.workers.rows().iter().find(|worker| worker.id.as_str() == id);
    let Some(phase) = found.map(|worker| worker.phase) else { return refuse(state, "the worker is gone") };
    let post = |verb: &str, done: &str| {
        request(&format!("/api/workers/{id}/{verb}"), json!({}), &format!("{done} {id}"), &[Topic::Workers])
    };
    match command {
        Command::Stop => {
            let question = format!("Stop worker {id}? It ends its session; its bead goes back to the queue.");
            confirm(state, question, post("stop", "stopped"))
        }
        Command::Restart => {
            let question = format!("Restart worker {id}? What it has not written down is lost.");
            confirm(state, question, post("restart", "restarted"))
        }
        Command::Pause if phase == WorkerPhase::Paused => call(state, post("resume", "resumed")),
        Command::Pause => call(state, post("pause", "paused")),
        Command::Send => ask(state, format!("type to {id}"), Purpose::Send { worker: id.to_owned() }),
        Command::Peek => {
            state.overlay = Some(Overlay::Peek { worker: id.to_owned(), text: None });
            Outcome::redraw().with(Effect::Peek(Some(id.to_owned())))
        }
        Command::Attach => {
            let args = ["worker", "attach", id].map(str::to_owned).into();
            Outcome::nothing().with(Effect::Attach(Attach { args, is_read: false }))
        }
        _ => refuse(state, "that cannot be done to a worker"),
    }
}

/// A line was typed.
pub fn answer(state: &mut State, purpose: Purpose, text: &str) -> Outcome {
    let text = text.trim();
    match purpose {
        Purpose::Filter => {
            state.look_mut().filter = text.to_owned();
            Outcome::redraw()
        }
        Purpose::Deny { question } => {
            let path = format!("/api/approvals/{question}/respond");
            let comment = (!text.is_empty()).then_some(text);
            let body = json!({"approved": false, "comment": comment});
            call(state, request(&path, body, "denied", &[Topic::Questions]))
        }
        // An empty line is a mind changed.
        Purpose::FollowUp { .. } | Purpose::Send { .. } if text.is_empty() => Outcome::redraw(),
        Purpose::FollowUp { attempt } => {
            let path = format!("/api/task-attempts/{attempt}/follow-up");
            let done = format!("said to {}", short(&attempt));
            call(state, request(&path, json!({"prompt": text}), &done, &[Topic::Attempts]))
        }
        Purpose::Send { worker } => {
            let path = format!("/api/workers/{worker}/send");
            call(state, request(&path, json!({"line": text}), &format!("typed to {worker}"), &[]))
        }
    }
}

fn input(key: &'static str, label: &'static str, hint: &'static str, required: bool) -> Input {
    Input { key, label, hint, required, field: Field::default(), choices: Vec::new() }
}

fn task_form(state: &State) -> Option<Form> {
    let projects = state.data.projects.rows();
    let choices: Vec<_> = projects.iter().map(|project| (project.name.clone(), json!(project.id))).collect();
    let first = Field::new(&choices.first()?.0);
    let project =
        Input { field: first, choices, ..input("project_id", "Project", "Left and Right choose", true) };
    let agent = Input {
        field: Field::new(USUAL_AGENT),
        ..input("executor", "Agent", "an executor, or EXECUTOR:VARIANT", true)
    };
    let title = input("title", "Title", "what is to be done, in a line", true);
    let description = input("description", "Details", "what the agent should know", false);
    let fields = vec![project, title, description, agent];
    Some(Form { title: "Give an agent a task", fields, focus: 1, makes: Makes::Task, complaint: None })
}

fn worker_form() -> Form {
    let tiers = ["", "premium", "standard", "budget", "free"];
    let choices = tiers.iter().map(|tier| ((*tier).to_owned(), json!(tier))).collect();
    let fields = vec![
        input("definition", "Definition", "a worker of workers.yaml, or the fields below", false),
        input("launcher", "Launcher", "its name or a path", false),
        input("model", "Model", "e.g. sonnet", false),
        Input { choices, ..input("tier", "Tier", "Left and Right choose", false) },
        input("workspace", "Workspace", "the folder it works in", false),
        input("bead", "Bead", "what it begins with", false),
    ];
    Form { title: "Start a worker", fields, focus: 0, makes: Makes::Worker, complaint: None }
}

/// The form is complete, or says what is missing.
pub fn submit(state: &mut State, mut form: Form) -> Outcome {
    let missing = form.fields.iter().position(|input| input.required && input.field.text().trim().is_empty());
    if let Some(at) = missing {
        form.complaint = Some(format!("{} is missing", form.fields[at].label));
        form.focus = at;
        return open(state, form);
    }
    let mut given = serde_json::Map::new();
    for input in &form.fields {
        let text = input.field.text().trim();
        let choice = input.choices.iter().find(|(name, _)| name == text).map(|(_, value)| value.clone());
        if !text.is_empty() {
            given.insert(input.key.to_owned(), choice.unwrap_or_else(|| json!(text)));
        }
    }
    match form.makes {
        Makes::Worker if given.contains_key("definition") || given.contains_key("launcher") => {
            let call = request("/api/workers", Value::Object(given), "the worker starts", &[Topic::Workers]);
            confirm(state, "Start this worker? It costs what its model costs.".to_owned(), call)
        }
        Makes::Worker => {
            form.complaint = Some("name a definition or a launcher".to_owned());
            open(state, form)
        }
        Makes::Task => {
            let agent = given.remove("executor").unwrap_or_default();
            let agent = agent.as_str().unwrap_or_default();
            let (executor, variant) = match agent.split_once(':') {
                Some((executor, variant)) => (executor, Some(variant)),
                None => (agent, None),
            };
            let profile = json!({"executor": executor, "variant": variant});
            let body = json!({"task": given, "executor_profile_id": profile});
            let call = request(
                "/api/tasks/create-and-start",
                body,
                "the agent starts",
                &[Topic::Tasks, Topic::Attempts],
            );
            confirm(state, format!("Start {agent} on this task? It costs what the agent costs."), call)
        }
    }
}
