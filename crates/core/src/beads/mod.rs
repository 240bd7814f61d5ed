//! The beads of projects and workspaces: looking at them, taking them, giving them back.
//!
//! Owns who has a bead: first a lease in Forge's own rows, then the tracker's claim, which is read back. Invariants: a
//! bead is taken by one; what is held under a name that Forge did not give out is never taken from its holder; a bead
//! that an attempt works on is neither released nor closed from outside.

pub(crate) mod lease;
mod stale;
mod survey;
mod tracker;
mod watch;

use forge_fleet::beads::{
    self, Bead, BeadsError, Change, Claim, Close, Filter, Linked, NewBead, Standing, Status, Unlinked,
};
use forge_store::BeadFailure;
use forge_types::wire::BeadStanding;
use forge_types::{
    AlertKind, AttemptId, BeadsOf, ClaimBead, CloseBead, CommentBead, CreateBead, Lease, LinkBead, Millis,
    Outcome, ReleaseBead, Routing, RunReason, RunStatus, TaskId, UpdateBead, WorkerId,
};
use serde::Serialize;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::background::Bell;
use crate::{Error, Forge, Kind, Result};

pub use survey::{BeadsSurvey, survey_beads};
pub(crate) use tracker::{Tracker, Trackers};

/// Who has what the command line and people take without a name.
const PERSON: &str = "person";
/// How the holder of a lease is named that is an attempt.
const ATTEMPT: &str = "attempt-";
const BLOCKS: &str = "blocks";

/// A bead as its tracker has it, and how it stands.
#[derive(Clone, Debug, Serialize)]
pub struct BeadLine {
    #[serde(flatten)]
    bead: Bead,
    standing: BeadStanding,
}

/// Which beads are listed.
#[derive(Clone, Debug, Default)]
pub struct BeadFilter {
    /// Those that can be worked on, in the order of their tracker.
    pub ready: bool,
    pub status: Option<String>,
}

pub(crate) struct Beads {
    trackers: Trackers,
    /// Rounds and settlements take turns.
    turn: Semaphore,
}

impl Default for Beads {
    fn default() -> Self {
        Self { trackers: Trackers::default(), turn: Semaphore::new(1) }
    }
}

impl Beads {
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>> {
        self.turn.acquire().await.map_err(|cause| Error::internal("closing", cause))
    }
}

impl Forge {
    /// A project that keeps no beads has none; whether it keeps any is part of its [`Forge::dispatch_rule`].
    pub async fn beads(&self, of: &BeadsOf, filter: &BeadFilter) -> Result<Vec<BeadLine>> {
        let tracker = match of.project_id {
            Some(id) => match self.tracker_of(id).await? {
                Some(tracker) => {
                    self.show_beads(id, &tracker);
                    tracker
                }
                None => return Ok(Vec::new()),
            },
            None => self.tracker(of).await?,
        };
        let mut found = match filter.ready {
            true => tracker.store.ready(&Filter::default()).await?,
            false => tracker.store.snapshot().await?.beads().to_vec(),
        };
        if let Some(status) = &filter.status {
            beads::check_status(status, &*tracker.store.snapshot().await?)?;
        }
        let status = filter.status.clone().map(Status::from);
        found.retain(|bead| *bead.status() != Status::Tombstone);
        found.retain(|bead| status.as_ref().is_none_or(|status| bead.status() == status));
        self.lines(&tracker, found).await
    }

    pub async fn bead(&self, id: &str, of: &BeadsOf) -> Result<BeadLine> {
        let tracker = self.tracker(of).await?;
        self.line(&tracker, id).await
    }

