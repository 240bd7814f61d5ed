//! Workers and their leases.
//!
//! Invariant: a bead has at most one lease, and only its holder gives it back.

use std::path::Path;

use forge_types::{Change, Lease, Millis, Worker, WorkerId};

use crate::alert::body;
use crate::cell::json;
use crate::entity::{entity, select, sql};
use crate::error::Result;
use crate::sql::{Conn, Query, bind};
use crate::store::Store;
use crate::tx::Tx;

entity! {
    leases: Lease { key workspace, key bead, fixed worker = "worker_id", fixed actor, fixed taken_at = "taken_ms" }
}

const LEASES: &str = select!(Lease, "FROM leases ORDER BY taken_ms, bead");
const LEASES_OF: &str = select!(Lease, "FROM leases WHERE worker_id = $1 ORDER BY taken_ms, bead");
const TAKE: &str = sql!(Text::insert::<Lease>().add(" ON CONFLICT (workspace, bead) DO NOTHING"));

async fn find(conn: &mut Conn, id: &WorkerId) -> Result<Option<Worker>> {
    bind!("SELECT body FROM workers WHERE id = $1", id).one(conn, body).await
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

entity! { bead_failures: BeadFailure { key bead, set count, set reason, set parked } }

impl Store {
    pub async fn worker(&self, id: &WorkerId) -> Result<Option<Worker>> {
        find(&mut *self.reader().await?, id).await
    }

    /// All of them, in the order in which they were made.
    pub async fn workers(&self) -> Result<Vec<Worker>> {
        bind!("SELECT body FROM workers ORDER BY created_ms, id").all(&mut *self.reader().await?, body).await
    }

    pub async fn leases(&self) -> Result<Vec<Lease>> {
        bind!(LEASES).list(&mut *self.reader().await?).await
    }

    pub async fn leases_of(&self, worker: &WorkerId) -> Result<Vec<Lease>> {
        bind!(LEASES_OF, worker).list(&mut *self.reader().await?).await
    }

    /// Whether anybody here ever took a bead under this name.
    pub async fn gave_actor(&self, actor: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM lease_actors WHERE actor = $1)";
        bind!(sql, actor).value(&mut *self.reader().await?).await
    }

    /// The beads of a workspace that failed before.
    pub async fn bead_failures(&self, workspace: &Path) -> Result<Vec<BeadFailure>> {
        let sql = select!(BeadFailure, "FROM bead_failures WHERE workspace = $1 ORDER BY bead");
        bind!(sql, workspace).list(&mut *self.reader().await?).await
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
        let insert = bind!(sql, worker.id, phase, body, worker.created_at, worker.updated_at);
        let done = insert.run(self.conn()?).await? > 0;
        if done {
            self.touched.worker(Change::Created, worker.clone());
        }
        Ok(done)
    }

    pub async fn update_worker(&mut self, worker: &Worker) -> Result<()> {
        let sql = "UPDATE workers SET phase = $2, body = $3, updated_ms = $4 WHERE id = $1";
        let (phase, body) = (json(&worker.phase)?, json(worker)?);
        bind!(sql, worker.id, phase, body, worker.updated_at).change(self.conn()?).await?;
        self.touched.worker(Change::Updated, worker.clone());
        Ok(())
    }

    pub async fn remove_worker(&mut self, id: &WorkerId) -> Result<()> {
        bind!("DELETE FROM workers WHERE id = $1", id).change(self.conn()?).await?;
        self.touched.worker_removed(id.clone());
        Ok(())
    }

    /// Takes the bead for the worker; `false` when somebody has it.
    pub async fn take_lease(&mut self, lease: &Lease) -> Result<bool> {
        let taken = Query::of(TAKE, lease)?.run(self.conn()?).await? > 0;
        if taken {
            let sql = "INSERT INTO lease_actors (actor, taken_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            bind!(sql, lease.actor, lease.taken_at).run(self.conn()?).await?;
        }
        Ok(taken)
    }

    /// Gives the bead back; `false` when this actor does not have it.
    pub async fn drop_lease(&mut self, workspace: &Path, bead: &str, actor: &str) -> Result<bool> {
        let sql = "DELETE FROM leases WHERE workspace = $1 AND bead = $2 AND actor = $3";
        Ok(bind!(sql, workspace, bead, actor).run(self.conn()?).await? > 0)
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
        bind!(sql, workspace, bead, reason, at).value(self.conn()?).await
    }

    /// From now on nobody takes the bead automatically.
    pub async fn park_bead(&mut self, workspace: &Path, bead: &str) -> Result<()> {
        let sql = "UPDATE bead_failures SET parked = TRUE WHERE workspace = $1 AND bead = $2";
        bind!(sql, workspace, bead).change(self.conn()?).await
    }

    /// The bead may be taken again, as if it had never failed; `false` when it had no failures.
    pub async fn forgive_bead(&mut self, workspace: &Path, bead: &str) -> Result<bool> {
        let sql = "DELETE FROM bead_failures WHERE workspace = $1 AND bead = $2";
        Ok(bind!(sql, workspace, bead).run(self.conn()?).await? > 0)
    }
}
