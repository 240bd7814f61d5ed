//! Bringing an attempt's work to its target: the merge, and the rebase that makes it possible.
//!
//! Invariant: the attempt's directory is held throughout, so no agent works in it meanwhile. A refusal changes nothing. A
//! merge is recorded together with the task's end; one whose record was cut off is recorded by the next try.

use forge_git::{GitError, Rebased};
use forge_store::{Dropped, PendingRebase, Why};
use forge_types::{Attempt, AttemptId, ConflictOp, Merge, MergeId, Millis, RebaseAttempt, TaskStatus};

use crate::background::Bell;
use crate::once::{self, Effect};
use crate::review::commit_message::{own_message, squash_message};
use crate::worktree::attempt_repo::{AttemptRepo, tip_of};
use crate::worktree::host::{self, Operation, Rebase};
use crate::{Error, Forge, Once, Result};

/// How many commits are looked at for the message of a merge.
const MAX_COMMITS: usize = 50;

/// How a rebase went. To clients, a rebase that stopped is not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RebaseOutcome {
    Done,
    /// It stopped; the worktree waits for the conflicts to be resolved.
    Conflicts {
        message: String,
    },
    /// An earlier one is still stopped.
    InProgress,
}

impl Forge {
    /// Lands an attempt: one squashed commit on its target branch. Without a message it bears the agent's own, else the
    /// task's.
    pub async fn merge_attempt(
        &self,
        id: AttemptId,
        message: Option<&str>,
        once: Option<&Once>,
    ) -> Result<()> {
        if let Some(once) = once.filter(|once| matches!(once.effect(), Some(Effect::Merge(_)))) {
            return once.replay(Ok(()));
        }
        self.commit_again(id).await?;
        let (_hold, attempt_repo) = self.hold_for_write(id).await?;
        let AttemptRepo { workplace, attempt, host, .. } = &attempt_repo;
        let Some(task) = &workplace.task else {
            return Err(Error::no_attempt(id));
        };
        let message = match message.map(str::trim).filter(|message| !message.is_empty()) {
            Some(message) => message.to_owned(),
            None => self.own_words(&attempt_repo).await?.unwrap_or_else(|| squash_message(task)),
        };
        let (at, branch) = (workplace.directory.clone(), attempt.branch.clone());
        let merged = host.ask(host::Merge { at, branch, target: attempt.target_branch.clone(), message });
        let commit = match merged.await {
            Ok(merged) => merged.commit,
            // The target may have gone on since.
            Err(error @ (GitError::NothingToMerge { .. } | GitError::Diverged(_))) => {
                self.unrecorded_merge(&attempt_repo).await?.ok_or(error)?
            }
            Err(error) => return Err(error.into()),
        };
        self.record_merge(attempt, commit, once).await?;
        self.note_move(id).await;
        self.warm_up(&workplace.project);
        Ok(())
    }

    /// The agent's own message for its work, where it left one.
    async fn own_words(&self, attempt_repo: &AttemptRepo) -> Result<Option<String>> {
        let AttemptRepo { attempt, repo, .. } = attempt_repo;
        let (tip, target) =
            (tip_of(repo, &attempt.branch).await?, tip_of(repo, &attempt.target_branch).await?);
        let messages = repo.messages_since(&target, &tip, MAX_COMMITS).await?;
        let runs = self.0.store.runs(attempt.id, Dropped::Hidden).await?;
        Ok(own_message(&messages, &runs))
    }

    /// The commit of a merge that was carried out but, after a crash, never recorded.
    async fn unrecorded_merge(&self, attempt_repo: &AttemptRepo) -> Result<Option<String>> {
        let AttemptRepo { attempt, repo, .. } = attempt_repo;
        let Some(commit) = forge_git::landed(repo, &attempt.branch, &attempt.target_branch).await? else {
            return Ok(None);
        };
        let recorded = self.0.store.merges(attempt.id).await?;
        Ok(Some(commit).filter(|commit| recorded.iter().all(|merge| merge.commit() != Some(commit))))
    }

