//! Approvals: every statement about them.
//!
//! Invariant: only a pending approval changes, and only once; every change makes an event. The time at which it stops
//! waiting is in its row, so no timer of a server has to survive for it.

use forge_types::{Approval, ApprovalId, ApprovalStatus, Change, Millis, RunId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::error::Result;
use crate::query;
use crate::row::{Cells, Read};
use crate::store::Store;
use crate::tx::Tx;
use crate::write::{bind, json};

macro_rules! approval_columns {
    () => {
        "id, run_id, tool_name, tool_input, call_id, session_id, status, reason, created_ms, timeout_ms, answered_ms, \
         (SELECT runs.attempt_id FROM runs WHERE runs.id = approvals.run_id), \
         (SELECT attempts.task_id FROM runs JOIN attempts ON attempts.id = runs.attempt_id \
          WHERE runs.id = approvals.run_id)"
    };
}

const APPROVAL: &str = concat!("SELECT ", approval_columns!(), " FROM approvals WHERE id = $1");
const PENDING: &str = concat!(
    "SELECT ",
    approval_columns!(),
    " FROM approvals WHERE status = 'pending' ORDER BY timeout_ms, id"
);
const PENDING_OF_RUN: &str =
    concat!("SELECT ", approval_columns!(), " FROM approvals WHERE run_id = $1 AND status = 'pending'");

fn approval(row: &SqliteRow) -> Read<Approval> {
    let mut cells = Cells::of(row);
    Ok(Approval {
        id: cells.parse()?,
        run_id: cells.parse_opt()?,
        tool_name: cells.take()?,
        tool_input: cells.json()?,
        call_id: cells.take()?,
        session_id: cells.take()?,
        status: {
            let word: &str = cells.take()?;
            let reason = cells.take()?;
            match word {
                "pending" => ApprovalStatus::Pending,
                "approved" => ApprovalStatus::Approved,
                "denied" => ApprovalStatus::Denied { reason },
                "timed_out" => ApprovalStatus::TimedOut,
                other => return Err(cells.bad(format!("unknown approval status '{other}'"))),
            }
        },
        created_at: cells.millis()?,
        timeout_at: cells.millis()?,
        answered_at: cells.millis_opt()?,
        attempt_id: cells.parse_opt()?,
        task_id: cells.parse_opt()?,
    })
}

async fn find(conn: &mut SqliteConnection, id: ApprovalId) -> Result<Option<Approval>> {
    query::one(conn, APPROVAL, id.to_string(), approval).await
}

impl Store {
    pub async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>> {
        find(&mut *self.reader().await?, id).await
    }

    /// The waiting ones, the first to time out first.
    pub async fn pending_approvals(&self) -> Result<Vec<Approval>> {
        query::all(&mut *self.reader().await?, PENDING, approval).await
    }
}

impl Tx {
    pub async fn approval(&mut self, id: ApprovalId) -> Result<Option<Approval>> {
        find(self.conn()?, id).await
    }

    pub async fn pending_approvals_of(&mut self, run: RunId) -> Result<Vec<Approval>> {
        query::many(self.conn()?, PENDING_OF_RUN, run.to_string(), approval).await
    }

    /// Returns it with whose question it is.
    pub async fn insert_approval(&mut self, approval: &Approval) -> Result<Approval> {
        const SQL: &str = concat!(
            "INSERT INTO approvals (id, run_id, tool_name, tool_input, call_id, session_id, status, created_ms, \
             timeout_ms) VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8) RETURNING ",
            approval_columns!()
        );
        let row = bind!(
            SQL,
            approval.id.to_string(),
            approval.run_id.map(|id| id.to_string()),
            &approval.tool_name,
            json(&approval.tool_input)?,
            &approval.call_id,
            &approval.session_id,
            approval.created_at.0,
            approval.timeout_at.0,
        )
        .fetch_one(self.conn()?)
        .await?;
        let asked = self::approval(&row)?;
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
        const SQL: &str = concat!(
            "UPDATE approvals SET status = $2, reason = $3, answered_ms = $4 WHERE id = $1 AND status = 'pending' \
             RETURNING ",
            approval_columns!()
        );
        let reason = match status {
            ApprovalStatus::Denied { reason } => reason.as_deref(),
            _ => None,
        };
        let update = bind!(SQL, id.to_string(), status.as_str(), reason, at.0);
        let row = update.fetch_optional(self.conn()?).await?;
        let answered = row.as_ref().map(approval).transpose()?;
        if let Some(approval) = &answered {
            self.touched.approval(Change::Updated, approval.clone());
        }
        Ok(answered)
    }
}
