//! Giving a worker another bead.
//!
//! Invariant: nothing is ended before it is known that the other bead is ready; what the worker had goes back to the
//! queue before it gets another one.

use forge_fleet::beads::Filter;
use forge_types::{BeadsOf, Worker, WorkerId};

use crate::{Error, Forge, Result, WorkerEnd};

impl Forge {
    /// Ends the worker, gives back what it had, and starts it again with the other bead.
    pub async fn reassign_worker(&self, id: &WorkerId, bead: &str) -> Result<Worker> {
        let worker = self.worker(id).await?;
        if let Some(attempt) = worker.bead.as_ref().and_then(|had| had.attempt_id) {
            return Err(Error::conflict(format!(
                "worker '{id}' works in the worktree of attempt {attempt}, which is made for its bead; stop the \
                 worker, and the next one gets the other bead"
            )));
        }
        if !worker.config.is_object() {
            return Err(Error::conflict(format!(
                "worker '{id}' was not started by Forge, which cannot start it again with another bead"
            )));
        }
        let of = BeadsOf { project_id: None, workspace: Some(worker.workspace.clone()) };
        let ready = self.tracker(&of).await?.store.ready(&Filter::default()).await?;
        if ready.iter().all(|one| one.id != bead) {
            return Err(Error::conflict(format!("'{bead}' is not ready in {}", worker.workspace.display()))
                .hint("`forge beads ready` shows which are")
                .of_field("bead"));
        }
        self.stop_worker(id, WorkerEnd::default()).await?;
        // What it had goes back to the queue before it gets the other one.
        self.settle_beads().await?;
        let mut changed = self.worker(id).await?;
        self.assign_bead(&mut changed, bead).await?;
        changed.config["bead_id"] = bead.into();
        self.change_worker(id, |stored| {
            let Worker { config, bead, .. } = changed;
            Ok(Some(Worker { config, bead, ..stored.clone() }))
        })
        .await?;
        self.restart_worker(id).await
    }
}
