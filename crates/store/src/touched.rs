//! What a transaction changed, and the events for it.
//!
//! Invariant: one event per entity and transaction, in the order removals, projects, attempts, tasks, runs, drafts,
//! approvals, workers, routings, alerts. What was made and removed again in the same transaction never happened.

use std::collections::HashMap;
use std::hash::Hash;

use forge_types::{
    Alert, AlertId, Approval, ApprovalId, Attempt, AttemptId, Change, Draft, DraftKind, Event, Project,
    ProjectId, Routing, RoutingId, Run, RunId, TaskId, TaskSummary, Worker, WorkerId,
};

/// A map that keeps the order of first insertion.
struct Ordered<K, V> {
    places: HashMap<K, usize>,
    values: Vec<Option<V>>,
}

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Self {
        Self { places: HashMap::new(), values: Vec::new() }
    }
}

impl<K: Hash + Eq, V> Ordered<K, V> {
    fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.values.get_mut(*self.places.get(key)?)?.as_mut()
    }

    fn put(&mut self, key: K, value: V) {
        match self.get_mut(&key) {
            Some(old) => *old = value,
            None => {
                self.places.insert(key, self.values.len());
                self.values.push(Some(value));
            }
        }
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        self.values.get_mut(self.places.remove(key)?)?.take()
    }

    fn into_values(self) -> impl Iterator<Item = V> {
        self.values.into_iter().flatten()
    }
}

impl<K: Hash + Eq, V> Ordered<K, (Change, V)> {
    /// What was made in this transaction stays new, however often it changes.
    fn change(&mut self, key: K, change: Change, value: V) {
        match self.get_mut(&key) {
            Some((_, old)) => *old = value,
            None => self.put(key, (change, value)),
        }
    }

    /// Removes it; whether it was there before this transaction.
    fn existed(&mut self, key: &K) -> bool {
        !matches!(self.remove(key), Some((Change::Created, _)))
    }
}

/// A task as the log will show it, or a mark that its row must be refreshed and read first.
pub(crate) enum TaskState {
    Known { task: TaskSummary, hidden: bool },
    Stale(TaskId),
}

/// The task and the project that an attempt belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Home {
    pub(crate) task: TaskId,
    pub(crate) project: ProjectId,
}

struct DraftState {
    project: ProjectId,
    draft: Option<Draft>,
}

#[derive(Default)]
pub(crate) struct Touched {
    removed: Vec<Event>,
    projects: Ordered<ProjectId, (Change, Project)>,
    attempts: Ordered<AttemptId, (AttemptId, Home, Option<Box<Attempt>>)>,
    tasks: Ordered<TaskId, (Change, TaskState)>,
    runs: Ordered<RunId, (Change, Run)>,
    drafts: Ordered<(AttemptId, DraftKind), (AttemptId, DraftKind, DraftState)>,
    approvals: Ordered<ApprovalId, (Change, Approval)>,
    workers: Ordered<WorkerId, (Change, Worker)>,
    alerts: Ordered<AlertId, (Change, Alert)>,
    routings: Ordered<RoutingId, (Change, Routing)>,
    homes: HashMap<AttemptId, Home>,
}

impl Touched {
    pub(crate) fn project(&mut self, change: Change, project: Project) {
        self.projects.change(project.id, change, project);
    }

    pub(crate) fn attempt_created(&mut self, id: AttemptId, home: Home) {
        self.attempts.put(id, (id, home, None));
    }

    /// Attempts that must be read before `into_events`.
    pub(crate) fn new_attempts(&self) -> Vec<AttemptId> {
        self.attempts.values.iter().flatten().map(|(id, ..)| *id).collect()
    }

    /// A new attempt as it is at the end of the transaction.
    pub(crate) fn attempt_read(&mut self, attempt: Attempt) {
        if let Some((.., stored)) = self.attempts.get_mut(&attempt.id) {
            *stored = Some(Box::new(attempt));
        }
    }

    /// A task whose whole state is known from what was just written.
    pub(crate) fn task(&mut self, change: Change, task: TaskSummary, hidden: bool) {
        let id = task.task.id;
        match self.tasks.get_mut(&id) {
            // The change that made it stale has still to be counted.
            Some((_, TaskState::Stale(_))) => {}
            Some((_, known)) => *known = TaskState::Known { task, hidden },
            None => self.tasks.put(id, (change, TaskState::Known { task, hidden })),
        }
    }

    /// A task that shows something that changed elsewhere.
    pub(crate) fn stale_task(&mut self, id: TaskId) {
        match self.tasks.get_mut(&id) {
            Some((_, state)) => *state = TaskState::Stale(id),
            None => self.tasks.put(id, (Change::Updated, TaskState::Stale(id))),
        }
    }

