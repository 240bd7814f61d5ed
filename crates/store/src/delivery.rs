//! Which alerts have left Forge, and which wait to.
//!
//! Invariant: an alert is queued once for each severity that it had, in the transaction that gave it that severity;
//! what was taken from the queue is not in it again unless it is put back.

use forge_types::{Alert, AlertId, Millis, Severity};
use sqlx::sqlite::SqliteRow;

use crate::error::Result;
use crate::row::{Cells, Read};
use crate::store::Store;
use crate::tx::Tx;
use crate::write::{bind, json};

const CLAIM: &str = "UPDATE alert_deliveries SET due_ms = NULL, tries = tries + 1 WHERE (alert_id, severity) IN \
     (SELECT alert_id, severity FROM alert_deliveries WHERE due_ms <= $1 ORDER BY due_ms LIMIT $2) \
     RETURNING (SELECT body FROM alerts WHERE id = alert_id), severity, tries";
const DROP: &str = "UPDATE alert_deliveries SET due_ms = NULL, error = $2 WHERE (alert_id, severity) IN \
     (SELECT alert_id, severity FROM alert_deliveries WHERE due_ms IS NOT NULL \
     ORDER BY due_ms DESC LIMIT -1 OFFSET $1)";

/// An alert on its way out, with the severity that is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    pub alert: Alert,
    /// Includes the current try.
    pub tries: u32,
}

fn delivery(row: &SqliteRow) -> Read<Delivery> {
    let mut cells = Cells::of(row);
    let alert: Alert = cells.json()?;
    // It may have become graver since, which is reported separately.
    let severity = cells.json()?;
    Ok(Delivery { alert: Alert { severity, ..alert }, tries: cells.take()? })
}

impl Store {
    /// When the next delivery is due.
    pub async fn next_delivery_due(&self) -> Result<Option<Millis>> {
        let sql = "SELECT MIN(due_ms) FROM alert_deliveries WHERE due_ms IS NOT NULL";
        let row = sqlx::query(sql).fetch_one(&mut *self.reader().await?).await?;
        Ok(Cells::of(&row).take::<Option<i64>>()?.map(Millis))
    }
}

impl Tx {
    pub(crate) async fn queue_delivery(&mut self, alert: &Alert) -> Result<()> {
        let sql = "INSERT INTO alert_deliveries (alert_id, severity, due_ms) VALUES ($1, $2, $3) \
             ON CONFLICT (alert_id, severity) DO NOTHING";
        let insert = bind!(sql, alert.id.to_string(), json(&alert.severity)?, alert.last_at.0);
        insert.execute(self.conn()?).await?;
        Ok(())
    }

    /// Takes what has waited longest.
    pub async fn claim_deliveries(&mut self, now: Millis, most: u32) -> Result<Vec<Delivery>> {
        let rows = bind!(CLAIM, now.0, most).fetch_all(self.conn()?).await?;
        Ok(rows.iter().map(delivery).collect::<Read<_>>()?)
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
        let update = bind!(sql, id.to_string(), json(&severity)?, error, again.map(|at| at.0));
        update.execute(self.conn()?).await?;
        Ok(())
    }

    /// Drops all but the newest `most` that wait; returns how many were dropped.
    pub async fn drop_deliveries(&mut self, most: u32, error: &str) -> Result<u64> {
        Ok(bind!(DROP, most, error).execute(self.conn()?).await?.rows_affected())
    }
}
