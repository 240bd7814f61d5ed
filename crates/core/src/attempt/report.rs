//! What an attempt has come to: its last word, its commits, its changes and what it used.
//!
//! Invariant: everything in it is bounded, and it is put together from what is on record; nothing is changed by asking.

use forge_store::Dropped;
use forge_types::{Approval, Attempt, AttemptId, CommitInfo, Merge, Run, RunReason, Task};

use crate::worktree::attempt_repo::tip_of;
use crate::worktree::changes::ChangeStat;
use crate::{Forge, Kind, Result};

const MAX_COMMITS: usize = 100;

pub struct AttemptReport {
    pub attempt: Attempt,
    pub task: Task,
    /// Oldest first.
    pub runs: Vec<Run>,
    /// The last thing the newest agent run said.
    pub final_message: Option<String>,
    /// What the branch has and its target has not, newest first; after a merge the commit it landed as.
    pub commits: Vec<CommitInfo>,
    pub changes: ChangeStat,
    /// Newest first.
    pub merges: Vec<Merge>,
    /// Questions of its agents that wait for an answer.
    pub asks: Vec<Approval>,
}

impl Forge {
    pub async fn attempt_report(&self, id: AttemptId) -> Result<AttemptReport> {
        let attempt = self.attempt(id).await?;
        let task = self.task(attempt.task_id).await?;
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        let newest = runs.iter().rev().find(|run| run.reason == RunReason::CodingAgent);
        let final_message = newest.and_then(|run| run.summary.clone());
        let mut asks = self.pending_approvals().await?;
        asks.retain(|ask| ask.run_id.is_some_and(|asking| runs.iter().any(|run| run.id == asking)));
        let merges = self.merges(id).await?;
        let commits = self.commits_of(&attempt, &merges).await?;
        let changes = match self.stat(id).await {
            Ok(changes) => changes,
            // Work in the main checkout is nobody's in particular; a branch that is gone has nothing to show.
            Err(error) if matches!(error.kind(), Kind::Conflict | Kind::NotFound) => ChangeStat::default(),
            Err(error) => return Err(error),
        };
        Ok(AttemptReport { attempt, task, runs, final_message, commits, changes, merges, asks })
    }

    async fn commits_of(&self, attempt: &Attempt, merges: &[Merge]) -> Result<Vec<CommitInfo>> {
        if !attempt.use_worktree {
            return Ok(Vec::new());
        }
        let repo = self.repo(&self.project(attempt.project_id).await?).await?;
        let tips = (tip_of(&repo, &attempt.branch).await, tip_of(&repo, &attempt.target_branch).await);
        let mut commits = match tips {
            (Ok(tip), Ok(target)) => repo.commits_since(&target, &tip, MAX_COMMITS).await?,
            _ => Vec::new(),
        };
        if commits.is_empty()
            && let Some(commit) = merges.iter().find_map(Merge::commit)
        {
            commits.extend(repo.commit_info(commit).await?);
        }
        Ok(commits)
    }
}
