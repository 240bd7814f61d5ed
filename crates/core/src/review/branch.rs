//! An attempt's branch: how it stands, what it is aimed at, and single files of it.
//!
//! Invariant: every verb here works in a worktree that Forge made; an attempt in the user's own checkout has no branch of
//! its own and is refused. Who only looks brings no worktree back. A target branch changes on the user's word or when a
//! rebase onto it is complete.

use forge_git::{GitError, Owner, Repo};
use forge_store::Dropped;
use forge_types::{
    Attempt, AttemptId, BranchStatus, ChangeTargetBranch, CommitComparison, CommitInfo, ConflictOp, Merge,
    Millis, PrStatus, RunOwner, TargetBranchChanged, TaskRelationships,
};

use crate::run::commit::forget_open_conflicts;
use crate::worktree::hold::Hold;
use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Result};

/// An attempt with a branch of its own.
pub(crate) struct Ground {
    pub(crate) site: Workplace,
    pub(crate) attempt: Attempt,
    pub(crate) repo: Repo,
}

impl Ground {
    /// Whether the worktree was put away. What was not committed went with it.
    pub(crate) fn is_away(&self) -> bool {
        !self.site.place.join(".git").exists()
    }

    /// The newest commit: that of the worktree, or of the branch while the worktree is away.
    pub(crate) async fn head(&self) -> Result<String> {
        match self.is_away() {
            true => tip_of(&self.repo, &self.attempt.branch).await,
            false => Ok(self.repo.head_of(&self.site.place).await?),
        }
    }
}

impl Forge {
    /// The attempt with its worktree, which is brought back when it is away.
    pub(crate) async fn ground(&self, id: AttemptId) -> Result<Ground> {
        let mut ground = self.find_ground(id).await?;
        self.restore_place(&mut ground.site).await?;
        self.settle_ground(ground).await
    }

    /// The attempt with its worktree, for who changes something there: nobody else does while the hold lives.
    pub(crate) async fn hold_ground(&self, id: AttemptId) -> Result<(Hold, Ground)> {
        let mut ground = self.find_ground(id).await?;
        let hold = self.hold(id, ground.site.place.clone()).await?;
        self.ensure_place(&mut ground.site).await?;
        Ok((hold, self.settle_ground(ground).await?))
    }

    /// The attempt for who only looks: a worktree that is away stays so.
    pub(crate) async fn plot(&self, id: AttemptId) -> Result<Ground> {
        let ground = self.find_ground(id).await?;
        match ground.is_away() {
            // How far a stopped rebase came lies in the worktree.
            true => Ok(ground),
            false => self.settle_ground(ground).await,
        }
    }

    async fn settle_ground(&self, mut ground: Ground) -> Result<Ground> {
        if let Some(attempt) = self.settle_rebase(&ground.repo, &ground.site).await? {
            ground.site.attempt = Some(attempt.clone());
            ground.attempt = attempt;
        }
        Ok(ground)
    }

    async fn find_ground(&self, id: AttemptId) -> Result<Ground> {
        let site = self.site(RunOwner::Attempt(id)).await?;
        let Some(attempt) = site.attempt.clone().filter(|attempt| attempt.use_worktree) else {
            return Err(Error::conflict(format!(
                "attempt {id} works in the main checkout and has no branch of its own; start one with a worktree for this"
            )));
        };
        let repo = self.repo(&site.project).await?;
        Ok(Ground { site, attempt, repo })
    }

