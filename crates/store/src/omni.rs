//! Settings of the forge group and the notifications that wait to be sent.
//!
//! Invariant: an attempt gets at most one notification, ever. One that is being sent when the server dies is sent again
//! by the next one: better twice than never.

use forge_types::{
    AttemptId, ForgeSettings, Millis, Notification, NotificationId, NotificationStatus, ProjectId,
};

use crate::cell::{Json, OptionalJson};
use crate::entity::{Cells, entity, select};
use crate::error::Result;
use crate::sql::{Row, bind};
use crate::store::Store;
use crate::tx::Tx;

entity! {
    notifications: Notification {
        key id,
        fixed task_id,
        fixed notification_type = "kind",
        set status,
        fixed message,
        set error_message,
        set sent_at = "sent_ms",
        fixed created_at = "created_ms",
        fixed metadata: Json,
    }
}

entity! { project_settings: ForgeSettings { set omni_enabled, set omni_config: OptionalJson } }

const NOTIFICATIONS: &str = select!(Notification, "FROM notifications ORDER BY created_ms DESC, id LIMIT $1");
const CLAIM: &str = "UPDATE notifications SET status = 'processing', tries = tries + 1 WHERE id = \
     (SELECT id FROM notifications WHERE status = 'pending' AND due_ms <= $1 ORDER BY due_ms, id LIMIT 1) \
     RETURNING id, message, tries, (SELECT project_id FROM tasks WHERE tasks.id = notifications.task_id) AS project_id";

/// A notification that is to be sent now.
#[derive(Debug)]
pub struct Due {
    pub id: NotificationId,
    pub project_id: ProjectId,
    pub message: String,
    /// This one included.
    pub tries: u32,
}

impl Store {
    /// The project's own settings.
    pub async fn project_settings(&self, project: ProjectId) -> Result<Option<ForgeSettings>> {
        let sql = select!(ForgeSettings, "FROM project_settings WHERE project_id = $1");
        bind!(sql, project).find(&mut *self.reader().await?).await
    }

    /// Newest first.
    pub async fn notifications(&self, limit: u32) -> Result<Vec<Notification>> {
        bind!(NOTIFICATIONS, limit).list(&mut *self.reader().await?).await
    }

    /// When the next notification is to be tried.
    pub async fn next_notification_due(&self) -> Result<Option<Millis>> {
        let sql = "SELECT MIN(due_ms) FROM notifications WHERE status = 'pending'";
        bind!(sql).value(&mut *self.reader().await?).await
    }
}

impl Tx {
    /// [`crate::StoreError::Missing`] when there is no such project.
    pub async fn put_project_settings(&mut self, project: ProjectId, settings: &ForgeSettings) -> Result<()> {
        let sql = "INSERT INTO project_settings (project_id, omni_enabled, omni_config) VALUES ($1, $2, $3) \
             ON CONFLICT (project_id) DO UPDATE SET omni_enabled = excluded.omni_enabled, \
             omni_config = excluded.omni_config";
        let mut query = bind!(sql, project);
        settings.write(&mut query)?;
        query.run(self.conn()?).await.map(drop)
    }

    /// Returns whether it is the attempt's first.
    pub async fn queue_notification(
        &mut self,
        attempt: AttemptId,
        notification: &Notification,
    ) -> Result<bool> {
        let sql = "INSERT INTO notifications (id, task_id, attempt_id, kind, status, message, metadata, tries, due_ms, \
             created_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8) ON CONFLICT (attempt_id) DO NOTHING";
        let Notification { id, task_id, notification_type, status, message, created_at, .. } = notification;
        let metadata = notification.metadata.to_string();
        let query =
            bind!(sql, id, task_id, attempt, notification_type, status, message, metadata, created_at);
        Ok(query.run(self.conn()?).await? > 0)
    }

    /// Takes the notification that has waited longest, if one is due.
    pub async fn claim_notification(&mut self, now: Millis) -> Result<Option<Due>> {
        let read = |row: &Row<'_>| {
            let (id, message, tries) = (row.get("id")?, row.get("message")?, row.get("tries")?);
            Ok(Due { id, message, tries, project_id: row.get("project_id")? })
        };
        bind!(CLAIM, now).one(self.conn()?, read).await
    }

    /// Records the result of a notification; `at` is when it was sent or is to be tried again.
    pub async fn settle_notification(
        &mut self,
        id: NotificationId,
        status: NotificationStatus,
        error: Option<&str>,
        at: Millis,
    ) -> Result<()> {
        let sql = "UPDATE notifications SET status = $2, error_message = $3, due_ms = $4, \
             sent_ms = CASE WHEN $2 = 'sent' THEN $4 ELSE NULL END WHERE id = $1";
        bind!(sql, id, status, error, at).run(self.conn()?).await.map(drop)
    }

    /// Puts back what an earlier server was about to send.
    pub async fn reopen_notifications(&mut self) -> Result<()> {
        let sql = "UPDATE notifications SET status = 'pending' WHERE status = 'processing'";
        bind!(sql).run(self.conn()?).await.map(drop)
    }
}
