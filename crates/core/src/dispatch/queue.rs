//! Where work is taken from and what becomes of it there: the beads of a workspace, or the tasks that wait on the board.
//!
//! Invariant: whatever is taken is leased in Forge's own store first, so that nobody gets it twice from either.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forge_fleet::beads::{Bead, BeadsError, Close, Filter, Release};
use forge_fleet::work::{Priority, Work};
use forge_store::{Tx, Why};
use forge_types::{
    AlertKind, Lease, Millis, Project, Routing, Task, TaskId, TaskStatus, WaitingBead, WorkerId,
};

use super::prompt;
use crate::beads::{Tracker, alert_subject};
use crate::{Error, Forge, Result};

/// A task has no priority; it counts as usual work.
const TASK_PRIORITY: u8 = 2;

#[derive(Clone)]
pub(super) enum Queue {
    Beads(Arc<Tracker>),
    /// The tasks of a project, whose repository this is.
    Board(PathBuf),
}

/// A piece of work that was taken.
pub(super) struct Job {
    pub title: String,
    pub description: Option<String>,
    /// The prompt of a worker.
    pub prompt: String,
    /// The task that it is already.
    pub task: Option<Task>,
}

impl Job {
    fn of_bead(bead: &Bead, task: Option<Task>) -> Job {
        let prompt = prompt::whole(bead);
        Job { title: bead.title.clone(), description: prompt::description(bead), prompt, task }
    }

    fn of_task(task: Task) -> Job {
        let prompt = prompt::of_task(&task);
        Job { title: task.title.clone(), description: task.description.clone(), prompt, task: Some(task) }
    }
}

impl Queue {
    /// What distinguishes leases and decisions about its work.
    pub fn root(&self) -> &Path {
        match self {
            Queue::Beads(tracker) => tracker.root(),
            Queue::Board(repo) => repo,
        }
    }

    pub fn lease(&self, work: &str, worker: WorkerId, actor: String) -> Lease {
        let workspace = self.root().to_owned();
        Lease { workspace, bead: work.to_owned(), worker, actor, taken_at: Millis::now() }
    }

