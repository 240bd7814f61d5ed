//! What becomes of a bead when its attempt is over.
//!
//! Invariant: the tracker is changed first and the lease ends after that, with the outcome, so whoever is cut off in between
//! finds the lease again and says the same once more: a bead that is closed already is closed, and one that is open and
//! nobody's is released.

use forge_types::{
    Alert, AlertKind, Attempt, AttemptId, CloseOn, DispatchLanding, Lease, Merge, Millis, Outcome, PrStatus,
    RebaseAttempt,
};

use super::queue::Queue;
use crate::attempt::verdict::Verdict;
use crate::beads::lease::is_about;
use crate::beads::{alert_subject, attempt_of};
use crate::review::merge::RebaseOutcome;
use crate::{Error, Forge, Result};

/// How the reason begins with which the bead of an attempt is closed.
pub(crate) const DONE_IN: &str = "Done in Forge attempt";

impl Forge {
    /// Settles every bead whose attempt is over. The caller has the dispatcher's turn.
    pub(super) async fn settle_leases(&self) -> Result<()> {
        let decided = self.0.store.open_routings().await?;
        for lease in self.0.store.leases().await? {
            let settled = match attempt_of(&lease.worker) {
                Some(id) => self.settle_lease(&lease, id).await,
                None => self.settle_worker(&lease, decided.iter().find(|one| is_about(one, &lease))).await,
            };
            if let Err(error) = settled {
                let (bead, by) = (&lease.bead, &lease.worker);
                tracing::warn!(%bead, %by, %error, "a bead is not settled; trying again");
            }
        }
        Ok(())
    }

    async fn settle_lease(&self, lease: &Lease, id: AttemptId) -> Result<()> {
        let attempt = self.0.store.attempt(id).await?;
        if let Some(attempt) = &attempt
            && self.is_at_work(attempt.id).await?
        {
            return Ok(());
        }
        let Some(queue) = self.queue_of(lease).await? else {
            tracing::warn!(bead = %lease.bead, workspace = %lease.workspace.display(), "its beads are gone");
            return self.end_lease(lease, Outcome::Released, None).await;
        };
        match attempt {
            // No fault of its own.
            None => self.hand_back(&queue, lease, "The start of this work was cut off.").await,
            Some(attempt) => self.settle_attempt(&queue, lease, &attempt).await,
        }
    }

    /// Does with a piece of work what its attempt came to.
    pub(super) async fn settle_attempt(&self, queue: &Queue, lease: &Lease, attempt: &Attempt) -> Result<()> {
        match self.judge_attempt(attempt).await? {
            Verdict::AtWork => Ok(()),
            Verdict::Succeeded => self.succeed(queue, lease, attempt).await,
            Verdict::Failed(why) => self.record_bead_failure(queue, lease, &why, Some(attempt)).await,
            Verdict::Left(why) => self.set_aside(queue, lease, &why, Some(attempt)).await,
        }
    }

    async fn succeed(&self, queue: &Queue, lease: &Lease, attempt: &Attempt) -> Result<()> {
        let decided = self.0.store.open_routings().await?.into_iter().find(|one| is_about(one, lease));
        let (landing, close_on) = decided.map(|one| (one.landing, one.close_on)).unwrap_or_default();
        let has_landed = self.has_landed(attempt).await?;
        let has_change = has_landed || self.has_change(attempt).await?;
        if !has_landed {
            if has_change && waits_for_merge(landing, close_on) {
                return Ok(());
            }
            if let Some(why) = self.open_conflict(attempt).await? {
                return self.set_aside(queue, lease, &why, Some(attempt)).await;
            }
            if !has_change && let Some(why) = self.refuse_no_change(queue, lease, attempt).await? {
                return self.ask_for_help(queue, lease, &why, Some(attempt)).await;
            }
            if has_change
                && landing == DispatchLanding::Merge
                && let Err(error) = self.merge_upon(attempt.id).await
            {
                let why = format!("its work is on branch {} and cannot be merged: {error}", attempt.branch);
                return self.set_aside(queue, lease, &why, Some(attempt)).await;
            }
        }
        // bd reads a failure out of words like "failed" in a reason, so no words of others stand in it.
        let without = if has_change { "" } else { ", without a change" };
        let reason = format!("{DONE_IN} {}{without}", attempt.id);
        match queue.close(lease, &reason).await? {
            Ok(()) => {
                tracing::info!(bead = %lease.bead, attempt = %attempt.id, "bead closed");
                let mut tx = self.0.store.begin().await?;
                tx.forgive_bead(&lease.workspace, &lease.bead).await?;
                let subject = alert_subject(&lease.workspace, &lease.bead);
                tx.resolve_alert(AlertKind::BeadParked, &subject, Millis::now()).await?;
                self.write_end_of_lease(&mut tx, lease, Outcome::Closed, Some(attempt)).await?;
                tx.commit_synced().await?;
                Ok(())
            }
            // The agent found that something else comes first and said so in the tracker.
            Err(why) => {
                let said = format!("Attempt {} ended, and the bead is not done: {why}", attempt.id);
                queue.release(lease, &said).await?;
                self.end_lease(lease, Outcome::Released, Some(attempt)).await
            }
        }
    }

