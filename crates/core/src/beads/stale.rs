//! Beads that their tracker gives to a worker of ours which does not have them.
//!
//! Owns the rule of who is stale. Invariants: only a name that this installation gave out is looked at, because another
//! one on the same machine has names that look the same; whoever has a lease is not stale; what was done is reported.

use std::collections::HashSet;

use forge_fleet::beads::{Bead, Release, Status};
use forge_types::{AlertKind, Millis, RecoveryPolicy, Severity};

use super::{Tracker, alert_subject};
use crate::background::Bell;
use crate::notify::alerts::raise_as;
use crate::{Forge, Result};

impl Forge {
    /// Releases, or only reports, by the policy.
    pub(crate) async fn release_stale_beads(&self) -> Result<()> {
        let policy = self.settings().fleet.recovery.stale_assignee_policy;
        if policy == RecoveryPolicy::Disabled {
            return Ok(());
        }
        let mut stale = HashSet::new();
        for tracker in self.trackers().await? {
            // No lease comes or goes meanwhile.
            let _turn = self.0.beads.turn().await?;
            for (bead, actor) in self.stale_beads(&tracker).await? {
                if policy == RecoveryPolicy::Auto {
                    self.release_stale(&tracker, &bead, &actor).await?;
                } else if stale.insert(alert_subject(tracker.root(), &bead.id)) {
                    let words = format!("bead {} is in progress by {actor}, which nobody works as", bead.id);
                    self.report_stale(&tracker, &bead, Severity::Warning, words).await?;
                }
            }
        }
        self.resolve_stale(&stale).await
    }

    async fn stale_beads(&self, tracker: &Tracker) -> Result<Vec<(Bead, String)>> {
        let patience = self.settings().fleet.recovery.stale_assignee_mins.saturating_mul(60_000);
        let limit = Millis::now().0.saturating_sub(i64::try_from(patience).unwrap_or(i64::MAX));
        let leases = self.0.store.leases().await?;
        let mut found = Vec::new();
        for bead in tracker.store.snapshot().await?.beads() {
            let changed = bead.updated_at.as_ref().and_then(|at| at.at());
            let is_old = changed.is_some_and(|at| at.as_millisecond() <= limit);
            let is_leased =
                leases.iter().any(|lease| lease.workspace == tracker.root() && lease.bead == bead.id);
            let Some(actor) = bead.assignee().filter(|_| *bead.status() == Status::InProgress) else {
                continue;
            };
            if is_old && !is_leased && self.0.store.gave_actor(actor).await? {
                found.push((bead.clone(), actor.to_owned()));
            }
        }
        Ok(found)
    }

    async fn release_stale(&self, tracker: &Tracker, bead: &Bead, actor: &str) -> Result<()> {
        let comment = format!("Released by Forge: nobody works on this as {actor} any more.");
        match tracker.store.release(&bead.id, actor, &comment).await? {
            Release::NotHeld { .. } => return Ok(()),
            Release::Released(_) => {}
        }
        tracing::info!(bead = bead.id, actor, "a bead that nobody worked on was released");
        let words =
            format!("bead {} was in progress by {actor}, which nobody works as; it was released", bead.id);
        self.report_stale(tracker, bead, Severity::Info, words).await?;
        self.0.background.ring(Bell::Beads);
        Ok(())
    }

    async fn report_stale(
        &self,
        tracker: &Tracker,
        bead: &Bead,
        severity: Severity,
        words: String,
    ) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        let subject = alert_subject(tracker.root(), &bead.id);
        raise_as(&mut tx, AlertKind::StaleAssignee, severity, &subject, words).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Ends the warnings about beads that are stale no longer.
    async fn resolve_stale(&self, stale: &HashSet<String>) -> Result<()> {
        let mut over = self.0.store.open_alerts().await?;
        over.retain(|alert| {
            let is_warning = alert.kind == AlertKind::StaleAssignee && alert.severity != Severity::Info;
            is_warning && !stale.contains(&alert.subject)
        });
        if over.is_empty() {
            return Ok(());
        }
        let mut tx = self.0.store.begin().await?;
        for alert in over {
            tx.resolve_alert(alert.kind, &alert.subject, Millis::now()).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}
