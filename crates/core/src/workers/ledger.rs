//! What workers use: read from what they write, and noted for whom they work.
//!
//! Owns the one task that reads. Invariants: files are read in turns, and what a block of a file says is written together
//! with the place behind it, so whoever is cut off goes on from there; a conversation is counted from one source.

mod sources;

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use forge_fleet::ledger::{Call, Figure, tail};
use forge_store::{CallRow, CallSource, Caller, Tx};
use forge_types::{AssignedBead, Millis, Worker, WorkerId};
use tokio::sync::Semaphore;

use self::sources::{Source, blocking};
use crate::background::Bell;
use crate::{Error, Forge, Result};

/// So long after its end a worker's last words may still be on their way to its log.
const AFTERMATH_MS: i64 = 10 * 60 * 1000;

pub(super) struct Ledger {
    /// Workers that may have written something new.
    due: Mutex<HashSet<WorkerId>>,
    turn: Semaphore,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { due: Mutex::default(), turn: Semaphore::new(1) }
    }
}

impl Ledger {
    fn due(&self) -> MutexGuard<'_, HashSet<WorkerId>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Forge {
    /// The worker may have written something new.
    pub(super) fn meter_soon(&self, id: &WorkerId) {
        self.fleet().ledger.due().insert(id.clone());
        self.0.background.ring(Bell::Spending);
    }

    /// Those that may be writing.
    pub(super) async fn meter_workers_soon(&self) -> Result<()> {
        let now = Millis::now();
        for worker in self.0.store.workers().await? {
            if worker.phase.is_kept() || now.0 - worker.updated_at.0 < AFTERMATH_MS {
                self.fleet().ledger.due().insert(worker.id);
            }
        }
        self.0.background.ring(Bell::Spending);
        Ok(())
    }

    /// Reads what workers write, and watches the budgets, for as long as it is polled.
    pub(crate) async fn keep_ledger(&self) {
        // What was written while no server ran.
        match self.0.store.workers().await {
            Ok(all) => self.fleet().ledger.due().extend(all.into_iter().map(|worker| worker.id)),
            Err(error) => tracing::warn!(%error, "what workers used meanwhile is not read yet"),
        }
        loop {
            self.meter_due().await;
            self.0.background.rung(Bell::Spending).await;
        }
    }

    async fn meter_due(&self) {
        let due = std::mem::take(&mut *self.fleet().ledger.due());
        for id in due {
            if let Err(error) = self.meter_worker(&id).await {
                tracing::warn!(worker = %id, %error, "what a worker used cannot be read for now");
            }
        }
        if let Err(error) = self.watch_budgets().await {
            tracing::warn!(%error, "budgets cannot be checked for now");
        }
    }

    /// Notes everything that the worker has written of its use until now.
    pub(crate) async fn meter_worker(&self, id: &WorkerId) -> Result<()> {
        let turn = self.fleet().ledger.turn.acquire().await;
        let _turn = turn.map_err(|cause| Error::internal("closing", cause))?;
        let Some(worker) = self.0.store.worker(id).await? else { return Ok(()) };
        let mut is_news = false;
        // The log comes first, so that no transcript counts it again.
        for source in self.logs_of(&worker).await? {
            is_news |= self.meter_source(&worker, source).await?;
        }
        for source in self.transcripts_of(&worker).await? {
            is_news |= self.meter_source(&worker, source).await?;
        }
        if is_news {
            self.0.background.ring(Bell::Spending);
        }
        Ok(())
    }