    pub async fn create_bead(&self, request: CreateBead) -> Result<BeadLine> {
        let tracker = self.tracker(&request.of).await?;
        if let Some(kind) = &request.issue_type {
            let settings = self.settings();
            beads::check_type(kind, &*tracker.store.snapshot().await?, &settings.fleet.no_change_ok)?;
        }
        let usual = NewBead::new(request.title);
        let new = NewBead {
            description: request.description,
            issue_type: request.issue_type.unwrap_or(usual.issue_type),
            priority: request.priority.unwrap_or(usual.priority),
            labels: request.labels,
            parent: request.parent,
            dependencies: request.depends_on.into_iter().map(|on| (BLOCKS.to_owned(), on)).collect(),
            ..usual
        };
        let bead = tracker.store.create(&new, &person()).await?;
        self.0.background.ring(Bell::Beads);
        self.line(&tracker, &bead.id).await
    }

    pub async fn claim_bead(&self, id: &str, request: ClaimBead) -> Result<BeadLine> {
        let tracker = self.tracker(&request.of).await?;
        let worker = request.worker.map_or_else(|| WorkerId::new(PERSON), Ok);
        let worker = worker.map_err(|error| Error::invalid(format!("{error}")).of_field("worker"))?;
        if worker.as_str().starts_with(ATTEMPT) {
            return Err(Error::invalid(format!("'{worker}' begins with '{ATTEMPT}', which names attempts"))
                .hint("choose another name")
                .of_field("worker"));
        }
        let actor = beads::actor(worker.as_str(), uuid::Uuid::new_v4());
        let lease = new_lease(&tracker, id, worker, actor);
        self.take_bead(&tracker, &lease, None).await?;
        self.line(&tracker, id).await
    }

    /// Gives a bead back. Also forgets what was counted against it, so a parked one is worked on again.
    pub async fn release_bead(&self, id: &str, request: ReleaseBead) -> Result<BeadLine> {
        let tracker = self.tracker(&request.of).await?;
        let _turn = self.0.beads.turn().await?;
        let lease = self.lease_of(&tracker, id).await?;
        if let Some(lease) = &lease {
            self.refuse_at_work(lease, "released").await?;
        }
        let bead = tracker.one(id).await?;
        if bead.is_over() && lease.is_none() {
            return Err(Error::conflict(format!("bead {id} is closed: there is nothing to release")));
        }
        let holder = lease.as_ref().map(|lease| lease.actor.as_str()).or(bead.assignee());
        let comment = request.comment.unwrap_or_default();
        match holder {
            Some(actor) if !beads::is_ours(actor) => {
                return Err(Error::conflict(format!(
                    "bead {id} was taken by '{actor}', not through Forge, and stays theirs; \
                     release it with the program that they took it with"
                )));
            }
            Some(actor) => {
                tracker.store.release(id, actor, &comment).await?;
            }
            None if !self.is_blamed(&tracker, id).await? => {
                return Err(Error::conflict(format!("nobody has bead {id}: there is nothing to release")));
            }
            None => {}
        }
        self.clear_failures(&tracker, id, lease.as_ref(), Outcome::Released).await?;
        self.line(&tracker, id).await
    }

    pub async fn close_bead(&self, id: &str, request: CloseBead) -> Result<BeadLine> {
        let tracker = self.tracker(&request.of).await?;
        let _turn = self.0.beads.turn().await?;
        let lease = self.lease_of(&tracker, id).await?;
        if let Some(lease) = &lease {
            self.refuse_at_work(lease, "closed").await?;
        }
        let actor = lease.as_ref().map_or_else(person, |lease| lease.actor.clone());
        match tracker.store.close(id, &actor, &request.reason).await? {
            Close::Closed(_) => {}
            Close::AlreadyClosed => return Err(Error::conflict(format!("bead {id} is closed already"))),
            Close::Refused(why) => return Err(Error::conflict(why)),
        }
        self.clear_failures(&tracker, id, lease.as_ref(), Outcome::Closed).await?;
        self.line(&tracker, id).await
    }

    /// Makes a bead wait for another; returns whether that is new.
    pub async fn link_beads(&self, id: &str, request: LinkBead) -> Result<bool> {
        let tracker = self.tracker(&request.of).await?;
        let kind = request.kind.as_deref().unwrap_or(BLOCKS);
        beads::check_edge(kind, &*tracker.store.snapshot().await?)?;
        let linked = tracker.store.add_dep(id, &request.depends_on, kind, &person()).await?;
        self.0.background.ring(Bell::Beads);
        Ok(linked == Linked::Added)
    }

