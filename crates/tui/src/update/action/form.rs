//! Forms: their fields, and what submitting them does.
//!
//! Invariant: a form that starts something that costs money ends in a confirmation that names what is started.

use forge_types::wire::ReassignWorker;
use forge_types::{
    CreateAttemptOptions, CreateBead, CreateTask, Executor, InvalidWorkerId, ProfileId, ProjectId,
    SpawnWorker, StartTask, UnknownExecutor, WorkerId, WorkerTier,
};

use super::{bead, call, confirm, open, post};
use crate::field::Field;
use crate::message::{Call, Outcome, Topic};
use crate::state::{Form, Input, Makes, Overlay, Slot, State};

const USUAL_AGENT: Executor = Executor::ClaudeCode;
const USUAL_URGENCY: &str = "2";
const FLEET: &[Topic] = &[Topic::Workers, Topic::Beads];

pub(crate) fn input(slot: Slot, label: &'static str, hint: &'static str, required: bool) -> Input {
    Input { slot, label, hint, required, field: Field::default(), choices: Vec::new(), is_free: false }
}

/// Free text with suggestions.
fn suggesting(input: Input, names: impl Iterator<Item = String>) -> Input {
    let mut choices: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    choices.sort();
    choices.dedup();
    Input { choices, is_free: true, ..input }
}

fn choosing<'a>(input: Input, names: impl IntoIterator<Item = &'a str>) -> Input {
    Input { choices: names.into_iter().map(str::to_owned).collect(), ..input }
}

fn project_input(state: &State) -> Option<Input> {
    let names = state.data.projects.rows().iter().map(|project| project.name.as_str());
    let input = choosing(input(Slot::Project, "Project", "Left and Right choose", true), names);
    Some(Input { field: Field::new(input.choices.first()?), ..input })
}

pub(crate) fn task_form(state: &State) -> Option<Form> {
    let agent = Input {
        field: Field::new(USUAL_AGENT.as_str()),
        ..input(Slot::Agent, "Agent", "an executor, or EXECUTOR:VARIANT", true)
    };
    let title = input(Slot::Title, "Title", "what to do, in one line", true);
    let description = input(Slot::Description, "Details", "what the agent should know", false);
    let fields = vec![project_input(state)?, title, description, agent];
    Some(Form { title: "Give an agent a task", fields, focus: 1, makes: Makes::Task, complaint: None })
}

pub(crate) fn bead_form(state: &State) -> Option<Form> {
    let kinds = choosing(
        input(Slot::Kind, "Type", "Left and Right choose", true),
        ["task", "bug", "feature", "chore", "docs", "epic"],
    );
    let urgency =
        choosing(input(Slot::Urgency, "Priority", "0 is the most urgent", true), ["0", "1", "2", "3", "4"]);
    let open = state.data.beads.rows().iter().filter(|bead| !bead.is_closed());
    let fields = vec![
        project_input(state)?,
        input(Slot::Title, "Title", "what to do, in one line", true),
        input(Slot::Description, "Details", "what an agent needs to know", false),
        Input { field: Field::new("task"), ..kinds },
        Input { field: Field::new(USUAL_URGENCY), ..urgency },
        suggesting(
            input(Slot::WaitsFor, "Waits for", "a bead that must be closed first", false),
            open.map(|bead| bead.facts.id.clone()),
        ),
    ];
    Some(Form { title: "Create a bead", fields, focus: 1, makes: Makes::Bead, complaint: None })
}

