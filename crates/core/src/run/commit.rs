//! Committing what a run left in its worktree, and trying again where that failed.
//!
//! Invariant: work that could not be committed stays in the worktree and is named on its run and on the card until a
//! commit has taken it. It is tried again when the server starts, when somebody looks at the attempt, before it lands,
//! and every now and then, since a full disk has space again some day.

use forge_git::Committed;
use forge_run::Secrets;
use forge_store::{Dropped, Tx, Why};
use forge_types::{AttemptId, ErrorCode, Millis, Run, RunId, RunOwner, RunReason, RunStatus, TaskStatus};

use crate::run::new_run;
use crate::run::outcome::next_action;
use crate::worktree::host;
use crate::worktree::queue::Entry;
use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Kind, Result};

/// How the commits of runs begin that have no words of their own. They are recognised by it, also those that are older
/// than this version, so it never changes.
pub(crate) const AGENT_CHANGES: &str = "Commit changes from coding agent";
pub(crate) const CLEANUP_CHANGES: &str = "Cleanup script changes";

impl Forge {
    /// An agent that succeeded, and any cleanup script, has its changes committed. Work with open conflicts is not. What
    /// git and its filters complain of is shown without the secrets of the run, and of the server, whose environment they have.
    pub(crate) async fn commit_work(&self, run: &Run, workplace: &Workplace) -> Result<Option<Committed>> {
        match self.try_commit(run, workplace).await {
            Ok(committed) => Ok(committed),
            Err(error) => {
                let own =
                    Secrets::own().map_err(|cause| Error::internal("cannot determine the secrets", cause))?;
                Err(error.masked(&self.secrets_of(run.id).await?).masked(&own))
            }
        }
    }

    async fn try_commit(&self, run: &Run, workplace: &Workplace) -> Result<Option<Committed>> {
        let wanted = match run.reason {
            RunReason::CodingAgent => run.status == RunStatus::Completed,
            RunReason::CleanupScript => true,
            RunReason::SetupScript | RunReason::DevServer => false,
        };
        let Some(attempt) = workplace.attempt.as_ref().filter(|_| wanted && workplace.commits()) else {
            return Ok(None);
        };
        let message = match (run.reason, &run.summary) {
            (RunReason::CleanupScript, _) => {
                format!("{CLEANUP_CHANGES} for task attempt {}", attempt.id)
            }
            (_, Some(summary)) if !summary.trim().is_empty() => summary.clone(),
            _ => format!("{AGENT_CHANGES} for task attempt {}", attempt.id),
        };
        self.refuse_others(attempt.id, &workplace.directory).await?;
        let _turn = self.0.worktrees.turn().await?;
        let (at, branch) = (workplace.directory.clone(), attempt.branch.clone());
        Ok(Some(self.ask(host::Commit { at, branch, message }).await?))
    }

    /// Commits the work of a run that ends. What keeps it from being committed is noted in the run.
    pub(crate) async fn commit_end(&self, run: &mut Run, workplace: &Workplace) -> Option<Committed> {
        match self.commit_work(run, workplace).await {
            Ok(Some(Committed::Conflicts(files))) => {
                tracing::info!(run = %run.id, ?files, "a run ended with conflicts; nothing was committed");
                run.open_conflicts = files;
                None
            }
            Ok(None) if run.reason == RunReason::CodingAgent => {
                run.open_conflicts = self.open_conflicts(workplace).await;
                None
            }
            Ok(committed) => committed,
            Err(error) => {
                tracing::error!(run = %run.id, %error, "cannot commit the work of a run; it is tried again");
                run.commit_error = Some(error.to_string());
                None
            }
        }
    }

    /// The files at which an operation is stopped in the attempt's own worktree.
    async fn open_conflicts(&self, workplace: &Workplace) -> Vec<String> {
        let looked = async {
            let at = || workplace.directory.clone();
            match self.ask(host::Operation { at: at() }).await? {
                Some(_) => Ok(self.ask(host::Status { at: at() }).await?.conflicted),
                None => Ok::<_, Error>(Vec::new()),
            }
        };
        if workplace.attempt.is_none() || !workplace.commits() {
            return Vec::new();
        }
        looked.await.unwrap_or_else(|error| {
            tracing::warn!(directory = %workplace.directory, %error, "cannot look for open conflicts");
            Vec::new()
        })
    }

