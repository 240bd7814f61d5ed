//! What happened, in the order in which it happened.
//!
//! Invariant: an event is written in the same transaction as the state that it describes and carries that state whole,
//! so a reader of the log never has to look up what an event meant at the time.

use serde::{Deserialize, Serialize};

use crate::{
    Alert, Approval, Attempt, AttemptId, Draft, DraftKind, Project, ProjectId, Routing, Run, RunId, TaskId,
    TaskSummary, Worker, WorkerId,
};

/// Whether an entity is new to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    Created,
    Updated,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Project {
        change: Change,
        project: Project,
    },
    ProjectRemoved {
        id: ProjectId,
    },
    /// `hidden` tasks are agent chats, which boards do not show.
    Task {
        change: Change,
        task: TaskSummary,
        hidden: bool,
    },
    TaskRemoved {
        id: TaskId,
        project_id: ProjectId,
    },
    /// `attempt` is absent in events that older versions wrote.
    AttemptCreated {
        id: AttemptId,
        task_id: TaskId,
        project_id: ProjectId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<Box<Attempt>>,
    },
    AttemptRemoved {
        id: AttemptId,
        task_id: TaskId,
        project_id: ProjectId,
    },
    Run {
        change: Change,
        run: Run,
    },
    RunRemoved {
        id: RunId,
        attempt_id: Option<AttemptId>,
    },
    /// `draft` is `None` when it was deleted.
    Draft {
        attempt_id: AttemptId,
        project_id: ProjectId,
        kind: DraftKind,
        draft: Option<Draft>,
    },
    Approval {
        change: Change,
        approval: Approval,
    },
    Worker {
        change: Change,
        worker: Worker,
    },
    WorkerRemoved {
        id: WorkerId,
    },
    Alert {
        change: Change,
        alert: Alert,
    },
    Routing {
        change: Change,
        routing: Routing,
    },
}

/// An event with its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord {
    pub seq: i64,
    pub event: Event,
}
