//! What a row shows. Cells are built only for rows that are visible, or to filter and sort.

use forge_types::{Alert, Millis, Routing, TaskSummary};

use super::cells::{
    Cell, attempt_line, attempt_row, model_spent_row, question_row, spent_row, task_row, worker_spent_row,
};
use super::fleet::{alert_line, alert_row, bead_row, routing_row, worker_row};
use crate::model::{Attempt, Bead, Data, Question, Spent, Worker, WorkerSpent};
use crate::state::{State, Subject, View};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Thing<'a> {
    Question(&'a Question),
    Attempt(&'a Attempt),
    Task(&'a TaskSummary),
    Bead(&'a Bead),
    Worker(&'a Worker),
    Spent(&'a Spent),
    WorkerSpent(&'a WorkerSpent),
    Routing(&'a Routing),
    Alert(&'a Alert),
}

impl Thing<'_> {
    pub(crate) fn subject(&self) -> Subject {
        match self {
            Thing::Question(question) => Subject::Question(question.id.clone()),
            Thing::Attempt(attempt) => Subject::Attempt(attempt.attempt.id.to_string()),
            Thing::Task(task) => Subject::Task(task.task.id.to_string()),
            Thing::Bead(bead) => Subject::Bead { project: bead.project, id: bead.id.clone() },
            Thing::Worker(worker) => Subject::Worker(worker.id().to_owned()),
            Thing::Spent(spent) => Subject::Spent(spent.name().to_owned()),
            Thing::WorkerSpent(spent) => Subject::Spent(spent.worker_id.clone()),
            Thing::Routing(routing) => Subject::Routing(routing.id.to_string()),
            Thing::Alert(alert) => Subject::Alert(alert.id.to_string()),
        }
    }

    /// The moment whose age the row shows.
    pub(crate) fn at(&self) -> Option<Millis> {
        match self {
            Thing::Question(question) => Some(question.created_at),
            Thing::Attempt(attempt) => Some(attempt.attempt.created_at),
            Thing::Task(task) => Some(task.task.created_at),
            Thing::Bead(bead) => bead.updated_at,
            Thing::Worker(worker) => Some(worker.since()),
            Thing::Spent(_) | Thing::WorkerSpent(_) => None,
            Thing::Routing(routing) => Some(routing.decided_at),
            Thing::Alert(alert) => Some(alert.last_at),
        }
    }

    /// Its section heading, used while no sort order is chosen.
    pub(crate) fn section(&self) -> Option<&'static str> {
        match self {
            Thing::Bead(bead) => Some(bead.section().title()),
            _ => None,
        }
    }

    pub(crate) fn cells(&self, state: &State) -> Vec<Cell> {
        let State { data, now, view, .. } = state;
        let (now, is_line) = (*now, *view == View::Overview);
        match self {
            Thing::Question(question) => question_row(question, now),
            Thing::Attempt(attempt) if is_line => attempt_line(attempt, data, now),
            Thing::Attempt(attempt) => attempt_row(attempt, data, now),
            Thing::Task(task) => task_row(task, data, now),
            Thing::Bead(bead) => bead_row(bead, data, now),
            Thing::Worker(worker) => worker_row(worker, state),
            Thing::Spent(spent) if spent.day.is_some() => spent_row(spent),
            Thing::Spent(spent) => model_spent_row(spent, data.usage.served.rows()),
            Thing::WorkerSpent(spent) => worker_spent_row(spent),
            Thing::Routing(routing) => routing_row(routing, now),
            Thing::Alert(alert) if is_line => alert_line(alert, now),
            Thing::Alert(alert) => alert_row(alert, now),
        }
    }
}

/// Running workers first, then unmanaged ones, then ended ones.
pub(crate) fn workers(data: &Data) -> Vec<Thing<'_>> {
    let mut workers: Vec<&Worker> = data.workers.rows().iter().collect();
    workers.sort_by_key(|worker| match (worker.is_kept(), worker.managed) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 2,
    });
    workers.into_iter().map(Thing::Worker).collect()
}
