//! Forms: their fields, and what submitting them does.
//!
//! Invariant: a form that starts something that costs money ends in a confirmation that names what is started.

use serde_json::{Map, Value, json};

use super::{bead, call, confirm, open, post};
use crate::field::Field;
use crate::message::{Outcome, Topic};
use crate::state::{Form, Input, Makes, Overlay, State};

/// The default agent.
const USUAL_AGENT: &str = "CLAUDE_CODE";
const USUAL_URGENCY: &str = "2";

pub(crate) fn input(key: &'static str, label: &'static str, hint: &'static str, required: bool) -> Input {
    Input { key, label, hint, required, field: Field::default(), choices: Vec::new(), is_free: false }
}

/// Free text with suggestions.
fn suggesting(input: Input, mut names: Vec<String>) -> Input {
    names.sort();
    names.dedup();
    names.retain(|name| !name.is_empty());
    Input {
        choices: names.into_iter().map(|name| (name.clone(), json!(name))).collect(),
        is_free: true,
        ..input
    }
}

fn choosing(input: Input, names: &[&str]) -> Input {
    Input { choices: names.iter().map(|name| ((*name).to_owned(), json!(name))).collect(), ..input }
}

fn project_input(state: &State) -> Option<Input> {
    let projects = state.data.projects.rows();
    let choices: Vec<_> = projects.iter().map(|project| (project.name.clone(), json!(project.id))).collect();
    let first = Field::new(&choices.first()?.0);
    Some(Input { field: first, choices, ..input("project_id", "Project", "Left and Right choose", true) })
}

pub(crate) fn task_form(state: &State) -> Option<Form> {
    let agent = Input {
        field: Field::new(USUAL_AGENT),
        ..input("executor", "Agent", "an executor, or EXECUTOR:VARIANT", true)
    };
    let title = input("title", "Title", "what to do, in one line", true);
    let description = input("description", "Details", "what the agent should know", false);
    let fields = vec![project_input(state)?, title, description, agent];
    Some(Form { title: "Give an agent a task", fields, focus: 1, makes: Makes::Task, complaint: None })
}

pub(crate) fn bead_form(state: &State) -> Option<Form> {
    let kinds = choosing(
        input("issue_type", "Type", "Left and Right choose", true),
        &["task", "bug", "feature", "chore", "docs", "epic"],
    );
    let urgency =
        choosing(input("priority", "Priority", "0 is the most urgent", true), &["0", "1", "2", "3", "4"]);
    let waits = state.data.beads.rows().iter().filter(|bead| !bead.is_closed()).map(|bead| bead.id.clone());
    let fields = vec![
        project_input(state)?,
        input("title", "Title", "what to do, in one line", true),
        input("description", "Details", "what an agent needs to know", false),
        Input { field: Field::new("task"), ..kinds },
        Input { field: Field::new(USUAL_URGENCY), ..urgency },
        suggesting(
            input("depends_on", "Waits for", "a bead that must be closed first", false),
            waits.collect(),
        ),
    ];
    Some(Form { title: "Create a bead", fields, focus: 1, makes: Makes::Bead, complaint: None })
}

pub(crate) fn worker_form(state: &State) -> Form {
    let means = &state.data.means;
    let defined = means.definitions.iter();
    let models = defined.clone().map(|one| one.model.clone());
    let known = state.data.workers.rows().iter().map(|worker| worker.facts.model.clone());
    let usual = ["opus", "sonnet", "haiku"].map(str::to_owned);
    let folders = state.data.projects.rows().iter().map(|project| project.git_repo_path.clone());
    let ready = bead::ready(state).into_iter().map(|(id, _)| id);
    let fields = vec![
        suggesting(
            input("definition", "Definition", "a worker of workers.yaml, or the fields below", false),
            defined.map(|one| one.name.clone()).collect(),
        ),
        input("id", "Id", "a name; generated if empty", false),
        suggesting(
            input("launcher", "Launcher", "its name or a path", false),
            means.launchers.iter().map(|one| one.name.clone()).collect(),
        ),
        suggesting(input("model", "Model", "e.g. sonnet", false), models.chain(known).chain(usual).collect()),
        choosing(
            input("tier", "Tier", "Left and Right choose", false),
            &["", "premium", "standard", "budget", "free"],
        ),
        suggesting(input("workspace", "Workspace", "the folder it works in", false), folders.collect()),
        suggesting(input("bead", "Bead", "what it starts with", false), ready.collect()),
    ];
    let complaint = (!means.problems.is_empty()).then(|| means.problems.join("; "));
    Form { title: "Start a worker", fields, focus: 0, makes: Makes::Worker, complaint }
}

