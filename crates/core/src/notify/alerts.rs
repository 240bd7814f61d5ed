//! Alerts: raised when something is found, resolved when it is no longer.
//!
//! Invariant: an alert is written in the transaction that writes what it is about.

use forge_store::Tx;
use forge_types::{
    Alert, AlertId, AlertKind, Finding, Health, Millis, RecoveryPolicy, RecoveryRules, Severity, WorkerId,
};

use crate::{Error, Forge, Result};

/// More than anybody looks at; those that are open come first.
const SEEN_AT_ONCE: u32 = 10_000;

impl Forge {
    /// Those that are open before all others, each newest first.
    pub async fn alerts(&self, limit: u32) -> Result<Vec<Alert>> {
        Ok(self.0.store.alerts(limit).await?)
    }

    /// A person has seen it.
    pub async fn acknowledge_alert(&self, id: AlertId) -> Result<Alert> {
        let mut tx = self.0.store.begin().await?;
        let seen = tx.acknowledge_alert(id, Millis::now()).await.map_err(|error| match error {
            forge_store::StoreError::Missing => Error::not_found(format!("there is no alert '{id}'"))
                .hint("`forge alerts` shows which there are"),
            error => error.into(),
        })?;
        tx.commit().await?;
        Ok(seen)
    }

    /// A person has seen all that are open; returns those that were news.
    pub async fn acknowledge_alerts(&self) -> Result<Vec<Alert>> {
        let mut tx = self.0.store.begin().await?;
        let mut seen = Vec::new();
        for alert in self.0.store.alerts(SEEN_AT_ONCE).await? {
            if alert.resolved_at.is_none() && alert.acknowledged_at.is_none() {
                seen.push(tx.acknowledge_alert(alert.id, Millis::now()).await?);
            }
        }
        tx.commit().await?;
        Ok(seen)
    }
}

pub(crate) async fn raise(tx: &mut Tx, kind: AlertKind, id: &WorkerId, message: String) -> Result<()> {
    raise_as(tx, kind, kind.severity(), id.as_str(), message).await
}

/// With a severity other than the usual one.
pub(crate) async fn raise_as(
    tx: &mut Tx,
    kind: AlertKind,
    severity: Severity,
    subject: &str,
    message: String,
) -> Result<()> {
    let alert = Alert { severity, ..Alert::new(kind, subject, message) };
    tx.raise_alert(alert).await?;
    Ok(())
}

pub(crate) async fn resolve(tx: &mut Tx, kind: AlertKind, id: &WorkerId) -> Result<()> {
    tx.resolve_alert(kind, id.as_str(), Millis::now()).await?;
    Ok(())
}

/// The worker ended as it should, or is gone: nothing about it is open any more.
pub(crate) async fn resolve_all(tx: &mut Tx, id: &WorkerId) -> Result<()> {
    for kind in AlertKind::OF_WORKERS {
        resolve(tx, kind, id).await?;
    }
    Ok(())
}

/// Raises what is new in a worker's health and resolves what has gone. Deaths are reported by whoever handles them.
pub(crate) async fn follow(
    tx: &mut Tx,
    id: &WorkerId,
    before: &Health,
    after: &Health,
    rules: &RecoveryRules,
) -> Result<()> {
    let is_muted = |finding: &Finding| match finding {
        Finding::MemoryHigh => rules.memory_policy == RecoveryPolicy::Disabled,
        Finding::TaskStuck => rules.stuck_task_policy == RecoveryPolicy::Disabled,
        _ => false,
    };
    let is_new = |finding: &&Finding| !before.findings.contains(finding) && !is_muted(finding);
    for finding in after.findings.iter().filter(is_new) {
        if let Some((kind, words)) = alert_of(*finding) {
            raise(tx, kind, id, format!("{id} {words}")).await?;
        }
    }
    for finding in before.findings.iter().filter(|finding| !after.findings.contains(finding)) {
        match finding {
            finding if finding.is_death() => resolve(tx, AlertKind::WorkerCrashed, id).await?,
            Finding::RecoveryExhausted => resolve(tx, AlertKind::RecoveryExhausted, id).await?,
            finding => {
                // What took its place has raised the same alert again.
                let is_raised = |kind| {
                    let mut kinds = after.findings.iter().filter_map(|finding| alert_of(*finding));
                    kinds.any(|(other, _)| other == kind)
                };
                if let Some((kind, _)) = alert_of(*finding).filter(|(kind, _)| !is_raised(*kind)) {
                    resolve(tx, kind, id).await?;
                }
            }
        }
    }
    let died = |health: &Health| health.findings.iter().any(|finding| finding.is_death());
    if died(before) && !died(after) {
        resolve(tx, AlertKind::AutoRestart, id).await?;
        raise(tx, AlertKind::WorkerRecovered, id, format!("{id} works again")).await?;
    }
    Ok(())
}

fn alert_of(finding: Finding) -> Option<(AlertKind, &'static str)> {
    Some(match finding {
        Finding::Stale => (AlertKind::WorkerStale, "lives, but has said nothing for long"),
        Finding::TaskStuck => (AlertKind::TaskStuck, "has a task and has said nothing for very long"),
        Finding::MemoryHigh => (AlertKind::MemoryHigh, "uses more memory than its limit"),
        Finding::WaitsForPermission => {
            (AlertKind::WaitsForPermission, "waits for a permission; attach to answer")
        }
        Finding::RateLimited => (AlertKind::WorkerParked, "is not served by its provider for now"),
        Finding::ContextFull => (AlertKind::ContextFull, "has no room left in its context"),
        Finding::SaysFailed => (AlertKind::StatusBad, "is alive, but its status file says that it failed"),
        Finding::SaysStopped => (AlertKind::StatusBad, "is alive, but its status file says that it stopped"),
        Finding::SaysError => {
            (AlertKind::StatusBad, "is alive, but its status file reports an error or cannot be read")
        }
        Finding::ProcessGone | Finding::AgentGone | Finding::SessionGone | Finding::RecoveryExhausted => {
            return None;
        }
    })
}