    /// Gives work back. Whoever else has it by now keeps it.
    pub async fn release(&self, lease: &Lease, why: &str) -> Result<()> {
        // A task is moved in the transaction that ends its lease.
        let Queue::Beads(tracker) = self else { return Ok(()) };
        match tracker.store.release(&lease.bead, &lease.actor, why).await {
            Ok(Release::Released(_) | Release::NotHeld { by: None }) => Ok(()),
            Ok(Release::NotHeld { by: Some(by) }) => {
                tracing::info!(bead = %lease.bead, %by, "the bead is somebody else's by now");
                Ok(())
            }
            // A bead that was deleted has nobody any more.
            Err(BeadsError::NoSuchBead { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn close(&self, lease: &Lease, reason: &str) -> Result<std::result::Result<(), String>> {
        // The end of its attempt has moved a task already.
        let Queue::Beads(tracker) = self else { return Ok(Ok(())) };
        Ok(match tracker.store.close(&lease.bead, &lease.actor, reason).await? {
            Close::Closed(_) | Close::AlreadyClosed => Ok(()),
            Close::Refused(why) => Err(why),
        })
    }

    /// A task that failed and is tried again waits where the others do.
    pub async fn requeue(&self, tx: &mut Tx, lease: &Lease) -> Result<()> {
        if let Queue::Board(_) = self
            && let Ok(id) = lease.bead.parse::<TaskId>()
        {
            tx.move_task(id, TaskStatus::Todo, Why::TriedAgain).await?;
        }
        Ok(())
    }
}

impl Forge {
    /// The queue that a lease was taken from, while that is there.
    pub(super) async fn queue_of(&self, lease: &Lease) -> Result<Option<Queue>> {
        if lease.bead.parse::<TaskId>().is_ok() {
            return Ok(Some(Queue::Board(lease.workspace.clone())));
        }
        Ok(self.tracker_at(&lease.workspace).await?.map(Queue::Beads))
    }

    /// Takes a piece of work, or says who has it.
    pub(super) async fn take_work(&self, queue: &Queue, lease: &Lease, routing: &Routing) -> Result<Job> {
        let Queue::Beads(tracker) = queue else { return self.take_task(lease, routing).await };
        // What the tracker says now counts, not what the list said.
        let bead = self.take_bead(tracker, lease, Some(routing)).await?;
        let links = self.0.store.bead_tasks(tracker.root()).await?;
        let task = match links.into_iter().find(|link| link.bead == bead.id) {
            Some(link) => self.0.store.task(link.task_id).await?,
            None => None,
        };
        Ok(Job::of_bead(&bead, task))
    }

    async fn take_task(&self, lease: &Lease, routing: &Routing) -> Result<Job> {
        let mut tx = self.0.store.begin().await?;
        let task = self.task_of(lease).await?;
        if task.status != TaskStatus::Todo || !tx.take_lease(lease).await? {
            return Err(Error::conflict(format!("task {} is taken", task.id)));
        }
        // Whoever puts a task that was given up back among those to be done wants it to be tried again.
        let failures = self.0.store.bead_failures(&lease.workspace).await?;
        if failures.iter().any(|failure| failure.parked && failure.bead == lease.bead) {
            tx.forgive_bead(&lease.workspace, &lease.bead).await?;
            let subject = alert_subject(&lease.workspace, &lease.bead);
            tx.resolve_alert(AlertKind::BeadParked, &subject, Millis::now()).await?;
        }
        tx.insert_routing(routing).await?;
        tx.commit().await?;
        Ok(Job::of_task(task))
    }

    async fn task_of(&self, lease: &Lease) -> Result<Task> {
        let id = lease.bead.parse::<TaskId>().map_err(|cause| Error::internal("a task has no id", cause))?;
        self.task(id).await
    }

    /// The work that a lease is of.
    pub(super) async fn job_of(&self, queue: &Queue, lease: &Lease) -> Result<Job> {
        match queue {
            Queue::Beads(tracker) => Ok(Job::of_bead(&tracker.one(&lease.bead).await?, None)),
            Queue::Board(_) => Ok(Job::of_task(self.task_of(lease).await?)),
        }
    }

    /// What nobody has and may be given out.
    pub(super) async fn open_work(
        &self,
        project: &Project,
        queue: &Queue,
        waiting: &mut Vec<WaitingBead>,
    ) -> Result<Vec<Work>> {
        let mut open = match queue {
            Queue::Beads(tracker) => ready_beads(tracker).await?,
            Queue::Board(_) => self.waiting_tasks(project).await?,
        };
        if open.is_empty() {
            return Ok(open);
        }
        let leases = self.0.store.leases().await?;
        let is_taken =
            |work: &Work| leases.iter().any(|lease| lease.workspace == queue.root() && lease.bead == work.id);
        open.retain(|work| !is_taken(work));
        if let Queue::Board(_) = queue {
            return Ok(open);
        }
        let failures = self.0.store.bead_failures(queue.root()).await?;
        open.retain(|work| {
            let Some(failure) = failures.iter().find(|failure| failure.parked && failure.bead == work.id)
            else {
                return true;
            };
            let reason = format!("it waits for a person: {}", failure.reason);
            waiting.push(WaitingBead { bead: work.id.clone(), title: work.title.clone(), reason });
            false
        });
        Ok(open)
    }

    /// Tasks that are to be done and are no bead: those come from their tracker.
    async fn waiting_tasks(&self, project: &Project) -> Result<Vec<Work>> {
        let mut waiting = Vec::new();
        for summary in self.0.store.tasks_snapshot(project.id).await?.1 {
            let task = summary.task;
            if task.status == TaskStatus::Todo && self.0.store.bead_of_task(task.id).await?.is_none() {
                waiting.push(Work {
                    id: task.id.to_string(),
                    title: task.title,
                    description: task.description.unwrap_or_default(),
                    priority: Priority::new(TASK_PRIORITY),
                    kind: "task".to_owned(),
                    labels: Vec::new(),
                    created_at_ms: task.created_at.0,
                    blocks: 0,
                    files: None,
                });
            }
        }
        Ok(waiting)
    }
}

async fn ready_beads(tracker: &Tracker) -> Result<Vec<Work>> {
    let ready = tracker.store.ready(&Filter { unassigned: true, ..Filter::default() }).await?;
    if ready.is_empty() {
        return Ok(Vec::new());
    }
    let snapshot = tracker.store.snapshot().await?;
    let mut blocks: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    for dependency in snapshot.beads().iter().flat_map(|bead| &bead.dependencies) {
        *blocks.entry(dependency.depends_on_id.as_str()).or_default() += 1;
    }
    Ok(ready.iter().map(|bead| work_of(bead, blocks.get(bead.id.as_str()).copied().unwrap_or(0))).collect())
}

fn work_of(bead: &Bead, blocks: usize) -> Work {
    Work { description: prompt::description(bead).unwrap_or_default(), blocks, ..Work::from(bead) }
}
