//! What is made of the end of a worker that had a bead.
//!
//! Invariants: the worker's session and all that ran in it have ended before anything is judged, so that nobody writes
//! where the next one begins; its work is committed and its life written down as a run of the attempt before its bead is
//! settled; everything can be said twice.

use forge_store::Why;
use forge_types::{
    Action, Attempt, Lease, Outcome, Routing, Run, RunOwner, RunPhase, RunStatus, TaskStatus, Worker,
    WorkerPhase,
};

use super::queue::Queue;
use super::worker::run_of;
use crate::run::new_run;
use crate::worktree::queue::Entry;
use crate::{Forge, Result};

/// The exit code by which a worker says that it cannot go on without something else, or without a person.
const NEEDS_HELP: i64 = 1;

/// How a worker that had a bead has ended.
enum End {
    Done,
    NeedsHelp(String),
    Died(String),
    /// A person stopped it.
    Stopped,
}

impl Forge {
    /// Settles a bead that a worker has, if that is due.
    pub(super) async fn settle_worker(&self, lease: &Lease, routing: Option<&Routing>) -> Result<()> {
        let row = self.0.store.worker(&lease.worker).await?;
        let row = row.filter(|row| row.bead.as_ref().is_some_and(|bead| bead.actor == lease.actor));
        // Before it is started again, its bead is free for others.
        let at_work = |row: &Worker| row.phase.is_kept() && row.phase != WorkerPhase::Recovering;
        match (&row, routing) {
            (Some(row), _) if at_work(row) => return Ok(()),
            // Somebody took it under this name and does with it what they like.
            (None, None) => return Ok(()),
            _ => {}
        }
        let Some(queue) = self.queue_of(lease).await? else {
            tracing::warn!(bead = %lease.bead, workspace = %lease.workspace.display(), "its beads are gone");
            return self.end_lease(lease, Outcome::Released, None).await;
        };
        let attempt = match routing.and_then(|routing| routing.attempt_id) {
            Some(id) => self.0.store.attempt(id).await?,
            None => None,
        };
        match (row, routing, attempt) {
            (Some(worker), _, attempt) => self.settle_end(&queue, lease, &worker, attempt).await,
            (None, Some(routing), Some(attempt)) => {
                self.start_worker_of(&queue, lease, routing, &attempt).await
            }
            (None, ..) => self.hand_back(&queue, lease, "The start of this work was cut off.").await,
        }
    }

    async fn settle_end(
        &self,
        queue: &Queue,
        lease: &Lease,
        worker: &Worker,
        attempt: Option<Attempt>,
    ) -> Result<()> {
        self.end_remains(worker).await?;
        // It writes no more: what it used is known before its bead is settled.
        self.meter_worker(&worker.id).await?;
        let end = end_of(worker);
        let Some(attempt) = attempt else { return self.settle_own(queue, lease, worker, end).await };
        if self.is_at_work(attempt.id).await? {
            // The cleanup script; its end is the next occasion.
            return Ok(());
        }
        let attempt = self.write_life(worker, &attempt, &end).await?;
        if self.is_at_work(attempt.id).await? {
            return Ok(());
        }
        match end {
            // The cleanup script has a word in it, and so have conflicts: as for an attempt without a terminal.
            End::Done => self.settle_attempt(queue, lease, &attempt).await,
            End::NeedsHelp(why) => self.ask_for_help(queue, lease, &why, Some(&attempt)).await,
            End::Died(why) => self.record_bead_failure(queue, lease, &why, Some(&attempt)).await,
            End::Stopped => {
                let why = format!("worker {} was stopped by a person", worker.id);
                self.set_aside(queue, lease, &why, Some(&attempt)).await
            }
        }
    }

    /// A worker that a person gave the bead to.
    async fn settle_own(&self, queue: &Queue, lease: &Lease, worker: &Worker, end: End) -> Result<()> {
        let id = &worker.id;
        match end {
            End::Done => {
                let reason = format!("Done by Forge worker {id}");
                match queue.close(lease, &reason).await? {
                    Ok(()) => self.end_lease(lease, Outcome::Closed, None).await,
                    Err(why) => self.hand_back(queue, lease, &why).await,
                }
            }
            End::NeedsHelp(why) => self.ask_for_help(queue, lease, &why, None).await,
            End::Died(why) => {
                self.record_bead_failure(queue, lease, &format!("worker {id}: {why}"), None).await
            }
            End::Stopped => self.hand_back(queue, lease, &format!("Worker {id} was stopped.")).await,
        }
    }