    /// Makes a bead no longer wait for another; returns whether it did.
    pub async fn unlink_beads(&self, id: &str, request: LinkBead) -> Result<bool> {
        let tracker = self.tracker(&request.of).await?;
        let kind = request.kind.as_deref();
        let unlinked = tracker.store.remove_dep(id, &request.depends_on, kind, &person()).await?;
        self.0.background.ring(Bell::Beads);
        Ok(unlinked == Unlinked::Removed)
    }

    pub async fn comment_bead(&self, id: &str, request: CommentBead) -> Result<BeadLine> {
        let tracker = self.tracker(&request.of).await?;
        tracker.store.comment(id, &person(), &request.text).await?;
        self.line(&tracker, id).await
    }

    pub async fn update_bead(&self, id: &str, request: UpdateBead) -> Result<BeadLine> {
        let tracker = self.tracker(&request.of).await?;
        if let Some(status) = &request.status {
            beads::check_status(status, &*tracker.store.snapshot().await?)?;
        }
        let change = Change {
            priority: request.priority,
            status: request.status.map(Status::from),
            ..Change::default()
        };
        tracker.store.update(id, &person(), &change).await?;
        self.0.background.ring(Bell::Beads);
        self.line(&tracker, id).await
    }

    /// Takes a bead: the lease, then the tracker's claim. Whoever loses leaves nothing behind but the decision's end.
    pub(crate) async fn take_bead(
        &self,
        tracker: &Tracker,
        lease: &Lease,
        routing: Option<&Routing>,
    ) -> Result<Bead> {
        let id = &lease.bead;
        let mut tx = self.0.store.begin().await?;
        if !tx.take_lease(lease).await? {
            drop(tx);
            let by = self.lease_of(tracker, id).await?;
            let by = by.map_or_else(|| "somebody else".to_owned(), |held| held.worker.to_string());
            return Err(Error::conflict(format!("bead {id} is taken: {by} has it")));
        }
        if let Some(routing) = routing {
            tx.insert_routing(routing).await?;
        }
        tx.commit().await?;
        let refusal = match tracker.store.claim(id, &lease.actor).await {
            Claim::Won(bead) => return Ok(bead),
            Claim::AlreadyClaimed { by } => Error::conflict(format!("bead {id} is taken: {by} has it")),
            Claim::NotClaimable { status } => {
                Error::conflict(format!("bead {id} is {status}; only an open one can be taken"))
            }
            Claim::Blocked { by } => {
                Error::conflict(format!("bead {id} waits for {}", by.join(", "))).hint("close them first")
            }
            Claim::Retryable(why) => Error::new(
                Kind::Unavailable,
                format!("bead {id} was not taken: the beads are locked ({why})"),
            )
            .hint("try again"),
            Claim::Fatal(error) => error.into(),
        };
        self.end_lease(lease, Outcome::Released, None).await?;
        Err(refusal)
    }

    /// The environment of an agent that works on a bead. A worktree has a copy of the beads that nobody else sees, so
    /// the one place is named.
    pub(crate) async fn bead_env(&self, task: TaskId) -> Result<Vec<(String, String)>> {
        let Some(link) = self.0.store.bead_of_task(task).await? else { return Ok(Vec::new()) };
        let mut env = vec![("FORGE_ASSIGNED_BEAD".to_owned(), link.bead)];
        if let Some(tracker) = self.tracker_at(&link.workspace).await? {
            env.push(("BEADS_DIR".to_owned(), tracker.workspace.place.dir.to_string_lossy().into_owned()));
        }
        Ok(env)
    }

    pub(crate) async fn lease_of(&self, tracker: &Tracker, id: &str) -> Result<Option<Lease>> {
        let leases = self.0.store.leases().await?;
        Ok(leases.into_iter().find(|lease| lease.workspace == tracker.root() && lease.bead == id))
    }