    /// Applies or drops the target that an ended rebase was to bring; answers the attempt when it changed.
    pub(crate) async fn settle_rebase(&self, repo: &Repo, site: &Workplace) -> Result<Option<Attempt>> {
        let Some(attempt) = &site.attempt else { return Ok(None) };
        let Some(pending) = self.0.store.pending_rebase(attempt.id).await? else { return Ok(None) };
        if forge_git::operation(repo, &site.place)? == Some(ConflictOp::Rebase) {
            return Ok(None);
        }
        let tip = repo.resolve_branch(&attempt.branch).await?.map(|tip| tip.commit);
        let complete = match &tip {
            Some(tip) if *tip != pending.tip => {
                forge_git::ahead_behind(repo, &pending.onto, tip).await?.0 == 0
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

    /// How the branch stands. What is uncommitted is unknown while the worktree is away.
    pub async fn branch_status(&self, id: AttemptId) -> Result<BranchStatus> {
        self.look_at_commit(id).await;
        let ground = self.plot(id).await?;
        let is_away = ground.is_away();
        let Ground { site, attempt, repo } = ground;
        let merges = self.0.store.merges(id).await?;
        let is_published =
            matches!(merges.first(), Some(Merge::Pr { pr_info, .. }) if pr_info.status == PrStatus::Open);
        if is_published || repo.is_remote(&attempt.target_branch).await? {
            // Without the remote the answer is what was last known of it.
            if let Err(error) = self.refresh_remote(&site.project, &attempt.target_branch).await {
                tracing::warn!(attempt = %id, %error, "the remote cannot be asked how far it is");
            }
        }
        let tip = tip_of(&repo, &attempt.branch).await?;
        let target = tip_of(&repo, &attempt.target_branch).await?;
        let tree = async {
            match is_away {
                true => Ok(None),
                false => forge_git::status(&repo, &site.place).await.map(Some),
            }
        };
        let (tree, counts) = tokio::join!(tree, forge_git::ahead_behind(&repo, &tip, &target));
        let (tree, (ahead, behind)) = (tree?, counts?);
        let remote = match is_published {
            true => repo.remote_tip(&attempt.branch).await?,
            false => None,
        };
        let remote = match remote {
            Some(remote) => Some(forge_git::ahead_behind(&repo, &tip, &remote).await?),
            None => None,
        };
        let operation = tree.as_ref().and_then(|tree| tree.operation);
        let conflicted_files = tree.as_ref().map_or_else(Vec::new, |tree| tree.conflicted.clone());
        Ok(BranchStatus {
            commits_behind: Some(behind),
            commits_ahead: Some(ahead),
            has_uncommitted_changes: tree.as_ref().map(|tree| !tree.changed.is_empty()),
            head_oid: tree.as_ref().map_or(Some(tip), |tree| tree.head.clone()),
            uncommitted_count: tree.as_ref().map(|tree| tree.changed.len()),
            untracked_count: tree.as_ref().map(|tree| tree.untracked),
            target_branch_name: attempt.target_branch,
            remote_commits_behind: remote.map(|(_, behind)| behind),
            remote_commits_ahead: remote.map(|(ahead, _)| ahead),
            merges,
            is_rebase_in_progress: operation == Some(ConflictOp::Rebase),
            conflict_op: operation.filter(|_| !conflicted_files.is_empty()),
            left_open: self.left_open(id, &conflicted_files).await?,
            conflicted_files,
        })
    }

    /// Which of the conflicted files the agent's last turn left open.
    async fn left_open(&self, id: AttemptId, conflicted: &[String]) -> Result<Vec<String>> {
        if conflicted.is_empty() {
            return Ok(Vec::new());
        }
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        let last = runs.into_iter().rfind(|run| run.reason == forge_types::RunReason::CodingAgent);
        let mut left = last.map(|run| run.open_conflicts).unwrap_or_default();
        left.retain(|file| conflicted.contains(file));
        Ok(left)
    }

    pub async fn commit_info(&self, id: AttemptId, sha: &str) -> Result<CommitInfo> {
        let attempt = self.attempt(id).await?;
        let repo = self.repo(&self.project(attempt.project_id).await?).await?;
        find_commit(&repo, sha).await
    }

    pub async fn compare_commit(&self, id: AttemptId, sha: &str) -> Result<CommitComparison> {
        let ground = self.plot(id).await?;
        let target_oid = find_commit(&ground.repo, sha).await?.sha;
        let head_oid = ground.head().await?;
        let (ahead, behind) = forge_git::ahead_behind(&ground.repo, &head_oid, &target_oid).await?;
        Ok(CommitComparison {
            head_oid,
            target_oid,
            ahead_from_head: ahead,
            behind_from_head: behind,
            is_linear: behind == 0,
        })
    }

    pub async fn task_relationships(&self, id: AttemptId) -> Result<TaskRelationships> {
        let current_attempt = self.attempt(id).await?;
        let parent = self.task(current_attempt.task_id).await?.parent_task_attempt;
        let parent_task = match parent {
            Some(parent) => Some(self.task(self.attempt(parent).await?.task_id).await?),
            None => None,
        };
        let children = self.0.store.child_tasks(id).await?;
        Ok(TaskRelationships { parent_task, current_attempt, children })
    }

    /// Aims an attempt at another branch. A rebase that was to bring another target no longer does.
    pub async fn change_target_branch(
        &self,
        id: AttemptId,
        request: ChangeTargetBranch,
    ) -> Result<TargetBranchChanged> {
        let Ground { attempt, repo, .. } = self.ground(id).await?;
        let name = request.new_target_branch;
        let target = self.base_branch(&repo, &attempt, "new_target_branch", &name).await?;
        let tip = tip_of(&repo, &attempt.branch).await?;
        let status = forge_git::ahead_behind(&repo, &tip, &target.commit).await?;
        self.end_rebase(id, Some(&name)).await?;
        self.recount(id).await;
        Ok(TargetBranchChanged { new_target_branch: name, status })
    }

    /// A branch that an attempt can be aimed at.
    pub(crate) async fn base_branch(
        &self,
        repo: &Repo,
        attempt: &Attempt,
        field: &str,
        name: &str,
    ) -> Result<forge_git::BranchTip> {
        if name == attempt.branch {
            return Err(Error::invalid(format!(
                "{field}: '{name}' is the attempt's own branch; allowed: any other branch"
            )));
        }
        let found = repo.resolve_branch(name).await?;
        found.ok_or_else(|| Error::refused(format!("Branch '{name}' does not exist in the repository")))
    }

    /// Deletes a file in the worktree and commits exactly that.
    pub async fn delete_file(&self, id: AttemptId, file: &str) -> Result<()> {
        let (_hold, Ground { site, attempt, repo }) = self.hold_ground(id).await?;
        forge_git::delete_file(&repo, &site.place, Owner::Attempt(id), &attempt.branch, file).await?;
        self.recount(id).await;
        Ok(())
    }
}

pub(crate) async fn tip_of(repo: &Repo, branch: &str) -> Result<String> {
    let tip = repo.resolve_branch(branch).await?;
    Ok(tip.ok_or_else(|| GitError::BranchMissing(branch.to_owned()))?.commit)
}

async fn find_commit(repo: &Repo, sha: &str) -> Result<CommitInfo> {
    let found = repo.commit_info(sha).await?;
    found.ok_or_else(|| Error::not_found(format!("sha: there is no commit '{sha}' in the repository")))
}
