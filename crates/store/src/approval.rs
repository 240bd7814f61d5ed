//! Approvals: every statement about them.
//!
//! Invariant: only a pending approval changes, and only once; every change makes an event. The time at which it stops
//! waiting is in its row, so no timer of a server has to survive for it.

use forge_types::{Approval, ApprovalId, ApprovalStatus, Change, Millis, RunId};

use crate::cell::Json;
use crate::entity::{Cells, Column, column, entity, select, sql};
use crate::error::{Result, StoreError};
use crate::sql::{Conn, Query, Row, ToCell, bind};
use crate::store::Store;
use crate::tx::Tx;

entity! {
    approvals: Approval {
        key id,
        fixed run_id,
        fixed tool_name,
        fixed tool_input: Json,
        fixed call_id,
        fixed session_id,
        part status: ApprovalStatus,
        fixed created_at = "created_ms",
        fixed timeout_at = "timeout_ms",
        set answered_at = "answered_ms",
        derived attempt_id = "(SELECT runs.attempt_id FROM runs WHERE runs.id = approvals.run_id)",
        derived task_id =
            "(SELECT attempts.task_id FROM runs JOIN attempts ON attempts.id = runs.attempt_id \
             WHERE runs.id = approvals.run_id)",
    }
}

impl Cells for ApprovalStatus {
    const COLUMNS: &'static [Column] = &[column!(set status), column!(set reason)];

    fn read(row: &Row<'_>) -> sqlx::Result<Self> {
        let status = row.cell("status")?;
        Ok(match status.text()? {
            "pending" => ApprovalStatus::Pending,
            "approved" => ApprovalStatus::Approved,
            "denied" => ApprovalStatus::Denied { reason: row.get("reason")? },
            "timed_out" => ApprovalStatus::TimedOut,
            other => return Err(status.bad(format!("unknown approval status '{other}'"))),
        })
    }

    fn write(&self, into: &mut Query) -> sqlx::Result<()> {
        into.put(self.as_str().to_cell());
        into.put(match self {
            ApprovalStatus::Denied { reason } => reason.to_cell(),
            _ => None::<&str>.to_cell(),
        });
        Ok(())
    }
}

const APPROVAL: &str = select!(Approval, "FROM approvals WHERE id = $1");
const PENDING: &str = select!(Approval, "FROM approvals WHERE status = 'pending' ORDER BY timeout_ms, id");
const PENDING_OF_RUN: &str = select!(Approval, "FROM approvals WHERE run_id = $1 AND status = 'pending'");
const INSERT: &str = sql!(Text::insert::<Approval>().returning::<Approval>());
const ANSWER: &str = sql!(
    Text::EMPTY
        .add("UPDATE approvals SET answered_ms = $2, status = $3, reason = $4 WHERE id = $1 AND status = 'pending'")
        .returning::<Approval>()
);

async fn find(conn: &mut Conn, id: ApprovalId) -> Result<Option<Approval>> {
    bind!(APPROVAL, id).find(conn).await
}

impl Store {
    pub async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>> {
        find(&mut *self.reader().await?, id).await
    }

    /// The waiting ones, the first to time out first.
    pub async fn pending_approvals(&self) -> Result<Vec<Approval>> {
        bind!(PENDING).list(&mut *self.reader().await?).await
    }
}

impl Tx {
    pub async fn approval(&mut self, id: ApprovalId) -> Result<Option<Approval>> {
        find(self.conn()?, id).await
    }

    pub async fn pending_approvals_of(&mut self, run: RunId) -> Result<Vec<Approval>> {
        bind!(PENDING_OF_RUN, run).list(self.conn()?).await
    }

    /// Returns it with whose question it is.
    pub async fn insert_approval(&mut self, approval: &Approval) -> Result<Approval> {
        let asked: Option<Approval> = Query::of(INSERT, approval)?.find(self.conn()?).await?;
        let asked = asked.ok_or(StoreError::Missing)?;
        self.touched.approval(Change::Created, asked.clone());
        Ok(asked)
    }

    /// `None` when it is not pending (any more).
    pub async fn answer_approval(
        &mut self,
        id: ApprovalId,
        status: &ApprovalStatus,
        at: Millis,
    ) -> Result<Option<Approval>> {
        let mut query = bind!(ANSWER, id, at);
        status.write(&mut query)?;
        let answered: Option<Approval> = query.find(self.conn()?).await?;
        if let Some(approval) = &answered {
            self.touched.approval(Change::Updated, approval.clone());
        }
        Ok(answered)
    }
}
