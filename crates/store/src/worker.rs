//! Workers and their leases.
//!
//! Invariant: a bead has at most one lease, and only its holder gives it back.

use std::path::Path;

use forge_types::{Change, Lease, Millis, Worker, WorkerId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::error::Result;
use crate::query;
use crate::row::{Cells, Read};
use crate::store::Store;
use crate::tx::Tx;
use crate::write::{bind, changed, json};

const WORKER: &str = "SELECT body FROM workers WHERE id = $1";
const WORKERS: &str = "SELECT body FROM workers ORDER BY created_ms, id";
const LEASES: &str = "SELECT workspace, bead, worker_id, actor, taken_ms FROM leases ORDER BY taken_ms, bead";
const LEASES_OF: &str = "SELECT workspace, bead, worker_id, actor, taken_ms FROM leases WHERE worker_id = $1 ORDER BY taken_ms, bead";

fn worker(row: &SqliteRow) -> Read<Worker> {
    Cells::of(row).json()
}

fn lease(row: &SqliteRow) -> Read<Lease> {
    let mut cells = Cells::of(row);
    Ok(Lease {
        workspace: cells.take::<String>()?.into(),
        bead: cells.take()?,
        worker: cells.parse()?,
        actor: cells.take()?,
        taken_at: cells.millis()?,
    })
}

async fn find(conn: &mut SqliteConnection, id: &WorkerId) -> Result<Option<Worker>> {
    query::one(conn, WORKER, id.to_string(), worker).await
}

/// The failures of a bead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeadFailure {
    pub bead: String,
    pub count: u32,
    pub reason: String,
    /// It waits for a person.
    pub parked: bool,
}

fn failure(row: &SqliteRow) -> Read<BeadFailure> {
    let mut cells = Cells::of(row);
    Ok(BeadFailure {
        bead: cells.take()?,
        count: cells.take()?,
        reason: cells.take()?,
        parked: cells.take()?,
    })
}

impl Store {
    pub async fn worker(&self, id: &WorkerId) -> Result<Option<Worker>> {
        find(&mut *self.reader().await?, id).await
    }

    /// All of them, in the order in which they were made.
    pub async fn workers(&self) -> Result<Vec<Worker>> {
        query::all(&mut *self.reader().await?, WORKERS, worker).await
    }

    pub async fn leases(&self) -> Result<Vec<Lease>> {
        query::all(&mut *self.reader().await?, LEASES, lease).await
    }

    pub async fn leases_of(&self, worker: &WorkerId) -> Result<Vec<Lease>> {
        query::many(&mut *self.reader().await?, LEASES_OF, worker.to_string(), lease).await
    }

    /// Whether anybody here ever took a bead under this name.
    pub async fn gave_actor(&self, actor: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM lease_actors WHERE actor = $1)";
        let row = bind!(sql, actor).fetch_one(&mut *self.reader().await?).await?;
        Ok(Cells::of(&row).take()?)
    }

    /// The beads of a workspace that failed before.
    pub async fn bead_failures(&self, workspace: &Path) -> Result<Vec<BeadFailure>> {
        let sql = "SELECT bead, count, reason, parked FROM bead_failures WHERE workspace = $1 ORDER BY bead";
        query::many(&mut *self.reader().await?, sql, text(workspace), failure).await
    }
}

impl Tx {
    pub async fn worker(&mut self, id: &WorkerId) -> Result<Option<Worker>> {
        find(self.conn()?, id).await
    }

    /// Writes a new worker. `false` when there is one of that name.
    pub async fn insert_worker(&mut self, worker: &Worker) -> Result<bool> {
        let sql = "INSERT INTO workers (id, phase, body, created_ms, updated_ms) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (id) DO NOTHING";
        let (phase, body) = (json(&worker.phase)?, json(worker)?);
        let insert = bind!(sql, worker.id.as_str(), phase, body, worker.created_at.0, worker.updated_at.0);
        let done = insert.execute(self.conn()?).await?.rows_affected() > 0;
        if done {
            self.touched.worker(Change::Created, worker.clone());
        }
        Ok(done)
    }

    pub async fn update_worker(&mut self, worker: &Worker) -> Result<()> {
        let sql = "UPDATE workers SET phase = $2, body = $3, updated_ms = $4 WHERE id = $1";
        let (phase, body) = (json(&worker.phase)?, json(worker)?);
        let update = bind!(sql, worker.id.as_str(), phase, body, worker.updated_at.0);
        changed(update.execute(self.conn()?).await?)?;
        self.touched.worker(Change::Updated, worker.clone());
        Ok(())
    }

    pub async fn remove_worker(&mut self, id: &WorkerId) -> Result<()> {
        changed(bind!("DELETE FROM workers WHERE id = $1", id.as_str()).execute(self.conn()?).await?)?;
        self.touched.worker_removed(id.clone());
        Ok(())
    }

    /// Takes the bead for the worker; `false` when somebody has it.
    pub async fn take_lease(&mut self, lease: &Lease) -> Result<bool> {
        let sql = "INSERT INTO leases (workspace, bead, worker_id, actor, taken_ms) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (workspace, bead) DO NOTHING";
        let workspace = text(&lease.workspace);
        let insert =
            bind!(sql, workspace, &lease.bead, lease.worker.as_str(), &lease.actor, lease.taken_at.0);
        let taken = insert.execute(self.conn()?).await?.rows_affected() > 0;
        if taken {
            let sql = "INSERT OR IGNORE INTO lease_actors (actor, taken_ms) VALUES ($1, $2)";
            bind!(sql, &lease.actor, lease.taken_at.0).execute(self.conn()?).await?;
        }
        Ok(taken)
    }

    /// Gives the bead back; `false` when this actor does not have it.
    pub async fn drop_lease(&mut self, workspace: &Path, bead: &str, actor: &str) -> Result<bool> {
        let sql = "DELETE FROM leases WHERE workspace = $1 AND bead = $2 AND actor = $3";
        let delete = bind!(sql, text(workspace), bead, actor);
        Ok(delete.execute(self.conn()?).await?.rows_affected() > 0)
    }

    /// Counts a failure of a bead and returns how many there are.
    pub async fn count_bead_failure(
        &mut self,
        workspace: &Path,
        bead: &str,
        reason: &str,
        at: Millis,
    ) -> Result<u32> {
        let sql = "INSERT INTO bead_failures (workspace, bead, count, reason, last_ms) VALUES ($1, $2, 1, $3, $4) \
             ON CONFLICT (workspace, bead) DO UPDATE SET count = bead_failures.count + 1, reason = excluded.reason, \
             last_ms = excluded.last_ms RETURNING count";
        let row = bind!(sql, text(workspace), bead, reason, at.0).fetch_one(self.conn()?).await?;
        Ok(Cells::of(&row).take()?)
    }

    /// From now on nobody takes the bead automatically.
    pub async fn park_bead(&mut self, workspace: &Path, bead: &str) -> Result<()> {
        let sql = "UPDATE bead_failures SET parked = 1 WHERE workspace = $1 AND bead = $2";
        changed(bind!(sql, text(workspace), bead).execute(self.conn()?).await?)
    }

    /// The bead may be taken again, as if it had never failed; `false` when it had no failures.
    pub async fn forgive_bead(&mut self, workspace: &Path, bead: &str) -> Result<bool> {
        let sql = "DELETE FROM bead_failures WHERE workspace = $1 AND bead = $2";
        Ok(bind!(sql, text(workspace), bead).execute(self.conn()?).await?.rows_affected() > 0)
    }
}

pub(crate) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