    /// Commits what earlier runs of an attempt could not, if there is such work.
    pub(crate) async fn commit_again(&self, id: AttemptId) -> Result<()> {
        let waiting = |runs: Vec<Run>| runs.into_iter().rfind(|run| run.commit_error.is_some());
        if waiting(self.0.store.runs(id, Dropped::Hidden).await?).is_none() {
            return Ok(());
        }
        let mut workplace = self.workplace(RunOwner::Attempt(id)).await?;
        let hold = self.hold(id, &workplace.directory).await?;
        let Some(run) = waiting(self.0.store.runs(id, Dropped::Hidden).await?) else { return Ok(()) };
        self.ensure_directory(&mut workplace).await?;
        let uncommitted = |error: Error| {
            error.reworded(|why| format!("the work of run {} is not committed: {why}", run.id))
        };
        let committed = self.commit_work(&run, &workplace).await.map_err(|error| {
            // Nothing is wrong with the request, or with Forge.
            let kind = if error.kind() == Kind::Unavailable { Kind::Unavailable } else { Kind::Conflict };
            uncommitted(error.of_kind(kind))
        })?;
        if matches!(committed, None | Some(Committed::Conflicts(_))) {
            let open = Error::conflict(format!("conflicts are open in {}", workplace.directory));
            let open = open.code(ErrorCode::MergeConflicts).hint("resolve or abort them first");
            return Err(uncommitted(open));
        }
        let after_head = self.head(&workplace, &committed).await;
        let run = Run { after_head, ..run };
        let next = next_action(&run, &committed)
            .map(|action| new_run(RunId::random(), run.owner, action, run.after_head.clone(), Entry::Now));
        self.write_commit(id, &run, &workplace, next.as_ref()).await?;
        tracing::info!(run = %run.id, "the work of a run is committed at last");
        self.note_move(id).await;
        match next {
            Some(next) => {
                hold.hand_over(next.id);
                self.start_later(next, workplace);
            }
            None => {
                drop(hold);
                (self.0.runs.after.publish)(self, &run, &workplace);
            }
        }
        Ok(())
    }

    /// One transaction: the work is committed, and what was to follow it is there.
    async fn write_commit(
        &self,
        id: AttemptId,
        run: &Run,
        workplace: &Workplace,
        next: Option<&Run>,
    ) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        forget_commit_errors(&mut tx, id).await?;
        if let Some(stored) = tx.run(run.id).await? {
            let after_head = run.after_head.clone();
            tx.update_run(&Run { after_head, updated_at: Millis::now(), ..stored }).await?;
        }
        if let Some(next) = next {
            tx.insert_run(next).await?;
            if let Some(task) = &workplace.task {
                tx.move_task(task.id, TaskStatus::InProgress, Why::Run(next.reason)).await?;
            }
        }
        tx.commit().await?;
        Ok(())
    }

    /// Somebody looks at the attempt: what waits for its commit is tried again first.
    pub(crate) async fn look_at_commit(&self, id: AttemptId) {
        let forge = self.clone();
        // Whoever looks may go away in the middle; what was begun is brought to its end.
        let tried = self.0.background.spawn(async move {
            if let Err(error) = forge.commit_again(id).await {
                tracing::debug!(attempt = %id, %error, "its work still waits for a commit");
            }
        });
        // It fails only when the server stops.
        let _ = tried.await;
    }

    /// Tries again to commit everything that is not committed.
    pub(crate) async fn commit_waiting(&self) -> Result<()> {
        for id in self.0.store.uncommitted_attempts().await? {
            self.look_at_commit(id).await;
        }
        Ok(())
    }
}

/// A commit takes everything that is in the worktree, also what earlier runs left there.
pub(crate) async fn forget_commit_errors(tx: &mut Tx, id: AttemptId) -> Result<()> {
    for run in tx.runs(id, Dropped::Shown).await? {
        if run.commit_error.is_some() {
            tx.update_run(&Run { commit_error: None, updated_at: Millis::now(), ..run }).await?;
        }
    }
    Ok(())
}
