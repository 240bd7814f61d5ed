//! Beads that workers in terminals have.
//!
//! Owns the way from a taken bead to a worker in the worktree of an attempt. Invariants: nobody else works in that
//! directory for as long as the worker has the bead; each step finds out what was done before it, so that it can be
//! repeated after a crash; a worker's row names its bead before its launcher runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use forge_types::{
    AssignedBead, Attempt, AttemptId, Lease, Outcome, ProfileId, Project, Routing, RunId, RunReason,
    RunStatus, SpawnWorker, WorkerId,
};

use super::queue::Queue;
use crate::worktree::queue::{Entry, recorded_path};
use crate::{Error, Forge, Result};

impl Forge {
    /// Takes the directories of workers that outlived the last server, before a run that waits for one can start.
    pub(crate) async fn take_worker_places(&self) -> Result<()> {
        for routing in self.0.store.open_routings().await? {
            let Some(id) = routing.attempt_id else { continue };
            let worker = routing.worker.as_ref().filter(|worker| crate::beads::attempt_of(worker).is_none());
            if worker.is_some()
                && let Some(attempt) = self.0.store.attempt(id).await?
            {
                self.enter_as_worker(&attempt, run_of(id));
            }
        }
        Ok(())
    }

    pub(super) fn leave_worker_place(&self, attempt: &Attempt) {
        if let Some(next) = self.leave_as_worker(attempt, run_of(attempt.id)) {
            self.start_waiting(next);
        }
    }

    /// A name for one more worker of a project: the lowest number that is free.
    pub(super) async fn free_worker(&self, project: &Project) -> Result<WorkerId> {
        let mut taken: Vec<WorkerId> = Vec::new();
        let workers = self.0.store.workers().await?;
        taken.extend(workers.into_iter().filter(|worker| worker.phase.is_kept()).map(|worker| worker.id));
        taken.extend(self.0.store.leases().await?.into_iter().map(|lease| lease.worker));
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = project.name.chars().map(plain).take(40).collect();
        let name = name.trim_matches('-');
        let name = if name.is_empty() { "worker" } else { name };
        (1..=taken.len() + 1)
            .filter_map(|number| WorkerId::new(format!("{name}-{number}")).ok())
            .find(|id| !taken.contains(id))
            .ok_or_else(|| Error::conflict(format!("no name is free for a worker of {}", project.name)))
    }

    /// Starts the worker of a bead that is taken and has its worktree, as soon as the setup script has ended.
    pub(super) async fn start_worker_of(
        &self,
        queue: &Queue,
        lease: &Lease,
        routing: &Routing,
        attempt: &Attempt,
    ) -> Result<()> {
        let runs = self.0.store.runs(attempt.id, forge_store::Dropped::Hidden).await?;
        if runs.iter().any(|run| run.status == RunStatus::Running && run.reason != RunReason::DevServer) {
            return Ok(());
        }
        if let Some(run) = runs.last().filter(|run| run.status != RunStatus::Completed) {
            let why = crate::attempt::verdict::describe_failure(run, &self.last_words(run).await);
            return self.record_bead_failure(queue, lease, &why, Some(attempt)).await;
        }
        if self.enter_as_worker(attempt, run_of(attempt.id)) == Entry::Later {
            // A person's run came first; its end is the next occasion.
            self.leave_worker_place(attempt);
            return Ok(());
        }
        match self.enter_worker_of(queue, lease, routing, attempt).await {
            Ok(()) => {
                tracing::info!(bead = %lease.bead, worker = %lease.worker, "worker started for a bead");
                Ok(())
            }
            Err(error) => {
                self.leave_worker_place(attempt);
                let why = format!("no worker could be started: {error}");
                self.record_bead_failure(queue, lease, &why, Some(attempt)).await
            }
        }
    }

    async fn enter_worker_of(
        &self,
        queue: &Queue,
        lease: &Lease,
        routing: &Routing,
        attempt: &Attempt,
    ) -> Result<()> {
        self.set_log_aside(&lease.worker).await;
        let job = self.job_of(queue, lease).await?;
        let prompt_file = self.write_prompt(&lease.worker, &job.prompt).await?;
        let mut env = BTreeMap::from([
            ("FORGE_PROMPT_FILE".to_owned(), prompt_file.display().to_string()),
            // Forge takes and closes it.
            ("FORGE_MANAGED".to_owned(), "1".to_owned()),
        ]);
        env.extend(self.bead_env(attempt.task_id).await?);
        let by = routing.by.clone().unwrap_or_default();
        let is_defined = self.is_worker_defined(&by).await?;
        let wanted = SpawnWorker {
            definition: is_defined.then(|| by.clone()),
            launcher: (!is_defined).then_some(by),
            id: Some(lease.worker.clone()),
            model: Some(routing.decision.model.clone()).filter(|name| !is_defined && is_model(name)),
            tier: Some(routing.decision.tier),
            workspace: Some(recorded_path(attempt)),
            bead: Some(lease.bead.clone()),
            env,
            ..SpawnWorker::default()
        };
        let assigned = AssignedBead {
            workspace: lease.workspace.clone(),
            id: lease.bead.clone(),
            title: job.title,
            actor: lease.actor.clone(),
            attempt_id: Some(attempt.id),
        };
        self.spawn_assigned(wanted, assigned).await
    }

    /// The worker's prompt, where its launcher finds it.
    async fn write_prompt(&self, worker: &WorkerId, text: &str) -> Result<PathBuf> {
        let dir = self.0.config.home.join("prompts");
        let path = dir.join(format!("{worker}.md"));
        let written = async {
            tokio::fs::create_dir_all(&dir).await?;
            tokio::fs::write(&path, text).await
        };
        written
            .await
            .map_err(|cause| Error::internal(format!("cannot write {}: {cause}", path.display()), cause))?;
        Ok(path)
    }

    /// A start that was cut off before there was a worktree: no fault of the bead.
    pub(super) async fn hand_back(&self, queue: &Queue, lease: &Lease, why: &str) -> Result<()> {
        queue.release(lease, why).await?;
        let mut tx = self.0.store.begin().await?;
        queue.requeue(&mut tx, lease).await?;
        self.write_end_of_lease(&mut tx, lease, Outcome::Released, None).await?;
        tx.commit().await?;
        Ok(())
    }
}

/// An agent whose model is its own affair is known by its name instead.
fn is_model(name: &str) -> bool {
    name.parse::<ProfileId>().is_err()
}

/// The run that a worker's life in an attempt is written down as, which has the directory meanwhile.
pub(super) fn run_of(attempt: AttemptId) -> RunId {
    RunId(attempt.0)
}
