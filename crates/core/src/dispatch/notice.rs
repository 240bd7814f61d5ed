//! Alerts about the queues: nothing is left to do, nothing can continue, a model or the disk is used up.
//!
//! Invariant: each of these alerts is open exactly while what it says holds, as of the last look.

use std::collections::HashMap;

use forge_fleet::beads::{Bead, Standing, is_ours};
use forge_types::{Alert, AlertKind, DispatchRule, Millis, ProfileId, ProjectId, WorkerTier};

use super::catalogue;
use crate::beads::{Tracker, alert_subject};
use crate::cost::quota::Access;
use crate::workers::machine::Shortage;
use crate::{Forge, Result};

/// What is to be open, by kind and subject.
type Conditions = HashMap<(AlertKind, String), String>;

/// What this module raises and so also resolves.
const KINDS: [AlertKind; 4] =
    [AlertKind::Quota, AlertKind::QueueEmpty, AlertKind::BeadBlocked, AlertKind::DiskLow];

impl Forge {
    /// Looks at everything that may keep beads from being given out.
    pub(super) async fn report_conditions(&self, rules: &[(ProjectId, DispatchRule)]) -> Result<()> {
        let enabled: Vec<_> = rules.iter().filter(|(_, rule)| rule.enabled).collect();
        let mut conditions = Conditions::new();
        if let Some(Shortage::Disk(why)) = self.shortage(&self.settings().fleet) {
            let is_open = !self.0.store.open_alerts_of(AlertKind::DiskLow).await?.is_empty();
            if is_open || !enabled.is_empty() {
                conditions.insert((AlertKind::DiskLow, String::new()), why);
            }
        }
        if !enabled.is_empty() {
            self.look_at_models(&enabled, &mut conditions).await?;
        }
        for (id, _) in enabled {
            let project = self.project(*id).await?;
            // Beads that cannot be read are complained of by whoever gives them out.
            if let Ok(Some(tracker)) = self.tracker_at(project.git_repo_path.as_ref()).await
                && let Err(error) = self.look_at_queue(&project.name, &tracker, &mut conditions).await
            {
                tracing::debug!(project = %project.name, %error, "cannot look at the queue");
            }
        }
        self.raise_and_resolve(conditions).await
    }

    async fn look_at_models(
        &self,
        enabled: &[&(ProjectId, DispatchRule)],
        conditions: &mut Conditions,
    ) -> Result<()> {
        let (supply, settings) = (self.supply().await?, self.settings());
        let of_tiers = WorkerTier::ALL.iter().flat_map(|tier| settings.fleet.models.of(*tier));
        let of_rules = enabled.iter().filter_map(|(_, rule)| rule.executor_profile_id.as_ref());
        let mut profiles: Vec<&ProfileId> = of_rules.collect();
        if enabled.iter().any(|(_, rule)| rule.executor_profile_id.is_none()) {
            profiles.extend(of_tiers);
        }
        for profile in profiles {
            let name = catalogue::name(profile);
            if let Access::Out(why) = supply.of(profile, &name) {
                conditions.insert((AlertKind::Quota, name.clone()), format!("{name} is out: {why}"));
            }
        }
        Ok(())
    }

    async fn look_at_queue(
        &self,
        project: &str,
        tracker: &Tracker,
        conditions: &mut Conditions,
    ) -> Result<()> {
        let (root, snapshot) = (tracker.root(), tracker.store.snapshot().await?);
        let policy = tracker.workspace.flavour.policy();
        let standings = policy.standings(&snapshot, jiff::Timestamp::now());
        let failures = self.0.store.bead_failures(root).await?;
        let is_parked = |id: &str| failures.iter().any(|failure| failure.parked && failure.bead == id);
        let (mut is_moving, mut stuck) = (false, Vec::new());
        for (bead, standing) in snapshot.beads().iter().zip(&standings) {
            match standing {
                Standing::Ready if is_parked(&bead.id) => stuck.push(format!("{} (parked)", bead.id)),
                Standing::Ready => is_moving = true,
                Standing::Blocked(by) => stuck.push(format!("{} (waits for {})", bead.id, by.join(", "))),
                _ if is_at_work(bead) => {
                    is_moving = true;
                    let by = policy.blockers(&snapshot, &bead.id);
                    if !by.is_empty() && bead.assignee().is_some_and(is_ours) {
                        let why = format!("bead {} is at work and waits for {}", bead.id, by.join(", "));
                        conditions.insert((AlertKind::BeadBlocked, alert_subject(root, &bead.id)), why);
                    }
                }
                _ => {}
            }
        }
        let leases = self.0.store.leases().await?;
        if is_moving || leases.iter().any(|lease| lease.workspace == root) {
            return Ok(());
        }
        let subject = root.display().to_string();
        if stuck.is_empty() {
            let why = format!("{project} has no bead that is ready, and nobody works on one");
            conditions.insert((AlertKind::QueueEmpty, subject), why);
        } else {
            let why = format!(
                "no bead of {project} can go on: {}; release or close what the others wait for, or undo a circle",
                shortened(&stuck)
            );
            conditions.insert((AlertKind::BeadBlocked, subject), why);
        }
        Ok(())
    }

    async fn raise_and_resolve(&self, mut conditions: Conditions) -> Result<()> {
        let mut over = Vec::new();
        for kind in KINDS {
            for open in self.0.store.open_alerts_of(kind).await? {
                match conditions.remove(&(kind, open.subject.clone())) {
                    Some(_) => {}
                    None => over.push((kind, open.subject)),
                }
            }
        }
        if over.is_empty() && conditions.is_empty() {
            return Ok(());
        }
        let mut tx = self.0.store.begin().await?;
        for (kind, subject) in over {
            tx.resolve_alert(kind, &subject, Millis::now()).await?;
        }
        for ((kind, subject), message) in conditions {
            tx.raise_alert(Alert::new(kind, subject, message)).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

fn is_at_work(bead: &Bead) -> bool {
    use forge_fleet::beads::Status;
    matches!(bead.status(), Status::InProgress | Status::Hooked)
}

/// Enough to begin with.
fn shortened(all: &[String]) -> String {
    const SHOWN: usize = 5;
    let more = all.len().saturating_sub(SHOWN);
    let shown = all.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}
