//! Settings of the forge group and the notifications that wait to be sent.
//!
//! Invariant: an attempt gets at most one notification, ever. One that is being sent when the server dies is sent again
//! by the next one: better twice than never.

use forge_types::{
    AttemptId, ForgeSettings, Millis, Notification, NotificationId, NotificationStatus, ProjectId,
};

use crate::agent::parse;
use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::tx::Tx;

const NOTIFICATIONS: &str = "SELECT id, task_id, kind, status, message, error_message, sent_ms, created_ms, metadata \
     FROM notifications ORDER BY created_ms DESC, id LIMIT $1";
const CLAIM: &str = "UPDATE notifications SET status = 'processing', tries = tries + 1 WHERE id = \
     (SELECT id FROM notifications WHERE status = 'pending' AND due_ms <= $1 ORDER BY due_ms, id LIMIT 1) \
     RETURNING id, message, tries, (SELECT project_id FROM tasks WHERE tasks.id = notifications.task_id)";

type NotificationRow = (String, String, String, String, String, Option<String>, Option<i64>, i64, String);

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
        let sql = "SELECT omni_enabled, omni_config FROM project_settings WHERE project_id = $1";
        let row: Option<(bool, Option<String>)> =
            sqlx::query_as(sql).bind(project.to_string()).fetch_optional(&mut *self.reader().await?).await?;
        let read = |(omni_enabled, config): (bool, Option<String>)| {
            let omni_config = config.map(|config| serde_json::from_str(&config)).transpose();
            let omni_config = omni_config.map_err(|error| sqlx::Error::Decode(error.into()))?;
            Ok(ForgeSettings { omni_enabled, omni_config })
        };
        row.map(read).transpose()
    }

    /// Newest first.
    pub async fn notifications(&self, limit: u32) -> Result<Vec<Notification>> {
        let rows: Vec<NotificationRow> =
            sqlx::query_as(NOTIFICATIONS).bind(limit).fetch_all(&mut *self.reader().await?).await?;
        let read = |row: NotificationRow| {
            let (id, task, notification_type, status, message, error_message, sent_ms, created_ms, metadata) =
                row;
            Ok(Notification {
                id: parse(&id)?,
                task_id: parse(&task)?,
                notification_type,
                status: parse(&status)?,
                message,
                error_message,
                sent_at: sent_ms.map(Millis),
                created_at: Millis(created_ms),
                metadata: serde_json::from_str(&metadata)
                    .map_err(|error| sqlx::Error::Decode(error.into()))?,
            })
        };
        rows.into_iter().map(read).collect()
    }

    /// When the next notification is to be tried.
    pub async fn next_notification_due(&self) -> Result<Option<Millis>> {
        let sql = "SELECT MIN(due_ms) FROM notifications WHERE status = 'pending'";
        let due: Option<i64> = sqlx::query_scalar(sql).fetch_one(&mut *self.reader().await?).await?;
        Ok(due.map(Millis))
    }
}

impl Tx {
    /// [`StoreError::Missing`] when there is no such project.
    pub async fn put_project_settings(&mut self, project: ProjectId, settings: &ForgeSettings) -> Result<()> {
        let sql = "INSERT INTO project_settings (project_id, omni_enabled, omni_config) VALUES ($1, $2, $3) \
             ON CONFLICT (project_id) DO UPDATE SET omni_enabled = excluded.omni_enabled, \
             omni_config = excluded.omni_config";
        let config = settings.omni_config.as_ref().map(serde_json::to_string).transpose();
        let config = config.map_err(|error| StoreError::Sql(sqlx::Error::Encode(error.into())))?;
        let query = sqlx::query(sql).bind(project.to_string()).bind(settings.omni_enabled).bind(config);
        query.execute(self.conn()?).await?;
        Ok(())
    }

    /// Returns whether it is the attempt's first.
    pub async fn queue_notification(
        &mut self,
        attempt: AttemptId,
        notification: &Notification,
    ) -> Result<bool> {
        let sql = "INSERT INTO notifications (id, task_id, attempt_id, kind, status, message, metadata, tries, due_ms, \
             created_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8) ON CONFLICT (attempt_id) DO NOTHING";
        let query = sqlx::query(sql)
            .bind(notification.id.to_string())
            .bind(notification.task_id.to_string())
            .bind(attempt.to_string())
            .bind(&notification.notification_type)
            .bind(notification.status.as_str())
            .bind(&notification.message)
            .bind(notification.metadata.to_string())
            .bind(notification.created_at.0);
        Ok(query.execute(self.conn()?).await?.rows_affected() > 0)
    }

    /// Takes the notification that has waited longest, if one is due.
    pub async fn claim_notification(&mut self, now: Millis) -> Result<Option<Due>> {
        let row: Option<(String, String, u32, String)> =
            sqlx::query_as(CLAIM).bind(now.0).fetch_optional(self.conn()?).await?;
        let read = |(id, message, tries, project): (String, String, u32, String)| {
            Ok(Due { id: parse(&id)?, project_id: parse(&project)?, message, tries })
        };
        row.map(read).transpose()
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
        let query = sqlx::query(sql).bind(id.to_string()).bind(status.as_str()).bind(error).bind(at.0);
        query.execute(self.conn()?).await?;
        Ok(())
    }

    /// Puts back what an earlier server was about to send.
    pub async fn reopen_notifications(&mut self) -> Result<()> {
        let sql = "UPDATE notifications SET status = 'pending' WHERE status = 'processing'";
        sqlx::query(sql).execute(self.conn()?).await?;
        Ok(())
    }
}
