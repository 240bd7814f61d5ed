//! The end of a lease, with what became of its bead.
//!
//! Invariant: a lease ends in the transaction that writes the outcome.

use forge_store::Tx;
use forge_types::{Attempt, Lease, Millis, Outcome, Routing};

use crate::beads::attempt_of;
use crate::{Forge, Result};

impl Forge {
    /// Ends a lease with what became of the bead.
    pub(crate) async fn end_lease(
        &self,
        lease: &Lease,
        outcome: Outcome,
        attempt: Option<&Attempt>,
    ) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        self.write_end_of_lease(&mut tx, lease, outcome, attempt).await?;
        match outcome {
            Outcome::Closed => tx.commit_synced().await?,
            _ => tx.commit().await?,
        };
        Ok(())
    }

    pub(crate) async fn write_end_of_lease(
        &self,
        tx: &mut Tx,
        lease: &Lease,
        outcome: Outcome,
        attempt: Option<&Attempt>,
    ) -> Result<()> {
        tx.drop_lease(&lease.workspace, &lease.bead, &lease.actor).await?;
        let open = self.0.store.open_routings().await?;
        let decided = open.into_iter().find(|routing| is_about(routing, lease));
        if let Some(mut routing) = decided {
            routing.outcome = Some(outcome);
            routing.actual_cost = match attempt_of(&lease.worker) {
                Some(_) => attempt.and_then(|attempt| attempt.cost_usd),
                None => self.0.store.cost_of_lease(lease).await?,
            };
            routing.ended_at = Some(Millis::now());
            tx.update_routing(&routing).await?;
        }
        Ok(())
    }
}

/// Whether a decision is the one that a lease was taken by.
pub(crate) fn is_about(routing: &Routing, lease: &Lease) -> bool {
    routing.worker.as_ref() == Some(&lease.worker)
        && routing.workspace == lease.workspace
        && routing.work == lease.bead
}
