//! Drafts one by one, and those that wait to be sent.
//!
//! Invariant: an attempt has at most one draft of each kind. They are written in `write`, like everything that makes an
//! event.

use forge_types::{AttemptId, Draft, DraftKind};

use crate::entity::select;
use crate::error::Result;
use crate::sql::{Conn, bind};
use crate::store::Store;
use crate::tx::Tx;

const DRAFT: &str = select!(Draft, "FROM drafts WHERE drafts.attempt_id = $1 AND drafts.kind = $2");
// Spelled as in the index, or SQLite would not use it.
const WAITING: &str = select!(Draft, "FROM drafts WHERE queued = 1 OR sending = 1");

impl Store {
    pub async fn draft(&self, attempt: AttemptId, kind: DraftKind) -> Result<Option<Draft>> {
        draft(&mut *self.reader().await?, attempt, kind).await
    }

    /// Drafts that are queued, or were being sent when the last server died.
    pub async fn waiting_drafts(&self) -> Result<Vec<Draft>> {
        bind!(WAITING).list(&mut *self.reader().await?).await
    }
}

impl Tx {
    pub async fn draft(&mut self, attempt: AttemptId, kind: DraftKind) -> Result<Option<Draft>> {
        draft(self.conn()?, attempt, kind).await
    }
}

async fn draft(conn: &mut Conn, attempt: AttemptId, kind: DraftKind) -> Result<Option<Draft>> {
    bind!(DRAFT, attempt, kind).find(conn).await
}
