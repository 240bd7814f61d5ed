//! An attempt's branch: how it stands, what it is aimed at, and single files of it.
//!
//! Invariant: every verb here works in a worktree that Forge made; an attempt in the user's own checkout has no branch of
//! its own and is refused. Who only looks brings no worktree back. A target branch changes on the user's word or when a
//! rebase onto it is complete.

use forge_git::{GitError, Owner, Repo};
use forge_store::Dropped;
use forge_types::{
    Attempt, AttemptId, BranchStatus, ChangeTargetBranch, CommitComparison, CommitInfo, ConflictOp,
    ErrorCode, Merge, PrStatus, TargetBranchChanged, TaskRelationships,
};

use crate::worktree::attempt_repo::{AttemptRepo, tip_of};
use crate::worktree::host::{DeleteFile, Status};
use crate::{Error, Forge, Result};

impl Forge {
    /// How the branch stands. What is uncommitted is unknown while the worktree is away.
    pub async fn branch_status(&self, id: AttemptId) -> Result<BranchStatus> {
        self.look_at_commit(id).await;
        let status = self.look_at_branch(id).await?;
        self.show_branch(self.attempt(id).await?.project_id, id, &status);
        Ok(status)
    }

    /// The same without another try to commit what waits: nobody asked for it.
    pub(super) async fn look_at_branch(&self, id: AttemptId) -> Result<BranchStatus> {
        let attempt_repo = self.open_for_read(id).await?;
        let is_away = attempt_repo.is_away().await?;
        let AttemptRepo { workplace, attempt, repo, host } = attempt_repo;
        let merges = self.0.store.merges(id).await?;
        let is_published =
            matches!(merges.first(), Some(Merge::Pr { pr_info, .. }) if pr_info.status == PrStatus::Open);
        if is_published || repo.is_remote(&attempt.target_branch).await? {
            // Without the remote the answer is what was last known of it.
            if let Err(error) = self.refresh_remote(&workplace.project, &attempt.target_branch).await {
                tracing::warn!(attempt = %id, %error, "the remote cannot be asked how far it is");
            }
        }
        let tip = tip_of(&repo, &attempt.branch).await?;
        let target = tip_of(&repo, &attempt.target_branch).await?;
        let tree = async {
            match is_away {
                true => Ok(None),
                false => host.ask(Status { at: workplace.directory.clone() }).await.map(Some),
            }
        };
        let (tree, counts, upstream) = tokio::join!(
            tree,
            forge_git::ahead_behind(&repo, &tip, &target),
            forge_git::remote_for(&repo, &attempt.target_branch)
        );
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
            no_remote: matches!(upstream, Err(GitError::NoRemote(_))),
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
        let attempt_repo = self.open_for_read(id).await?;
        let target_oid = find_commit(&attempt_repo.repo, sha).await?.sha;
        let head_oid = attempt_repo.head().await?;
        let (ahead, behind) = forge_git::ahead_behind(&attempt_repo.repo, &head_oid, &target_oid).await?;
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
        let AttemptRepo { attempt, repo, .. } = self.open_for_write(id).await?;
        let name = request.new_target_branch;
        let target = self.base_branch(&repo, &attempt, "new_target_branch", &name).await?;
        let tip = tip_of(&repo, &attempt.branch).await?;
        let status = forge_git::ahead_behind(&repo, &tip, &target.commit).await?;
        self.end_rebase(id, Some(&name)).await?;
        self.note_move(id).await;
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
        found.ok_or_else(|| {
            let message = format!("Branch '{name}' does not exist in the repository");
            Error::refused(message).code(ErrorCode::BranchNotFound)
        })
    }

    /// Deletes a file in the worktree and commits exactly that.
    pub async fn delete_file(&self, id: AttemptId, file: &str) -> Result<()> {
        let (_hold, AttemptRepo { workplace, attempt, host, .. }) = self.hold_for_write(id).await?;
        let (at, owner) = (workplace.directory, Owner::Attempt(id));
        host.ask(DeleteFile { at, owner, branch: attempt.branch, file: file.to_owned() }).await?;
        self.note_move(id).await;
        Ok(())
    }
}

async fn find_commit(repo: &Repo, sha: &str) -> Result<CommitInfo> {
    let found = repo.commit_info(sha).await?;
    found.ok_or_else(|| {
        Error::not_found(format!("there is no commit '{sha}' in the repository")).of_field("sha")
    })
}