pub(crate) fn worker_form(state: &State) -> Form {
    let means = &state.data.means;
    let defined = means.defined.definitions.iter();
    let models = defined.clone().map(|one| one.model.clone());
    let known = state.data.workers.rows().iter().map(|listed| listed.worker.model.clone());
    let usual = ["opus", "sonnet", "haiku"].map(str::to_owned);
    let folders = state.data.projects.rows().iter().map(|project| project.git_repo_path.clone());
    let tiers = WorkerTier::ALL.iter().rev().map(|tier| tier.as_str());
    let fields = vec![
        suggesting(
            input(Slot::Definition, "Definition", "a worker of workers.yaml, or the fields below", false),
            defined.map(|one| one.name.clone()),
        ),
        input(Slot::Id, "Id", "a name; generated if empty", false),
        suggesting(
            input(Slot::Launcher, "Launcher", "its name or a path", false),
            means.launchers.iter().map(|one| one.name.clone()),
        ),
        suggesting(input(Slot::Model, "Model", "e.g. sonnet", false), models.chain(known).chain(usual)),
        choosing(input(Slot::Tier, "Tier", "Left and Right choose", false), std::iter::once("").chain(tiers)),
        suggesting(input(Slot::Workspace, "Workspace", "the folder it works in", false), folders),
        suggesting(input(Slot::Bead, "Bead", "what it starts with", false), bead::ready(state)),
    ];
    let problems = &means.defined.problems;
    let complaint = (!problems.is_empty()).then(|| problems.join("; "));
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

/// The request, with the question to ask before it is sent; or the field that is wrong, and why.
type Made = Result<(Option<String>, Call), (Slot, String)>;

/// Submits the form if it is complete, else says what is missing.
pub(crate) fn submit(state: &mut State, mut form: Form) -> Outcome {
    let is_missing = |input: &&Input| input.required && form.given(input.slot).is_none();
    let made = match form.fields.iter().find(is_missing) {
        Some(input) => Err((input.slot, format!("{} is missing", input.label))),
        None => match &form.makes {
            Makes::Task => make_task(state, &form),
            Makes::Bead => make_bead(state, &form),
            Makes::Worker => make_worker(state, &form),
            Makes::Reassign(worker) => Ok(reassign(worker, &form)),
        },
    };
    match made {
        Ok((Some(question), call)) => confirm(state, question, call),
        Ok((None, request)) => call(state, request),
        Err((slot, why)) => {
            form.reject(slot, why);
            open(state, form)
        }
    }
}

fn project(state: &State, form: &Form) -> Result<ProjectId, (Slot, String)> {
    let name = form.given(Slot::Project);
    let found = state.data.projects.rows().iter().find(|project| Some(project.name.as_str()) == name);
    found.map(|project| project.id).ok_or_else(|| (Slot::Project, "the project is gone".to_owned()))
}

fn make_task(state: &State, form: &Form) -> Made {
    let text = |slot| form.given(slot).map(str::to_owned);
    let agent = form.given(Slot::Agent).unwrap_or_default();
    let executor_profile_id: ProfileId =
        agent.parse().map_err(|error: UnknownExecutor| (Slot::Agent, error.to_string()))?;
    let task = CreateTask {
        description: text(Slot::Description),
        ..CreateTask::new(project(state, form)?, text(Slot::Title).unwrap_or_default())
    };
    let start = CreateAttemptOptions {
        executor_profile_id,
        base_branch: None,
        use_worktree: None,
        auto_pr: None,
        max_cost_usd: None,
    };
    let changed = &[Topic::Tasks, Topic::Attempts];
    let body = StartTask { start, task };
    let call = post("/api/tasks/create-and-start", body, "the agent is starting", changed);
    Ok((Some(format!("Start {agent} on this task? Running the agent costs money.")), call))
}

fn make_bead(state: &State, form: &Form) -> Made {
    let text = |slot| form.given(slot).map(str::to_owned);
    let body = CreateBead {
        of: bead::of(project(state, form)?),
        title: text(Slot::Title).unwrap_or_default(),
        description: text(Slot::Description),
        issue_type: text(Slot::Kind),
        priority: form.given(Slot::Urgency).and_then(|number| number.parse().ok()),
        labels: Vec::new(),
        parent: None,
        depends_on: text(Slot::WaitsFor).into_iter().collect(),
    };
    Ok((None, post("/api/beads", body, "bead created", bead::CHANGED)))
}

fn reassign(worker: &WorkerId, form: &Form) -> (Option<String>, Call) {
    let bead = form.given(Slot::Bead).unwrap_or_default().to_owned();
    let question = format!(
        "End {worker} and start it again with {bead}? Its current work goes back to the queue; unsaved \
         work is lost. Running the agent costs money."
    );
    let (path, done) = (format!("/api/workers/{worker}/reassign"), format!("{worker} has {bead} now"));
    (Some(question), post(&path, ReassignWorker { bead }, &done, FLEET))
}

/// The question says what is started; empty fields take the definition's values.
fn make_worker(state: &State, form: &Form) -> Made {
    let text = |slot| form.given(slot).map(str::to_owned);
    let named = form.given(Slot::Definition);
    let mut definitions = state.data.means.defined.definitions.iter();
    let defined = definitions.find(|one| Some(one.name.as_str()) == named);
    let fact = |slot, defined| form.given(slot).or(defined).filter(|text: &&str| !text.is_empty());
    let launcher = fact(Slot::Launcher, defined.map(|one| one.launcher.as_str()));
    let workspace = fact(Slot::Workspace, defined.and_then(|one| one.workspace.as_ref()?.to_str()));
    // Only the server knows a definition written after the list was read.
    let is_known = named.is_none() || defined.is_some();
    match (launcher, workspace) {
        (None, _) if is_known => {
            return Err((Slot::Launcher, "enter a definition or a launcher".to_owned()));
        }
        (_, None) if is_known => {
            return Err((Slot::Workspace, "enter the folder that it works in".to_owned()));
        }
        _ => {}
    }
    let id = form.given(Slot::Id).map(str::parse).transpose();
    let body = SpawnWorker {
        definition: text(Slot::Definition),
        id: id.map_err(|error: InvalidWorkerId| (Slot::Id, error.to_string()))?,
        launcher: text(Slot::Launcher),
        model: text(Slot::Model),
        tier: form.given(Slot::Tier).and_then(WorkerTier::parse),
        workspace: text(Slot::Workspace).map(Into::into),
        bead: text(Slot::Bead),
        ..SpawnWorker::default()
    };
    let mut what = body.id.as_ref().map_or("Start a worker".to_owned(), |id| format!("Start worker {id}"));
    let facts = [
        ("as", named),
        ("with", launcher),
        ("model", fact(Slot::Model, defined.map(|one| one.model.as_str()))),
        ("in", workspace),
        ("on bead", form.given(Slot::Bead)),
    ];
    for (word, fact) in facts {
        if let Some(fact) = fact {
            what += &format!(" {word} {fact}");
        }
    }
    let call = post("/api/workers", body, "the worker is running", FLEET);
    Ok((Some(format!("{what}? Running the agent costs money.")), call))
}