/// Adds choices that arrived after the form was opened.
pub(crate) fn renew(state: &mut State) {
    let is_open = |overlay: &Overlay| matches!(overlay, Overlay::Form(form) if form.makes == Makes::Worker);
    if !state.overlay.as_ref().is_some_and(is_open) {
        return;
    }
    let fresh = worker_form(state);
    if let Some(Overlay::Form(form)) = &mut state.overlay {
        for (input, new) in form.fields.iter_mut().zip(fresh.fields) {
            input.choices = new.choices;
        }
        form.complaint = form.complaint.take().or(fresh.complaint);
    }
}

/// The given values, by key.
fn read(form: &Form) -> Map<String, Value> {
    let mut given = Map::new();
    for input in &form.fields {
        let text = input.field.text().trim();
        let choice = input.choices.iter().find(|(name, _)| name == text).map(|(_, value)| value.clone());
        if !text.is_empty() {
            given.insert(input.key.to_owned(), choice.unwrap_or_else(|| json!(text)));
        }
    }
    given
}

/// Submits the form if it is complete, else says what is missing.
pub(crate) fn submit(state: &mut State, mut form: Form) -> Outcome {
    let missing = form.fields.iter().position(|input| input.required && input.field.text().trim().is_empty());
    if let Some(at) = missing {
        form.complaint = Some(format!("{} is missing", form.fields[at].label));
        form.focus = at;
        return open(state, form);
    }
    let mut given = read(&form);
    match form.makes.clone() {
        Makes::Worker => submit_worker(state, form, given),
        Makes::Reassign(worker) => {
            let bead = given["bead"].as_str().unwrap_or_default().to_owned();
            let done = format!("{worker} has {bead} now");
            let path = format!("/api/workers/{worker}/reassign");
            let call = post(&path, Value::Object(given), &done, &[Topic::Workers, Topic::Beads]);
            let question = format!(
                "End {worker} and start it again with {bead}? Its current work goes back to the queue; unsaved \
                 work is lost. Running the agent costs money."
            );
            confirm(state, question, call)
        }
        Makes::Bead => {
            let waits = given.remove("depends_on").map(|on| vec![on]).unwrap_or_default();
            let urgency = given["priority"].as_str().and_then(|text| text.parse::<i64>().ok());
            given.insert("depends_on".to_owned(), json!(waits));
            given.insert("priority".to_owned(), json!(urgency));
            call(state, post("/api/beads", Value::Object(given), "bead created", bead::CHANGED))
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
            let changed = &[Topic::Tasks, Topic::Attempts];
            let call = post("/api/tasks/create-and-start", body, "the agent is starting", changed);
            confirm(state, format!("Start {agent} on this task? Running the agent costs money."), call)
        }
    }
}

/// Confirms what is started; empty fields take the definition's values.
fn submit_worker(state: &mut State, mut form: Form, given: Map<String, Value>) -> Outcome {
    let typed = |key: &str| given.get(key).and_then(Value::as_str);
    let named = typed("definition");
    let defined = state.data.means.definitions.iter().find(|one| Some(one.name.as_str()) == named);
    let fact = |key: &str, defined: Option<&str>| {
        typed(key).or(defined).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let launcher = fact("launcher", defined.map(|one| one.launcher.as_str()));
    let workspace = fact("workspace", defined.and_then(|one| one.workspace.as_deref()));
    // Only the server knows a definition written after the list was read.
    let is_known = named.is_none() || defined.is_some();
    let missing = match (&launcher, &workspace) {
        (None, _) if is_known => Some(("launcher", "enter a definition or a launcher")),
        (_, None) if is_known => Some(("workspace", "enter the folder that it works in")),
        _ => None,
    };
    if let Some((key, why)) = missing {
        form.complaint = Some(why.to_owned());
        form.focus = form.fields.iter().position(|input| input.key == key).unwrap_or(form.focus);
        return open(state, form);
    }
    let mut what = typed("id").map_or_else(|| "Start a worker".to_owned(), |id| format!("Start worker {id}"));
    let facts = [
        ("as", named.map(str::to_owned)),
        ("with", launcher),
        ("model", fact("model", defined.map(|one| one.model.as_str()))),
        ("in", workspace),
        ("on bead", typed("bead").map(str::to_owned)),
    ];
    for (word, fact) in facts {
        if let Some(fact) = fact {
            what += &format!(" {word} {fact}");
        }
    }
    let call =
        post("/api/workers", Value::Object(given), "the worker is running", &[Topic::Workers, Topic::Beads]);
    confirm(state, format!("{what}? Running the agent costs money."), call)
}
