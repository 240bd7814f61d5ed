//! Workers as they are listed: the rows, joined with the sessions that are there.

use forge_fleet::discovery::Bond;
use forge_types::wire::{ListedWorker, WorkerHealth, WorkersHealth};
use forge_types::{AttemptId, HealthLevel, Worker, WorkerId};

use super::session::{Found, describe};
use crate::Error;
use crate::{Forge, Result};

impl Forge {
    /// Ours first, then sessions that look like workers of others.
    pub async fn workers(&self) -> Result<Vec<ListedWorker>> {
        let rows = self.0.store.workers().await?;
        let found = self.found_workers().await;
        let is_of = |found: &Found, worker: &Worker| {
            found.seen.bond == Bond::Managed && found.seen.worker_id == worker.id && found.tmux == worker.tmux
        };
        let mut listed = Vec::new();
        for worker in rows {
            let session = found.iter().find(|found| is_of(found, &worker)).map(|found| &found.seen);
            listed.push(ListedWorker {
                has_session: session.is_some(),
                attached: session.is_some_and(|session| session.is_attached),
                ..self.listed(worker)
            });
        }
        for found in &found {
            let seen = &found.seen;
            if seen.bond == Bond::Managed && listed.iter().any(|known| known.worker.id == seen.worker_id) {
                continue;
            }
            listed.push(ListedWorker {
                managed: false,
                has_session: true,
                attached: seen.is_attached,
                ..self.listed(describe(found))
            });
        }
        Ok(listed)
    }

    /// One worker as it is listed.
    pub async fn listed_worker(&self, id: &WorkerId) -> Result<ListedWorker> {
        let all = self.workers().await?;
        all.into_iter().find(|listed| listed.worker.id == *id).ok_or_else(|| super::unknown(id))
    }

    fn listed(&self, worker: Worker) -> ListedWorker {
        ListedWorker {
            managed: true,
            has_session: false,
            attached: false,
            socket: self.fleet().tmux_of(&worker).socket_path(),
            log: self.fleet().log_of(&worker.id),
            worker: worker.shown(),
        }
    }

    /// How the workers are that have not been stopped and have not finished.
    pub async fn workers_health(&self) -> Result<WorkersHealth> {
        let mut report = WorkersHealth::default();
        for worker in self.0.store.workers().await? {
            let Some(level) = worker.fares() else { continue };
            *match level {
                HealthLevel::Healthy => &mut report.healthy,
                HealthLevel::Degraded => &mut report.degraded,
                HealthLevel::Critical => &mut report.critical,
                HealthLevel::Failed => &mut report.failed,
            } += 1;
            let Worker { id, phase, health, note, .. } = worker;
            report.workers.push(WorkerHealth { id, phase, health, note });
        }
        Ok(report)
    }
}

impl Forge {
    /// The worker that works in an attempt's directory, if one does.
    pub(crate) async fn worker_in(&self, attempt: AttemptId) -> Result<Option<Worker>> {
        let works = |worker: &Worker| {
            worker.phase.is_kept() && worker.bead.as_ref().and_then(|bead| bead.attempt_id) == Some(attempt)
        };
        Ok(self.0.store.workers().await?.into_iter().find(works))
    }

    pub(crate) async fn refuse_worker_in(&self, attempt: AttemptId) -> Result<()> {
        match self.worker_in(attempt).await? {
            Some(Worker { id, .. }) => {
                Err(Error::conflict(format!("worker {id} is at work in attempt {attempt}"))
                    .hint(format!("wait for its end, or stop it with `forge worker stop {id}`")))
            }
            None => Ok(()),
        }
    }
}
