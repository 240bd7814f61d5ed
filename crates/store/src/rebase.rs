//! Rebases that are not complete yet.
//!
//! Invariant: an attempt has at most one. The row contains all that is needed to determine later, from git alone,
//! whether the rebase was completed or aborted.

use forge_types::{AttemptId, Millis};

use crate::entity::{entity, select};
use crate::error::Result;
use crate::sql::bind;
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

entity! {
    rebases: PendingRebase { key attempt_id, set target_branch, set tip, set onto, set started_at = "started_ms" }
}

impl Store {
    pub async fn pending_rebase(&self, attempt: AttemptId) -> Result<Option<PendingRebase>> {
        let sql = select!(PendingRebase, "FROM rebases WHERE attempt_id = $1");
        bind!(sql, attempt).find(&mut *self.reader().await?).await
    }
}

impl Tx {
    /// Replaces an earlier one.
    pub async fn put_pending_rebase(&mut self, rebase: &PendingRebase) -> Result<()> {
        self.put(rebase).await
    }

    pub async fn delete_pending_rebase(&mut self, attempt: AttemptId) -> Result<()> {
        bind!("DELETE FROM rebases WHERE attempt_id = $1", attempt).run(self.conn()?).await.map(drop)
    }
}