    /// Whether an agent or a script of the attempt runs, or waits to.
    pub(crate) async fn is_at_work(&self, id: AttemptId) -> Result<bool> {
        let runs = self.0.store.runs(id, forge_store::Dropped::Hidden).await?;
        Ok(runs.iter().any(|run| run.status == RunStatus::Running && run.reason != RunReason::DevServer))
    }

    async fn refuse_at_work(&self, lease: &Lease, what: &str) -> Result<()> {
        match attempt_of(&lease.worker) {
            Some(attempt) if self.is_at_work(attempt).await? => Err(Error::conflict(format!(
                "bead {} cannot be {what}: attempt {attempt} works on it",
                lease.bead
            ))
            .hint(format!("stop that first (`forge stop {attempt}`)"))),
            Some(_) => Ok(()),
            None => self.refuse_held(lease, what).await,
        }
    }

    /// A worker that lives and has the bead goes first.
    async fn refuse_held(&self, lease: &Lease, what: &str) -> Result<()> {
        let worker = self.0.store.worker(&lease.worker).await?.filter(|worker| {
            worker.phase.is_kept() && worker.bead.as_ref().is_some_and(|bead| bead.actor == lease.actor)
        });
        match worker {
            Some(worker) => Err(Error::conflict(format!(
                "bead {} cannot be {what}: worker {} works on it; stop that first (`forge worker stop {}`)",
                lease.bead, worker.id, worker.id
            ))),
            None => Ok(()),
        }
    }

    async fn is_blamed(&self, tracker: &Tracker, id: &str) -> Result<bool> {
        let failures = self.0.store.bead_failures(tracker.root()).await?;
        Ok(failures.iter().any(|failure| failure.bead == id))
    }

    /// A person decided about the bead: whoever had it lost it, and what was counted against it is forgotten.
    pub(crate) async fn clear_failures(
        &self,
        tracker: &Tracker,
        id: &str,
        lease: Option<&Lease>,
        outcome: Outcome,
    ) -> Result<()> {
        if let Some(lease) = lease {
            self.end_lease(lease, outcome, None).await?;
        }
        let mut tx = self.0.store.begin().await?;
        tx.forgive_bead(tracker.root(), id).await?;
        tx.resolve_alert(AlertKind::BeadParked, &alert_subject(tracker.root(), id), Millis::now()).await?;
        tx.commit().await?;
        self.0.background.ring(Bell::Beads);
        Ok(())
    }

    async fn line(&self, tracker: &Tracker, id: &str) -> Result<BeadLine> {
        let bead = tracker.one(id).await?;
        let lines = self.lines(tracker, vec![bead]).await?;
        lines.into_iter().next().ok_or_else(|| BeadsError::NoSuchBead { id: id.to_owned() }.into())
    }

    /// What must be closed before a leased bead, or was written down as such since it was taken.
    pub(crate) async fn blockers_of(&self, tracker: &Tracker, lease: &Lease) -> Result<Vec<String>> {
        let snapshot = tracker.store.snapshot().await?;
        let mut found = tracker.workspace.flavour.policy().blockers(&snapshot, &lease.bead);
        let bead = snapshot.beads().iter().find(|bead| bead.id == lease.bead);
        for dependency in bead.iter().flat_map(|bead| &bead.dependencies) {
            let made = dependency.rest.get("created_at").and_then(|at| at.as_str()?.parse().ok());
            let made = made.map(|at: jiff::Timestamp| at.as_millisecond());
            if made.is_some_and(|made| made >= lease.taken_at.0) && !found.contains(&dependency.depends_on_id)
            {
                found.push(dependency.depends_on_id.clone());
            }
        }
        Ok(found)
    }

