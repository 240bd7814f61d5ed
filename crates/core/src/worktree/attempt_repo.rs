//! An attempt with a branch of its own: its worktree, its branch and the rebase that may be under way in it.
//!
//! Invariant: an attempt in the user's own checkout has no branch of its own and is refused. Who only reads brings no
//! worktree back.

use forge_git::{GitError, Repo};
use forge_store::{Dropped, Tx};
use forge_types::{Attempt, AttemptId, ConflictOp, Millis, Run, RunOwner};

use crate::worktree::hold::Hold;
use crate::worktree::host::{Head, Host, IsThere, Operation};
use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Result};

/// An attempt with a branch of its own.
pub(crate) struct AttemptRepo {
    pub(crate) workplace: Workplace,
    pub(crate) attempt: Attempt,
    pub(crate) repo: Repo,
    pub(crate) host: Host,
}

impl AttemptRepo {
    /// Whether the worktree was put away. What was not committed went with it.
    pub(crate) async fn is_away(&self) -> Result<bool> {
        Ok(!self.host.ask(IsThere { at: self.workplace.directory.clone() }).await?)
    }

    /// The newest commit: that of the worktree, or of the branch while the worktree is away.
    pub(crate) async fn head(&self) -> Result<String> {
        match self.is_away().await? {
            true => tip_of(&self.repo, &self.attempt.branch).await,
            false => Ok(self.host.ask(Head { at: self.workplace.directory.clone() }).await?),
        }
    }

    /// The commit by which the work is compared with its target. HEAD moves while a rebase is stopped; what the attempt
    /// did is then still on its branch.
    pub(crate) async fn work_head(&self) -> Result<String> {
        match self.host.ask(Operation { at: self.workplace.directory.clone() }).await {
            Ok(Some(ConflictOp::Rebase)) => tip_of(&self.repo, &self.attempt.branch).await,
            _ => self.head().await,
        }
    }
}

impl Forge {
    /// The attempt with its worktree, which is brought back when it is away.
    pub(crate) async fn open_for_write(&self, id: AttemptId) -> Result<AttemptRepo> {
        let mut attempt_repo = self.find_attempt_repo(id).await?;
        self.restore_directory(&mut attempt_repo.workplace).await?;
        self.settle_attempt_repo(attempt_repo).await
    }

    /// The attempt with its worktree, for who changes something there: nobody else does while the hold lives.
    pub(crate) async fn hold_for_write(&self, id: AttemptId) -> Result<(Hold, AttemptRepo)> {
        let mut attempt_repo = self.find_attempt_repo(id).await?;
        let hold = self.hold(id, &attempt_repo.workplace.directory).await?;
        self.ensure_directory(&mut attempt_repo.workplace).await?;
        Ok((hold, self.settle_attempt_repo(attempt_repo).await?))
    }

    /// The attempt for who only looks: a worktree that is away stays so.
    pub(crate) async fn open_for_read(&self, id: AttemptId) -> Result<AttemptRepo> {
        let attempt_repo = self.find_attempt_repo(id).await?;
        match attempt_repo.is_away().await? {
            // How far a stopped rebase came lies in the worktree.
            true => Ok(attempt_repo),
            false => self.settle_attempt_repo(attempt_repo).await,
        }
    }

    async fn settle_attempt_repo(&self, mut attempt_repo: AttemptRepo) -> Result<AttemptRepo> {
        if let Some(attempt) = self.settle_rebase(&attempt_repo.workplace).await? {
            attempt_repo.workplace.attempt = Some(attempt.clone());
            attempt_repo.attempt = attempt;
        }
        Ok(attempt_repo)
    }

    async fn find_attempt_repo(&self, id: AttemptId) -> Result<AttemptRepo> {
        let workplace = self.workplace(RunOwner::Attempt(id)).await?;
        let Some(attempt) = workplace.attempt.clone().filter(|attempt| attempt.use_worktree) else {
            return Err(Error::conflict(format!(
                "attempt {id} works in the main checkout and has no branch of its own"
            ))
            .hint("start one with a worktree for this"));
        };
        let repo = self.repo(&workplace.project).await?;
        Ok(AttemptRepo { workplace, attempt, repo, host: self.0.worktrees.host().clone() })
    }

    /// Applies or drops the target that an ended rebase was to bring; returns the attempt when it changed.
    pub(crate) async fn settle_rebase(&self, workplace: &Workplace) -> Result<Option<Attempt>> {
        let Some(attempt) = &workplace.attempt else { return Ok(None) };
        let Some(pending) = self.0.store.pending_rebase(attempt.id).await? else { return Ok(None) };
        if self.ask(Operation { at: workplace.directory.clone() }).await? == Some(ConflictOp::Rebase) {
            return Ok(None);
        }
        let repo = self.repo(&workplace.project).await?;
        let tip = repo.resolve_branch(&attempt.branch).await?.map(|tip| tip.commit);
        let complete = match &tip {
            Some(tip) if *tip != pending.tip => {
                forge_git::ahead_behind(&repo, &pending.onto, tip).await?.0 == 0
            }
            _ => false,
        };
        let target = complete.then_some(pending.target_branch);
        self.end_rebase(attempt.id, target.as_deref()).await
    }

    /// Forgets a pending rebase and sets the target it brought, if it did.
    pub(crate) async fn end_rebase(&self, id: AttemptId, target: Option<&str>) -> Result<Option<Attempt>> {
        let mut tx = self.0.store.begin().await?;
        tx.delete_pending_rebase(id).await?;
        forget_open_conflicts(&mut tx, id).await?;
        let mut changed = None;
        if let (Some(target), Some(mut attempt)) = (target, tx.attempt(id).await?)
            && attempt.target_branch != target
        {
            attempt.target_branch = target.to_owned();
            attempt.updated_at = Millis::now();
            tx.update_attempt(&attempt).await?;
            changed = Some(attempt);
        }
        tx.commit().await?;
        Ok(changed)
    }
}

pub(crate) async fn tip_of(repo: &Repo, branch: &str) -> Result<String> {
    let tip = repo.resolve_branch(branch).await?;
    Ok(tip.ok_or_else(|| GitError::BranchMissing(branch.to_owned()))?.commit)
}

/// The operation at which the agent left conflicts open is over.
pub(crate) async fn forget_open_conflicts(tx: &mut Tx, id: AttemptId) -> Result<()> {
    for run in tx.runs(id, Dropped::Shown).await? {
        if !run.open_conflicts.is_empty() {
            tx.update_run(&Run { open_conflicts: Vec::new(), updated_at: Millis::now(), ..run }).await?;
        }
    }
    Ok(())
}
