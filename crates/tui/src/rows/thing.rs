//! What a row shows. Cells are built only for rows that are visible, or to filter and sort.

use forge_types::wire::{ListedWorker, PendingApproval};
use forge_types::{Alert, ListedAttempt, Millis, Routing, TaskSummary, UsageGroup, WorkerEfficiency};

use super::cells::{
    Cell, attempt_line, attempt_row, efficiency_row, model_usage_row, question_row, task_row, usage_row,
};
use super::fleet::{alert_line, alert_row, bead_row, routing_row, worker_row};
use crate::model::{Bead, Data, is_kept, name_of};
use crate::state::{State, Subject, View};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Thing<'a> {
    Question(&'a PendingApproval),
    Attempt(&'a ListedAttempt),
    Task(&'a TaskSummary),
    Bead(&'a Bead),
    Worker(&'a ListedWorker),
    Usage(&'a UsageGroup),
    Efficiency(&'a WorkerEfficiency),
    Routing(&'a Routing),
    Alert(&'a Alert),
}

impl Thing<'_> {
    pub(crate) fn subject(&self) -> Subject {
        match self {
            Thing::Question(question) => Subject::Question(question.id),
            Thing::Attempt(listed) => Subject::Attempt(listed.attempt.id),
            Thing::Task(task) => Subject::Task(task.task.id),
            Thing::Bead(bead) => Subject::Bead { project: bead.project, id: bead.facts.id.clone() },
            Thing::Worker(listed) => Subject::Worker(listed.worker.id.clone()),
            Thing::Usage(group) => Subject::Spent(name_of(group)),
            Thing::Efficiency(worker) => Subject::Spent(worker.worker_id.to_string()),
            Thing::Routing(routing) => Subject::Routing(routing.id),
            Thing::Alert(alert) => Subject::Alert(alert.id),
        }
    }

    /// The moment whose age the row shows.
    pub(crate) fn at(&self) -> Option<Millis> {
        match self {
            Thing::Question(question) => Some(question.created_at),
            Thing::Attempt(listed) => Some(listed.attempt.created_at),
            Thing::Task(task) => Some(task.task.created_at),
            Thing::Bead(bead) => bead.updated_at,
            Thing::Worker(listed) => Some(listed.worker.since()),
            Thing::Usage(_) | Thing::Efficiency(_) => None,
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
            Thing::Usage(group) if group.day.is_some() => usage_row(group),
            Thing::Usage(group) => model_usage_row(group, data.usage.served.rows()),
            Thing::Efficiency(worker) => efficiency_row(worker),
            Thing::Routing(routing) => routing_row(routing, now),
            Thing::Alert(alert) if is_line => alert_line(alert, now),
            Thing::Alert(alert) => alert_row(alert, now),
        }
    }
}

/// Running workers first, then unmanaged ones, then ended ones.
pub(crate) fn workers(data: &Data) -> Vec<Thing<'_>> {
    let mut workers: Vec<&ListedWorker> = data.workers.rows().iter().collect();
    workers.sort_by_key(|worker| match (is_kept(worker), worker.managed) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 2,
    });
    workers.into_iter().map(Thing::Worker).collect()
}
