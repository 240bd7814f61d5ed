//! Alerts and routing decisions: what the fleet reports to people, and the history of its choices.
//!
//! Invariant: one alert is open per kind and subject; noticing it again counts and may raise its severity, never lower
//! it.

use std::path::Path;

use forge_types::{Alert, AlertId, AlertKind, Change, Millis, Routing, RoutingId, Severity};
use serde::de::DeserializeOwned;

use crate::cell::json;
use crate::error::{Result, StoreError};
use crate::sql::{Conn, Row, bind};
use crate::store::Store;
use crate::tx::Tx;

const OPEN: &str = "SELECT body FROM alerts WHERE kind = $1 AND subject = $2 AND resolved_ms IS NULL";
const UNRESOLVED: &str = "SELECT body FROM alerts WHERE resolved_ms IS NULL ORDER BY last_ms, id";
const ALERT: &str = "SELECT body FROM alerts WHERE id = $1";

/// What is stored as a whole.
pub(crate) fn body<T: DeserializeOwned>(row: &Row<'_>) -> sqlx::Result<T> {
    row.json("body")
}

/// The open alert of that kind and subject.
async fn open(conn: &mut Conn, kind: AlertKind, subject: &str) -> Result<Option<Alert>> {
    bind!(OPEN, json(&kind)?, subject).one(conn, body).await
}

impl Store {
    /// Newest first; unresolved ones come before all others.
    pub async fn alerts(&self, limit: u32) -> Result<Vec<Alert>> {
        let sql = "SELECT body FROM alerts ORDER BY resolved_ms IS NOT NULL, last_ms DESC, id LIMIT $1";
        bind!(sql, limit).all(&mut *self.reader().await?, body).await
    }

    /// The open alert of that kind and subject.
    pub async fn open_alert(&self, kind: AlertKind, subject: &str) -> Result<Option<Alert>> {
        open(&mut *self.reader().await?, kind, subject).await
    }

    /// The unresolved alerts of a kind.
    pub async fn open_alerts_of(&self, kind: AlertKind) -> Result<Vec<Alert>> {
        let sql = "SELECT body FROM alerts WHERE kind = $1 AND resolved_ms IS NULL ORDER BY subject";
        bind!(sql, json(&kind)?).all(&mut *self.reader().await?, body).await
    }

    /// The unresolved alerts, oldest first.
    pub async fn open_alerts(&self) -> Result<Vec<Alert>> {
        bind!(UNRESOLVED).all(&mut *self.reader().await?, body).await
    }

    /// Newest first.
    pub async fn routings(&self, limit: u32) -> Result<Vec<Routing>> {
        let sql = "SELECT body FROM routings ORDER BY decided_ms DESC, id LIMIT $1";
        bind!(sql, limit).all(&mut *self.reader().await?, body).await
    }

    /// The decisions about one piece of work, newest first.
    pub async fn routings_of(&self, workspace: &Path, work: &str) -> Result<Vec<Routing>> {
        let sql = "SELECT body FROM routings WHERE workspace = $1 AND work = $2 ORDER BY decided_ms DESC, id";
        bind!(sql, workspace, work).all(&mut *self.reader().await?, body).await
    }
}

impl Tx {
    /// Records an alert: a new one, or once more the open one. The graver of both severities counts.
    pub async fn raise_alert(&mut self, new: Alert) -> Result<Alert> {
        let Some(old) = open(self.conn()?, new.kind, &new.subject).await? else {
            let sql = "INSERT INTO alerts (id, kind, subject, body, last_ms) VALUES ($1, $2, $3, $4, $5)";
            let insert = bind!(sql, new.id, json(&new.kind)?, new.subject, json(&new)?, new.last_at);
            insert.run(self.conn()?).await?;
            self.queue_delivery(&new).await?;
            self.touched.alert(Change::Created, new.clone());
            return Ok(new);
        };
        let raised = Alert {
            severity: old.severity.max(new.severity),
            // A higher severity is news, although the old one was seen.
            acknowledged_at: old.acknowledged_at.filter(|_| new.severity <= old.severity),
            message: new.message,
            count: old.count.saturating_add(1),
            last_at: new.last_at,
            ..old
        };
        self.write_alert(&raised).await?;
        self.queue_delivery(&raised).await?;
        Ok(raised)
    }

    /// Makes a warning critical that is open and that nobody acknowledged; `None` for any other alert.
    pub async fn escalate_alert(&mut self, id: AlertId, at: Millis) -> Result<Option<Alert>> {
        let found: Option<Alert> = bind!(ALERT, id).one(self.conn()?, body).await?;
        let Some(old) = found.filter(Alert::can_escalate) else { return Ok(None) };
        let graver = Alert { severity: Severity::Critical, last_at: at, ..old };
        self.write_alert(&graver).await?;
        self.queue_delivery(&graver).await?;
        Ok(Some(graver))
    }

    /// Resolves the open alert of that kind and subject; `None` when there is none.
    pub async fn resolve_alert(
        &mut self,
        kind: AlertKind,
        subject: &str,
        at: Millis,
    ) -> Result<Option<Alert>> {
        let Some(old) = open(self.conn()?, kind, subject).await? else { return Ok(None) };
        let resolved = Alert { resolved_at: Some(at), ..old };
        self.write_alert(&resolved).await?;
        Ok(Some(resolved))
    }

    /// A person has seen it. [`StoreError::Missing`] when there is no such alert.
    pub async fn acknowledge_alert(&mut self, id: AlertId, at: Millis) -> Result<Alert> {
        let old: Alert = bind!(ALERT, id).one(self.conn()?, body).await?.ok_or(StoreError::Missing)?;
        let seen = Alert { acknowledged_at: Some(old.acknowledged_at.unwrap_or(at)), ..old };
        self.write_alert(&seen).await?;
        Ok(seen)
    }

    async fn write_alert(&mut self, alert: &Alert) -> Result<()> {
        let sql = "UPDATE alerts SET body = $2, last_ms = $3, resolved_ms = $4 WHERE id = $1";
        bind!(sql, alert.id, json(alert)?, alert.last_at, alert.resolved_at).change(self.conn()?).await?;
        self.touched.alert(Change::Updated, alert.clone());
        Ok(())
    }

    pub async fn routing(&mut self, id: RoutingId) -> Result<Option<Routing>> {
        bind!("SELECT body FROM routings WHERE id = $1", id).one(self.conn()?, body).await
    }

    pub async fn insert_routing(&mut self, routing: &Routing) -> Result<()> {
        let sql = "INSERT INTO routings (id, workspace, work, body, decided_ms) VALUES ($1, $2, $3, $4, $5)";
        let (body, at) = (json(routing)?, routing.decided_at);
        bind!(sql, routing.id, routing.workspace, routing.work, body, at).run(self.conn()?).await?;
        self.touched.routing(Change::Created, routing.clone());
        Ok(())
    }

    pub async fn update_routing(&mut self, routing: &Routing) -> Result<()> {
        let sql = "UPDATE routings SET body = $2, ended_ms = $3 WHERE id = $1";
        bind!(sql, routing.id, json(routing)?, routing.ended_at).change(self.conn()?).await?;
        self.touched.routing(Change::Updated, routing.clone());
        Ok(())
    }
}
