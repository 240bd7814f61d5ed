//! Applies news from the server to the state.

use std::path::PathBuf;

use forge_types::wire::{ExecutionProcess, ListedWorker};
use forge_types::{AttemptStatus, RunReason, RunStatus, Worker};

use crate::message::{Effect, Event, Loaded, Outcome, Topic};
use crate::model::List;
use crate::state::{State, View};
use crate::update::action::renew;

pub(crate) fn put(state: &mut State, loaded: Loaded) -> Outcome {
    let data = &mut state.data;
    match loaded {
        Loaded::Projects(rows) => data.projects = List::Read(rows),
        Loaded::Attempts(rows) => data.attempts = List::Read(rows),
        Loaded::Tasks(rows) => data.tasks = List::Read(rows),
        Loaded::Questions(rows) => data.questions = List::Read(rows),
        Loaded::Beads(rows) => data.beads = List::Read(rows),
        Loaded::Workers(rows) => data.workers = List::Read(rows),
        Loaded::Alerts(rows) => data.alerts = List::Read(rows),
        Loaded::Routing(rows) => data.routing = List::Read(rows),
        Loaded::Usage(usage) => data.usage = usage,
        Loaded::Settings(settings) => {
            state.bell.settings = settings;
            return Outcome::nothing();
        }
        Loaded::Means(means) => data.means = means,
    }
    renew(state);
    Outcome::redraw()
}

/// An event with data is applied at once; for others the list is read again.
pub(crate) fn take(state: &mut State, event: Event) -> Outcome {
    let data = &mut state.data;
    match event {
        Event::Task(task) => {
            let id = task.task.id;
            let is_new = data.tasks.rows().iter().all(|known| known.task.id != id);
            data.tasks.put(*task, |known| known.task.id == id);
            let outcome = Outcome::redraw().with(Effect::Load(Topic::Attempts));
            // A new one may belong to an unknown project.
            return if is_new { outcome.with(Effect::Load(Topic::Projects)) } else { outcome };
        }
        Event::TaskGone(id) => data.tasks.remove(|task| task.task.id == id),
        Event::AttemptGone(id) => data.attempts.remove(|listed| listed.attempt.id == id),
        Event::Run(run) => return take_run(state, &run),
        Event::Changed(topic) => return Outcome::nothing().with(Effect::Load(topic)),
        Event::Worker(worker) => {
            let known = data.worker(&worker.id);
            let changes_hands = known.is_some_and(|known| known.worker.bead != worker.bead);
            let (id, row) = (worker.id.clone(), listed(*worker, known));
            data.workers.put(row, |known| known.worker.id == id);
            if changes_hands {
                // A bead changed hands, and trackers send no events.
                return Outcome::redraw().with(Effect::Load(Topic::Beads));
            }
        }
        Event::WorkerGone(id) => data.workers.remove(|listed| listed.worker.id == id),
        Event::Alert(alert) => {
            let id = alert.id;
            let known = data.alerts.rows().iter().find(|known| known.id == id);
            let rings = state.bell.hear(known, &alert, state.now);
            data.alerts.put(*alert, |known| known.id == id);
            // A changed setting applies from the next alert on.
            let outcome = Outcome::redraw().with(Effect::Load(Topic::Settings));
            return if rings { outcome.with(Effect::Ring) } else { outcome };
        }
        Event::Routing(routing) => {
            let id = routing.id;
            data.routing.put(*routing, |known| known.id == id);
            // Trackers send no events; work that was assigned or returned means a changed bead.
            return Outcome::redraw().with(Effect::Load(Topic::Beads));
        }
    }
    Outcome::redraw()
}

/// Events cover only Forge's own workers; what they lack stays as `known` has it.
fn listed(worker: Worker, known: Option<&ListedWorker>) -> ListedWorker {
    let has_session = worker.phase.is_live();
    let path = |of: fn(&ListedWorker) -> &PathBuf| known.map(of).cloned().unwrap_or_default();
    ListedWorker {
        managed: true,
        has_session,
        attached: has_session && known.is_some_and(|known| known.attached),
        socket: path(|known| &known.socket),
        log: path(|known| &known.log),
        worker,
    }
}

fn take_run(state: &mut State, run: &ExecutionProcess) -> Outcome {
    let mut outcome = Outcome::nothing().with(Effect::Load(Topic::Attempts));
    let (Some(attempt), RunReason::CodingAgent) = (run.task_attempt_id, run.run_reason) else {
        return outcome;
    };
    let status = match run.status {
        RunStatus::Running => AttemptStatus::Running,
        RunStatus::Completed => AttemptStatus::Completed,
        RunStatus::Failed => AttemptStatus::Failed,
        RunStatus::Killed => AttemptStatus::Stopped,
    };
    if let List::Read(rows) = &mut state.data.attempts
        && let Some(known) = rows.iter_mut().find(|known| known.attempt.id == attempt)
    {
        known.attempt.status = status;
        outcome.redraw = true;
    }
    if status != AttemptStatus::Running {
        outcome = outcome.with(Effect::Load(Topic::Usage));
    }
    // A new run of the attempt whose log is open continues that log.
    let (log, is_shown) = (&state.log, state.view == View::Attempts);
    if is_shown && log.attempt == Some(attempt) && log.run != Some(run.id) {
        outcome = outcome.with(Effect::Follow(Some(attempt)));
    }
    outcome
}