    async fn record_merge(&self, attempt: &Attempt, merge_commit: String, once: Option<&Once>) -> Result<()> {
        let effect = Effect::Merge(merge_commit.clone());
        let merge = Merge::Direct {
            id: MergeId::random(),
            task_attempt_id: attempt.id,
            merge_commit,
            target_branch_name: attempt.target_branch.clone(),
            created_at: Millis::now(),
        };
        let mut tx = self.0.store.begin().await?;
        tx.insert_merge(&merge).await?;
        tx.move_task(attempt.task_id, TaskStatus::Done, Why::Landed).await?;
        once::note(&mut tx, once, || effect, Some(&())).await?;
        tx.commit_synced().await?;
        Ok(())
    }

    /// Replays an attempt's commits onto its target, or onto another branch that becomes its target.
    pub async fn rebase_attempt(&self, id: AttemptId, request: RebaseAttempt) -> Result<RebaseOutcome> {
        let (_hold, attempt_repo) = self.hold_for_write(id).await?;
        let AttemptRepo { workplace, attempt, repo, host } = &attempt_repo;
        let at = || workplace.directory.clone();
        let current = &attempt.target_branch;
        let name = request.new_base_branch.as_ref().unwrap_or(current);
        let new = self.base_branch(repo, attempt, "new_base_branch", name).await?;
        let old = match &request.old_base_branch {
            Some(old) => self.base_branch(repo, attempt, "old_base_branch", old).await?,
            // A target that is gone is a reason to rebase, not an obstacle.
            None => repo.resolve_branch(current).await?.unwrap_or_else(|| new.clone()),
        };
        if host.ask(Operation { at: at() }).await? == Some(ConflictOp::Rebase) {
            return Ok(RebaseOutcome::InProgress);
        }
        let tip = tip_of(repo, &attempt.branch).await?;
        let pending = PendingRebase {
            attempt_id: id,
            target_branch: name.clone(),
            tip,
            onto: new.commit.clone(),
            started_at: Millis::now(),
        };
        // Before git begins, so that a server that dies in between still knows what the rebase was for.
        self.note_rebase(&attempt_repo, &pending).await?;
        match host.ask(Rebase { at: at(), branch: attempt.branch.clone(), old, new }).await {
            Ok(Rebased::Done { .. }) => {
                self.end_rebase(id, Some(name)).await?;
                self.note_move(id).await;
                Ok(RebaseOutcome::Done)
            }
            Ok(Rebased::Conflicts { files }) => {
                // Again, since a look at the attempt may have found the rebase not begun.
                self.note_rebase(&attempt_repo, &pending).await?;
                self.0.background.ring(Bell::Branches);
                let (branch, files) = (&attempt.branch, files.join(", "));
                Ok(RebaseOutcome::Conflicts {
                    message: format!(
                        "Rebase encountered merge conflicts while rebasing '{branch}' onto '{name}'. Conflicted \
                         files: {files}. Resolve conflicts and then continue or abort."
                    ),
                })
            }
            Err(error) => {
                self.end_rebase(id, None).await?;
                Err(error.into())
            }
        }
    }

    async fn note_rebase(&self, attempt_repo: &AttemptRepo, pending: &PendingRebase) -> Result<()> {
        if pending.target_branch == attempt_repo.attempt.target_branch {
            return Ok(());
        }
        let mut tx = self.0.store.begin().await?;
        tx.put_pending_rebase(pending).await?;
        tx.commit().await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AgentsOnExit;
    use crate::attempt::removal::tests::archived_attempt;
    use crate::run::approval::tests::config;

    #[tokio::test]
    async fn the_merge_of_an_archived_task_is_recorded_and_leaves_it_archived() {
        let dir = tempfile::tempdir().expect("a folder");
        let forge = Forge::open(config(dir.path())).await.expect("an engine");
        let attempt = archived_attempt(&forge).await;
        forge.record_merge(&attempt, "c0ffee".into(), None).await.expect("a record");
        let merges = forge.0.store.merges(attempt.id).await.expect("a list");
        assert_eq!(merges.iter().map(Merge::commit).collect::<Vec<_>>(), [Some("c0ffee")]);
        let task = forge.task(attempt.task_id).await.expect("a task");
        assert_eq!(task.status, TaskStatus::Archived);
        forge.close(AgentsOnExit::Keep).await;
    }
}