    /// Merges an attempt; others may have been merged since it began.
    async fn merge_upon(&self, id: AttemptId) -> Result<()> {
        let Err(error) = self.merge_attempt(id, None, None).await else { return Ok(()) };
        match self.rebase_attempt(id, RebaseAttempt::default()).await? {
            RebaseOutcome::Done => self.merge_attempt(id, None, None).await,
            RebaseOutcome::Conflicts { message } => Err(Error::conflict(message)),
            RebaseOutcome::InProgress => Err(error),
        }
    }

    async fn has_landed(&self, attempt: &Attempt) -> Result<bool> {
        let merges = self.0.store.merges(attempt.id).await?;
        Ok(merges.iter().any(|merge| match merge {
            Merge::Direct { .. } => true,
            Merge::Pr { pr_info, .. } => pr_info.status == PrStatus::Merged,
        }))
    }

    /// Gives a bead back and counts that against it; the last time it is set aside.
    pub(super) async fn record_bead_failure(
        &self,
        queue: &Queue,
        lease: &Lease,
        why: &str,
        attempt: Option<&Attempt>,
    ) -> Result<()> {
        self.fail(queue, lease, why, attempt, self.settings().fleet.max_failures).await
    }

    /// Gives a bead back for a person to look at.
    pub(super) async fn set_aside(
        &self,
        queue: &Queue,
        lease: &Lease,
        why: &str,
        attempt: Option<&Attempt>,
    ) -> Result<()> {
        self.fail(queue, lease, why, attempt, 1).await
    }

    async fn fail(
        &self,
        queue: &Queue,
        lease: &Lease,
        why: &str,
        attempt: Option<&Attempt>,
        most: u32,
    ) -> Result<()> {
        let said = match attempt {
            Some(attempt) => format!("Attempt {} on branch {}: {why}", attempt.id, attempt.branch),
            None => why.to_owned(),
        };
        queue.release(lease, &said).await?;
        let now = Millis::now();
        let mut tx = self.0.store.begin().await?;
        let count = tx.count_bead_failure(&lease.workspace, &lease.bead, why, now).await?;
        let outcome = if count >= most { Outcome::Parked } else { Outcome::Released };
        if outcome == Outcome::Released {
            queue.requeue(&mut tx, lease).await?;
        }
        if outcome == Outcome::Parked {
            tx.park_bead(&lease.workspace, &lease.bead).await?;
            tx.raise_alert(parked(queue, lease, why, count)).await?;
        }
        self.write_end_of_lease(&mut tx, lease, outcome, attempt).await?;
        tx.commit().await?;
        tracing::warn!(bead = %lease.bead, count, parked = outcome == Outcome::Parked, "bead given back: {why}");
        Ok(())
    }
}

fn waits_for_merge(landing: DispatchLanding, close_on: CloseOn) -> bool {
    close_on == CloseOn::Merge && landing != DispatchLanding::Merge
}

fn parked(queue: &Queue, lease: &Lease, why: &str, count: u32) -> Alert {
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let work = &lease.bead;
    let message = match queue {
        Queue::Beads(_) => format!(
            "bead {work} was given up {times} and waits for a person: {why}; `forge beads release {work}` lets it be \
             tried again"
        ),
        Queue::Board(_) => format!(
            "task {work} was given up {times} and waits for a person: {why}; move it back to To do to let it be tried \
             again"
        ),
    };
    Alert::new(AlertKind::BeadParked, alert_subject(&lease.workspace, &lease.bead), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bead_waits_for_a_merge_only_where_somebody_else_merges() {
        assert!(waits_for_merge(DispatchLanding::Review, CloseOn::Merge));
        assert!(waits_for_merge(DispatchLanding::Pr, CloseOn::Merge));
        assert!(!waits_for_merge(DispatchLanding::Merge, CloseOn::Merge));
        assert!(!waits_for_merge(DispatchLanding::default(), CloseOn::default()));
    }
}