    async fn lines(&self, tracker: &Tracker, found: Vec<Bead>) -> Result<Vec<BeadLine>> {
        let snapshot = tracker.store.snapshot().await?;
        let standings = tracker.workspace.flavour.policy().standings(&snapshot, jiff::Timestamp::now());
        let standings: std::collections::HashMap<&str, &Standing> =
            snapshot.beads().iter().map(|bead| bead.id.as_str()).zip(&standings).collect();
        // In this order: a lease ends together with the failure that sets its bead aside, so none is seen with both.
        let failures = self.0.store.bead_failures(tracker.root()).await?;
        let leases = self.0.store.leases().await?;
        let tasks = self.0.store.bead_tasks(tracker.root()).await?;
        let line = |bead: Bead| {
            let standing = standings.get(bead.id.as_str()).copied();
            let lease = leases.iter().find(|held| held.workspace == tracker.root() && held.bead == bead.id);
            let failure: Option<&BeadFailure> = failures.iter().find(|failure| failure.bead == bead.id);
            let standing = BeadStanding {
                ready: standing == Some(&Standing::Ready),
                blocked_by: standing.map(blockers).unwrap_or_default(),
                lease: lease.cloned(),
                failures: failure.map_or(0, |failure| failure.count),
                parked: failure.filter(|failure| failure.parked).map(|failure| failure.reason.clone()),
                task_id: tasks.iter().find(|link| link.bead == bead.id).map(|link| link.task_id),
            };
            BeadLine { bead, standing }
        };
        Ok(found.into_iter().map(line).collect())
    }
}

fn blockers(standing: &Standing) -> Vec<String> {
    match standing {
        Standing::Blocked(by) | Standing::OpenChildren(by) => by.clone(),
        Standing::ParentBlocked(parent) => vec![parent.clone()],
        Standing::Ready | Standing::NotOpen | Standing::Hidden | Standing::Deferred => Vec::new(),
    }
}

pub(crate) fn new_lease(tracker: &Tracker, bead: &str, worker: WorkerId, actor: String) -> Lease {
    Lease {
        workspace: tracker.root().to_owned(),
        bead: bead.to_owned(),
        worker,
        actor,
        taken_at: Millis::now(),
    }
}

/// The name under which an attempt holds a lease.
pub(crate) fn worker_of(attempt: AttemptId) -> Result<WorkerId> {
    let named = WorkerId::new(format!("{ATTEMPT}{attempt}"));
    named.map_err(|cause| Error::internal("an attempt cannot be named", cause))
}

/// The attempt that holds a lease, if it is one.
pub(crate) fn attempt_of(worker: &WorkerId) -> Option<AttemptId> {
    worker.as_str().strip_prefix(ATTEMPT)?.parse().ok()
}

/// What distinguishes alerts about beads.
pub(crate) fn alert_subject(workspace: &std::path::Path, bead: &str) -> String {
    format!("{bead} in {}", workspace.display())
}

fn person() -> String {
    beads::actor(PERSON, uuid::Uuid::new_v4())
}

impl From<BeadsError> for Error {
    fn from(error: BeadsError) -> Self {
        let kind = match &error {
            BeadsError::NoSuchBead { .. } => Kind::NotFound,
            BeadsError::Invalid { .. } => Kind::Invalid,
            BeadsError::Refused(_)
            | BeadsError::ReadOnly(_)
            | BeadsError::Damaged { .. }
            | BeadsError::Unsupported { .. } => Kind::Conflict,
            BeadsError::File(file) if file.is_refusal() => Kind::Conflict,
            BeadsError::Busy(_) | BeadsError::TimedOut { .. } => Kind::Unavailable,
            BeadsError::Io { .. } | BeadsError::File(_) | BeadsError::Program { .. } => {
                return Error::internal(error.to_string(), error);
            }
        };
        Error::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_known_by_the_name_it_holds_a_lease_under() {
        let attempt = AttemptId::random();
        assert_eq!(attempt_of(&worker_of(attempt).unwrap()), Some(attempt));
        for other in ["alpha", "attempt-1", "person"] {
            assert_eq!(attempt_of(&other.parse().unwrap()), None, "{other}");
        }
    }
}