    /// What the worker found to come first is waited for; anything else is for a person.
    pub(super) async fn ask_for_help(
        &self,
        queue: &Queue,
        lease: &Lease,
        why: &str,
        attempt: Option<&Attempt>,
    ) -> Result<()> {
        let blockers = match queue {
            Queue::Beads(tracker) => self.blockers_of(tracker, lease).await?,
            Queue::Board(_) => Vec::new(),
        };
        if blockers.is_empty() {
            return self.set_aside(queue, lease, why, attempt).await;
        }
        let said = format!("It waits for {}: {why}", blockers.join(", "));
        queue.release(lease, &said).await?;
        self.end_lease(lease, Outcome::Released, attempt).await
    }

    /// Commits what the worker left and writes its life down as a run, with the cleanup script after it.
    async fn write_life(&self, worker: &Worker, attempt: &Attempt, end: &End) -> Result<Attempt> {
        let id = run_of(attempt.id);
        if self.0.store.run(id).await?.is_some() {
            return Ok(attempt.clone());
        }
        let workplace = self.workplace(RunOwner::Attempt(attempt.id)).await?;
        let prompt = workplace.task.as_ref().map(|task| task.prompt()).unwrap_or_default();
        let action = Action::agent(prompt, attempt.executor_profile_id.clone(), None);
        let started_at = worker.started_at.unwrap_or(worker.created_at);
        let mut run = Run {
            status: match end {
                End::Done => RunStatus::Completed,
                End::NeedsHelp(_) | End::Died(_) => RunStatus::Failed,
                End::Stopped => RunStatus::Killed,
            },
            phase: RunPhase::Ended,
            exit_code: exit_code(worker).and_then(|code| i32::try_from(code).ok()),
            started_at,
            completed_at: Some(worker.updated_at.max(started_at)),
            created_at: attempt.created_at,
            ..new_run(id, RunOwner::Attempt(attempt.id), action, None, Entry::Now)
        };
        self.keep_worker_log(worker, &mut run, &workplace.directory).await;
        let committed = self.commit_end(&mut run, &workplace).await;
        run.after_head = self.head(&workplace, &committed).await;
        let cleanup =
            crate::attempt::start::cleanup_action(&workplace.project).filter(|_| matches!(end, End::Done));
        let cleanup = cleanup.map(|action| {
            let id = forge_types::RunId::random();
            let owner = RunOwner::Attempt(attempt.id);
            new_run(id, owner, action, run.after_head.clone(), Entry::Now)
        });
        let mut tx = self.0.store.begin().await?;
        tx.insert_run(&run).await?;
        match &cleanup {
            Some(cleanup) => tx.insert_run(cleanup).await?,
            None => {
                tx.move_task(attempt.task_id, TaskStatus::InReview, Why::Run(run.reason)).await?;
            }
        }
        tx.commit().await?;
        match cleanup {
            Some(cleanup) => {
                self.hand_over(&workplace.directory, id, cleanup.id);
                self.start_later(cleanup, workplace);
            }
            None => {
                self.leave_worker_place(attempt);
                self.publish_later(&run, &workplace);
            }
        }
        self.attempt(attempt.id).await
    }
}

fn exit_code(worker: &Worker) -> Option<i64> {
    worker.status.as_ref()?.get("exit_code")?.as_i64()
}

fn end_of(worker: &Worker) -> End {
    let note = || worker.note.clone().unwrap_or_else(|| "the worker failed".to_owned());
    match worker.phase {
        WorkerPhase::Finished => End::Done,
        WorkerPhase::Stopped => End::Stopped,
        _ if exit_code(worker) == Some(NEEDS_HELP) => {
            End::NeedsHelp("the worker ended with exit code 1: it is blocked, or needs a person".to_owned())
        }
        _ => End::Died(note()),
    }
}
