//! The one task that watches workers.
//!
//! Owns the order of things: what workers write is read as they write it, the end of a process comes from the kernel,
//! and everything else is seen at the next check. Invariants: nothing here waits for a launcher; the task ends with the
//! engine.

use std::collections::HashSet;
use std::time::Duration;

use forge_fleet::health::complaint;
use forge_fleet::process::{Identity, exit_of};
use forge_fleet::status_file::{self, Change, StatusFile, Watch};
use forge_fleet::worker::WorkerStatus;
use forge_types::{Millis, Worker, WorkerId, WorkerPhase};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::check::Watched;
use super::identity;
use super::lifecycle::WorkerEnd;
use crate::{Forge, Result};

/// A wait for the end of a process, and whose process it is.
type Exit = BoxFuture<'static, (WorkerId, Identity)>;

#[derive(Default)]
struct Exits {
    waits: FuturesUnordered<Exit>,
    known: HashSet<(WorkerId, Identity)>,
}

impl Exits {
    fn watch(&mut self, watched: Watched) {
        for (id, processes) in watched {
            for process in processes {
                if self.known.insert((id.clone(), process)) {
                    let id = id.clone();
                    self.waits.push(Box::pin(async move {
                        exit_of(process).await;
                        (id, process)
                    }));
                }
            }
        }
    }

    /// Never ends while nothing is watched.
    async fn next(&mut self) -> WorkerId {
        match self.waits.next().await {
            Some((id, process)) => {
                self.known.remove(&(id.clone(), process));
                id
            }
            None => std::future::pending().await,
        }
    }
}

impl Forge {
    pub(crate) async fn monitor_workers(&self) {
        let fleet = self.fleet();
        let mut files = match status_file::watch(&fleet.status_dir) {
            Ok(watch) => Some(watch),
            Err(error) => {
                tracing::error!(%error, "what workers write is not watched, only looked at with each check");
                None
            }
        };
        if let Err(error) = self.finish_stops().await {
            tracing::warn!(%error, "sessions of stopped workers may be left");
        }
        let mut exits = Exits::default();
        let mut check_at = Instant::now();
        let mut due = None;
        loop {
            let checked = tokio::select! {
                change = next_change(&mut files) => match self.note_status(change).await {
                    Ok(Some(id)) => self.check_workers(Some(&id)).await,
                    Ok(None) => continue,
                    Err(error) => {
                        tracing::warn!(%error, "what a worker wrote is not noted");
                        continue;
                    }
                },
                id = exits.next() => self.check_workers(Some(&id)).await,
                () = fleet.changed.notified() => self.check_workers(None).await,
                () = sleep_until(due) => Ok(Watched::new()),
                () = tokio::time::sleep_until(check_at) => {
                    let interval = self.settings().fleet.health.check_interval_secs.max(1);
                    check_at = Instant::now() + Duration::from_secs(interval);
                    if let Err(error) = self.meter_workers_soon().await {
                        tracing::warn!(%error, "what workers used is not read");
                    }
                    self.check_workers(None).await
                }
            };
            match checked {
                Ok(watched) => exits.watch(watched),
                Err(error) => tracing::warn!(%error, "workers cannot be checked"),
            }
            due = self.recover_due().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "workers that wait cannot be looked for");
                Some(Forge::later())
            });
        }
    }

    /// What a worker says of itself goes to its row. Returns who is to be looked at, because its word makes it healthy or
    /// ill.
    async fn note_status(&self, change: Change) -> Result<Option<WorkerId>> {
        // A file that was aged out takes nothing back of what it said.
        let Change::Written(file) = change else { return Ok(None) };
        let Ok(id) = WorkerId::new(file.worker_id.clone()) else { return Ok(None) };
        let Some(known) = self.0.store.worker(&id).await? else { return Ok(None) };
        self.meter_soon(&id);
        let secrets = self.worker_secrets(&id).await?;
        let mut status = words(&file);
        secrets.mask_value(&mut status);
        if known.status.as_ref() == Some(&status) {
            return Ok(None);
        }
        let reason = file.pause_reason.as_deref().map(|reason| secrets.mask_text(reason).into_owned());
        // Other tools pause a worker by its file, and let it go on. Word of a pause that is over comes too late.
        let now = self.status_in_file(&id).await;
        let is_paused = [Some(file.status), now].iter().all(|said| *said == Some(WorkerStatus::Paused));
        let goes_on = now.is_some_and(|said| said.is_healthy() && said != WorkerStatus::Paused);
        let after = self
            .change_worker(&id, |stored| {
                let mut after = Worker { status: Some(status), ..stored.clone() };
                if is_paused && stored.phase == WorkerPhase::Running {
                    (after.phase, after.note) = (WorkerPhase::Paused, reason);
                    after.paused_by_file = true;
                } else if goes_on && stored.phase == WorkerPhase::Paused && stored.paused_by_file {
                    (after.phase, after.note) = (WorkerPhase::Running, None);
                    after.paused_by_file = false;
                }
                Ok(Some(after))
            })
            .await?;
        let complains = after.health.findings.iter().copied().find(|finding| finding.is_complaint());
        let is_news = complains != file.says().and_then(complaint);
        Ok((after.phase.is_live() && is_news).then_some(id))
    }

    async fn status_in_file(&self, id: &WorkerId) -> Option<WorkerStatus> {
        let (dir, id) = (self.fleet().status_dir.clone(), id.clone());
        let file = tokio::task::spawn_blocking(move || status_file::find(&dir, &id)).await;
        file.ok().flatten().map(|file| file.status)
    }

    /// A server that was killed in the middle of a stop has written what was wanted. The process shows that it is
    /// still the same session.
    async fn finish_stops(&self) -> Result<()> {
        let mut stopped = self.0.store.workers().await?;
        stopped.retain(|worker| worker.phase == WorkerPhase::Stopped && is_alive(worker));
        for worker in stopped {
            tracing::info!(worker = %worker.id, "a stop that was cut off is finished");
            self.end_session(&worker.id, WorkerEnd::Kill).await?;
        }
        Ok(())
    }
}

fn is_alive(worker: &Worker) -> bool {
    worker.process.as_ref().and_then(identity).is_some_and(Identity::is_alive)
}

/// The file as it stands, or why it says nothing.
pub(super) fn words(file: &StatusFile) -> Value {
    match &file.reason {
        Some(reason) if file.fields.is_empty() => json!({"status": file.status, "reason": reason}),
        _ => Value::Object(file.fields.clone()),
    }
}

async fn next_change(files: &mut Option<Watch>) -> Change {
    match files {
        Some(watch) => watch.next().await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(due: Option<Millis>) {
    match due {
        Some(due) => {
            let ms = due.0.saturating_sub(Millis::now().0).clamp(0, 60_000);
            tokio::time::sleep(Duration::from_millis(ms.unsigned_abs())).await;
        }
        None => std::future::pending().await,
    }
}