    pub(crate) fn run(&mut self, change: Change, run: Run) {
        self.runs.change(run.id, change, run);
    }

    pub(crate) fn draft(
        &mut self,
        attempt: AttemptId,
        kind: DraftKind,
        project: ProjectId,
        draft: Option<Draft>,
    ) {
        self.drafts.put((attempt, kind), (attempt, kind, DraftState { project, draft }));
    }

    pub(crate) fn approval(&mut self, change: Change, approval: Approval) {
        self.approvals.change(approval.id, change, approval);
    }

    pub(crate) fn worker(&mut self, change: Change, worker: Worker) {
        self.workers.change(worker.id.clone(), change, worker);
    }

    pub(crate) fn worker_removed(&mut self, id: WorkerId) {
        if self.workers.existed(&id) {
            self.removed.push(Event::WorkerRemoved { id });
        }
    }

    pub(crate) fn alert(&mut self, change: Change, alert: Alert) {
        self.alerts.change(alert.id, change, alert);
    }

    pub(crate) fn routing(&mut self, change: Change, routing: Routing) {
        self.routings.change(routing.id, change, routing);
    }

    pub(crate) fn home(&self, attempt: AttemptId) -> Option<Home> {
        self.homes.get(&attempt).copied()
    }

    pub(crate) fn remember_home(&mut self, attempt: AttemptId, home: Home) {
        self.homes.insert(attempt, home);
    }

    pub(crate) fn project_removed(&mut self, id: ProjectId) {
        if self.projects.existed(&id) {
            self.removed.push(Event::ProjectRemoved { id });
        }
    }

    pub(crate) fn task_removed(&mut self, id: TaskId, project_id: ProjectId) {
        if self.tasks.existed(&id) {
            self.removed.push(Event::TaskRemoved { id, project_id });
        }
    }

    pub(crate) fn attempt_removed(&mut self, id: AttemptId, home: Home) {
        self.homes.remove(&id);
        self.drafts.remove(&(id, DraftKind::FollowUp));
        self.drafts.remove(&(id, DraftKind::Retry));
        if self.attempts.remove(&id).is_none() {
            self.removed.push(Event::AttemptRemoved { id, task_id: home.task, project_id: home.project });
        }
    }

    pub(crate) fn run_removed(&mut self, id: RunId, attempt_id: Option<AttemptId>) {
        if self.runs.existed(&id) {
            self.removed.push(Event::RunRemoved { id, attempt_id });
        }
    }

    /// Tasks that must be read before `into_events`.
    pub(crate) fn stale_tasks(&self) -> Vec<TaskId> {
        let states = self.tasks.values.iter().flatten();
        states
            .filter_map(|(_, state)| match state {
                TaskState::Stale(id) => Some(*id),
                TaskState::Known { .. } => None,
            })
            .collect()
    }

    /// Completes a stale task with its row as it is now.
    pub(crate) fn refreshed(&mut self, task: TaskSummary, hidden: bool) {
        if let Some((_, state)) = self.tasks.get_mut(&task.task.id) {
            *state = TaskState::Known { task, hidden };
        }
    }

    /// The tasks as their events will contain them.
    pub(crate) fn known_tasks(&self) -> impl Iterator<Item = &TaskSummary> {
        self.tasks.values.iter().flatten().filter_map(|(_, state)| match state {
            TaskState::Known { task, .. } => Some(task),
            TaskState::Stale(_) => None,
        })
    }

    pub(crate) fn into_events(self) -> Vec<Event> {
        let mut events = self.removed;
        events
            .extend(self.projects.into_values().map(|(change, project)| Event::Project { change, project }));
        events.extend(self.attempts.into_values().map(|(id, home, attempt)| Event::AttemptCreated {
            id,
            task_id: home.task,
            project_id: home.project,
            attempt,
        }));
        events.extend(self.tasks.into_values().filter_map(|(change, state)| match state {
            TaskState::Known { task, hidden } => Some(Event::Task { change, task, hidden }),
            TaskState::Stale(_) => None,
        }));
        events.extend(self.runs.into_values().map(|(change, run)| Event::Run { change, run }));
        events.extend(self.drafts.into_values().map(|(attempt_id, kind, state)| Event::Draft {
            attempt_id,
            project_id: state.project,
            kind,
            draft: state.draft,
        }));
        let approvals = self.approvals.into_values();
        events.extend(approvals.map(|(change, approval)| Event::Approval { change, approval }));
        events.extend(self.workers.into_values().map(|(change, worker)| Event::Worker { change, worker }));
        events
            .extend(self.routings.into_values().map(|(change, routing)| Event::Routing { change, routing }));
        events.extend(self.alerts.into_values().map(|(change, alert)| Event::Alert { change, alert }));
        events
    }
}
