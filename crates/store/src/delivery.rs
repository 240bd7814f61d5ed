//! Which alerts have left Forge, and which wait to.
//!
//! Invariant: an alert is queued once for each severity that it had, in the transaction that gave it that severity;
//! what was taken from the queue is not in it again unless it is put back.

use forge_types::{Alert, AlertId, Millis, Severity};

use crate::cell::json;
use crate::error::Result;
use crate::sql::{Row, bind};
use crate::store::Store;
use crate::tx::Tx;

const CLAIM: &str = "UPDATE alert_deliveries SET due_ms = NULL, tries = tries + 1 WHERE (alert_id, severity) IN \
     (SELECT alert_id, severity FROM alert_deliveries WHERE due_ms <= $1 ORDER BY due_ms LIMIT $2) \
     RETURNING (SELECT body FROM alerts WHERE id = alert_id) AS body, severity, tries";
const DROP: &str = "UPDATE alert_deliveries SET due_ms = NULL, error = $2 WHERE (alert_id, severity) IN \
     (SELECT alert_id, severity FROM alert_deliveries WHERE due_ms IS NOT NULL \
     ORDER BY due_ms DESC LIMIT 9223372036854775807 OFFSET $1)";

/// An alert on its way out, with the severity that is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    pub alert: Alert,
    /// Includes the current try.
    pub tries: u32,
}

fn delivery(row: &Row<'_>) -> sqlx::Result<Delivery> {
    let alert: Alert = row.json("body")?;
    // It may have become graver since, which is reported separately.
    let severity = row.json("severity")?;
    Ok(Delivery { alert: Alert { severity, ..alert }, tries: row.get("tries")? })
}

impl Store {
    /// When the next delivery is due.
    pub async fn next_delivery_due(&self) -> Result<Option<Millis>> {
        let sql = "SELECT MIN(due_ms) FROM alert_deliveries WHERE due_ms IS NOT NULL";
        bind!(sql).value(&mut *self.reader().await?).await
    }
}

impl Tx {
    pub(crate) async fn queue_delivery(&mut self, alert: &Alert) -> Result<()> {
        let sql = "INSERT INTO alert_deliveries (alert_id, severity, due_ms) VALUES ($1, $2, $3) \
             ON CONFLICT (alert_id, severity) DO NOTHING";
        bind!(sql, alert.id, json(&alert.severity)?, alert.last_at).run(self.conn()?).await.map(drop)
    }

    /// Takes what has waited longest.
    pub async fn claim_deliveries(&mut self, now: Millis, most: u32) -> Result<Vec<Delivery>> {
        bind!(CLAIM, now, most).all(self.conn()?, delivery).await
    }

    /// Records why a delivery failed; with `again` it is tried once more at that time.
    pub async fn fail_delivery(
        &mut self,
        id: AlertId,
        severity: Severity,
        error: &str,
        again: Option<Millis>,
    ) -> Result<()> {
        let sql = "UPDATE alert_deliveries SET error = $3, due_ms = $4 WHERE alert_id = $1 AND severity = $2";
        bind!(sql, id, json(&severity)?, error, again).run(self.conn()?).await.map(drop)
    }

    /// Drops all but the newest `most` that wait; returns how many were dropped.
    pub async fn drop_deliveries(&mut self, most: u32, error: &str) -> Result<u64> {
        bind!(DROP, most, error).run(self.conn()?).await
    }
}
