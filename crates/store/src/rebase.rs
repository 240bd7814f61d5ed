//! Rebases that are not complete yet.
//!
//! Invariant: an attempt has at most one. The row contains all that is needed to determine later, from git alone,
//! whether the rebase was completed or aborted.

use forge_types::{AttemptId, Millis};
use sqlx::{Row, SqliteConnection};

use crate::error::Result;
use crate::{Store, Tx};

/// The target branch an attempt gets when its rebase completes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingRebase {
    pub attempt_id: AttemptId,
    pub target_branch: String,
    /// Where the attempt's branch was before.
    pub tip: String,
    /// The commit that it is rebased onto.
    pub onto: String,
    pub started_at: Millis,
}

async fn find(conn: &mut SqliteConnection, id: AttemptId) -> Result<Option<PendingRebase>> {
    let sql = "SELECT target_branch, tip, onto, started_ms FROM rebases WHERE attempt_id = $1";
    let Some(row) = sqlx::query(sql).bind(id.to_string()).fetch_optional(conn).await? else {
        return Ok(None);
    };
    Ok(Some(PendingRebase {
        attempt_id: id,
        target_branch: row.try_get(0)?,
        tip: row.try_get(1)?,
        onto: row.try_get(2)?,
        started_at: Millis(row.try_get(3)?),
    }))
}

impl Store {
    pub async fn pending_rebase(&self, attempt: AttemptId) -> Result<Option<PendingRebase>> {
        find(&mut *self.reader().await?, attempt).await
    }
}

impl Tx {
    /// Replaces an earlier one.
    pub async fn put_pending_rebase(&mut self, rebase: &PendingRebase) -> Result<()> {
        let sql = "INSERT INTO rebases (attempt_id, target_branch, tip, onto, started_ms) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (attempt_id) DO UPDATE SET \
             target_branch = excluded.target_branch, tip = excluded.tip, onto = excluded.onto, \
             started_ms = excluded.started_ms";
        let query = sqlx::query(sql).bind(rebase.attempt_id.to_string()).bind(&rebase.target_branch);
        let query = query.bind(&rebase.tip).bind(&rebase.onto).bind(rebase.started_at.0);
        query.execute(self.conn()?).await?;
        Ok(())
    }

    pub async fn delete_pending_rebase(&mut self, attempt: AttemptId) -> Result<()> {
        let sql = "DELETE FROM rebases WHERE attempt_id = $1";
        sqlx::query(sql).bind(attempt.to_string()).execute(self.conn()?).await?;
        Ok(())
    }
}
