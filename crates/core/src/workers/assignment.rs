//! The bead of a worker that a person started with one.
//!
//! Invariant: the row names the bead and the claim's actor before anything is claimed, so that whatever is claimed is
//! found again; a worker does not start without its bead.

use forge_fleet::beads;
use forge_types::{AssignedBead, Worker};
use serde_json::Value;

use crate::beads::new_lease;
use crate::{Error, Forge, Result};

impl Forge {
    /// Writes into the row whose bead it is. Where the workspace has no beads, the launcher sees to it by itself.
    pub(crate) async fn assign_bead(&self, worker: &mut Worker, bead: &str) -> Result<()> {
        let Some(tracker) = self.tracker_at(&worker.workspace).await? else { return Ok(()) };
        let found = tracker.one(bead).await?;
        worker.bead = Some(AssignedBead {
            workspace: tracker.root().to_owned(),
            id: found.id,
            title: found.title,
            actor: beads::actor(worker.id.as_str(), uuid::Uuid::new_v4()),
            attempt_id: None,
        });
        let dir = tracker.workspace.place.dir.display().to_string();
        for (name, value) in [("FORGE_MANAGED", "1".to_owned()), ("BEADS_DIR", dir)] {
            worker.config["env"][name] = Value::from(value);
        }
        Ok(())
    }

    /// Takes the bead of a worker that is about to be started, unless it has it.
    pub(super) async fn claim_assigned(&self, worker: &Worker) -> Result<()> {
        let Some(bead) = &worker.bead else { return Ok(()) };
        let Some(tracker) = self.tracker_at(&bead.workspace).await? else { return Ok(()) };
        if self.lease_of(&tracker, &bead.id).await?.is_some_and(|lease| lease.actor == bead.actor) {
            return Ok(());
        }
        if bead.attempt_id.is_some() {
            return Err(Error::conflict(format!(
                "worker '{}' was started for bead {}, which has been settled; the next one is given to it by itself",
                worker.id, bead.id
            )));
        }
        let lease = new_lease(&tracker, &bead.id, worker.id.clone(), bead.actor.clone());
        self.take_bead(&tracker, &lease, None).await.map(drop)
    }
}