    /// Reads a file to its end; returns whether there was anything new.
    async fn meter_source(&self, worker: &Worker, mut source: Source) -> Result<bool> {
        let reading =
            Reading { forge: self, worker, caller: self.caller(worker).await?, source: source.kind };
        let mut is_news = false;
        while !self.0.background.is_closing() {
            let (path, identity, place) = (source.path.clone(), source.identity, source.place.clone());
            let Some(block) = blocking(move || tail::read(&path, identity, &place)).await? else { break };
            let mut tx = self.0.store.begin().await?;
            for figure in &block.figures {
                reading.note(&mut tx, figure, block.written_at).await?;
            }
            source.place = block.place;
            tx.put_log_place(&source.stored(worker)?).await?;
            tx.commit().await?;
            is_news |= !block.figures.is_empty();
            if !block.more {
                break;
            }
        }
        Ok(is_news)
    }

    /// For whom the worker works now.
    async fn caller(&self, worker: &Worker) -> Result<Caller> {
        let store = &self.0.store;
        let AssignedBead { workspace, id, actor, attempt_id, .. } = match worker.bead.clone() {
            Some(bead) => bead,
            None => {
                let path = worker.workspace.to_string_lossy();
                let project = store.project_by_path(&path).await?.map(|project| project.id);
                let (worker, workspace) = (worker.id.clone(), worker.workspace.clone());
                return Ok(Caller { worker, workspace, bead: None, actor: None, attempt: None, project });
            }
        };
        let attempt = match attempt_id {
            Some(id) => store.attempt(id).await?,
            None => None,
        };
        let project = match &attempt {
            Some(attempt) => Some(attempt.project_id),
            None => store.project_by_path(&workspace.to_string_lossy()).await?.map(|project| project.id),
        };
        let attempt = attempt.map(|attempt| attempt.id);
        Ok(Caller {
            worker: worker.id.clone(),
            workspace,
            bead: Some(id),
            actor: Some(actor),
            attempt,
            project,
        })
    }
}

/// A file as it is read: whose it is and for whom they work.
struct Reading<'a> {
    forge: &'a Forge,
    worker: &'a Worker,
    caller: Caller,
    source: CallSource,
}

impl Reading<'_> {
    async fn note(&self, tx: &mut Tx, figure: &Figure, written_at: Millis) -> Result<()> {
        let row = |call: &Call| self.row(call, written_at);
        match figure {
            Figure::Call(call) => tx.note_call(&row(call)).await?,
            Figure::Sum(calls) => tx.sum_calls(&calls.iter().map(row).collect::<Vec<_>>()).await?,
            Figure::Total(call) => {
                let usage = call.usage.since(tx.session_usage(&call.session).await?);
                if !usage.is_zero() {
                    tx.add_call(&row(&Call { usage, ..call.clone() })).await?;
                }
            }
        }
        Ok(())
    }

    fn row(&self, call: &Call, written_at: Millis) -> CallRow {
        let model = if call.model.is_empty() { &self.worker.model } else { &call.model };
        CallRow {
            key: call.key.clone(),
            session: call.session.clone(),
            source: self.source,
            caller: for_bead(&self.caller, call.bead.as_deref()),
            executor: call.program,
            at: call.at.unwrap_or(written_at),
            line: self.forge.0.costs.prices().price(model, call.usage),
            latency_ms: call.latency_ms,
        }
    }
}

/// A line may name the bead that it is about.
fn for_bead(caller: &Caller, named: Option<&str>) -> Caller {
    match named {
        Some(bead) if caller.bead.as_deref() != Some(bead) => {
            Caller { bead: Some(bead.to_owned()), actor: None, attempt: None, ..caller.clone() }
        }
        _ => caller.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_names_another_bead_is_not_of_the_attempt() {
        let caller = Caller {
            worker: WorkerId::new("a").unwrap(),
            workspace: "/w".into(),
            bead: Some("bd-1".into()),
            actor: Some("forge/a".into()),
            attempt: Some(forge_types::AttemptId::random()),
            project: None,
        };
        assert_eq!(for_bead(&caller, None), caller);
        assert_eq!(for_bead(&caller, Some("bd-1")), caller);
        let other = for_bead(&caller, Some("bd-2"));
        assert_eq!((other.bead.as_deref(), other.actor, other.attempt), (Some("bd-2"), None, None));
    }
}
