//! What an attempt came to, whoever worked in it: an agent without a terminal, or a worker in one.
//!
//! Invariant: both modes are judged here and nowhere else. Success means that every part of the attempt succeeded, the
//! cleanup script included, and that something shows that the agent worked. Nothing lands that has no change, or while a
//! conflict is open in its worktree.

use std::time::Duration;

use forge_git::Counting;
use forge_types::{Attempt, Run, RunReason, RunStatus};

use crate::worktree::attempt_repo::tip_of;
use crate::worktree::host::{IsThere, Status};
use crate::{Forge, Result};

/// How many characters of an agent's last words are repeated.
const LAST_WORDS: usize = 300;
/// A journal that is there is read in less.
const READ_LIMIT: Duration = Duration::from_secs(10);

/// What an attempt came to.
pub(crate) enum Verdict {
    AtWork,
    Succeeded,
    /// Another try may do better.
    Failed(String),
    /// A person has to look at it first.
    Left(String),
}

impl Forge {
    pub(crate) async fn judge_attempt(&self, attempt: &Attempt) -> Result<Verdict> {
        let mut runs = self.0.store.runs(attempt.id, forge_store::Dropped::Hidden).await?;
        runs.retain(|run| run.reason != RunReason::DevServer);
        if runs.iter().any(|run| run.status == RunStatus::Running) {
            return Ok(Verdict::AtWork);
        }
        let Some(last) = runs.last() else { return Ok(Verdict::Failed("nothing of it ran".to_owned())) };
        match last.status {
            RunStatus::Completed => {}
            RunStatus::Killed => {
                return Ok(Verdict::Left(format!("attempt {} was stopped by a person", attempt.id)));
            }
            _ => return Ok(Verdict::Failed(describe_failure(last, &self.last_words(last).await))),
        }
        // It runs only after a change, so a turn without one leaves its last word standing.
        let cleanup = runs.iter().rev().find(|run| run.reason == RunReason::CleanupScript);
        if let Some(failed) = cleanup.filter(|run| run.status != RunStatus::Completed) {
            return Ok(Verdict::Failed(describe_failure(failed, &self.last_words(failed).await)));
        }
        if let Some(why) = runs.iter().find_map(|run| run.commit_error.as_deref()) {
            return Ok(Verdict::Left(format!("the work of attempt {} is not committed: {why}", attempt.id)));
        }
        // A script that succeeded says nothing about the agent before it.
        let agent = runs.iter().rev().find(|run| run.reason == RunReason::CodingAgent);
        if agent.is_some_and(|run| run.unverified) {
            let why = "the agent said that it is done, and nothing shows that it did anything";
            return Ok(Verdict::Failed(why.to_owned()));
        }
        Ok(Verdict::Succeeded)
    }

    /// The last line of what was said or printed; nothing where that cannot be read.
    pub(crate) async fn last_words(&self, run: &Run) -> String {
        let read = async { self.entries(run.id).await?.transcript_now().await };
        let read = tokio::time::timeout(READ_LIMIT, read).await;
        let text = read.ok().and_then(Result::ok).flatten().unwrap_or_default();
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        last.chars().take(LAST_WORDS).collect()
    }

    /// Whether the attempt's branch holds anything to land: commits that its target lacks, and a difference by them.
    pub(crate) async fn has_change(&self, attempt: &Attempt) -> Result<bool> {
        let repo = self.repo(&self.project(attempt.project_id).await?).await?;
        let Some(tip) = repo.resolve_branch(&attempt.branch).await? else { return Ok(false) };
        // Without its target everything on the branch is new.
        let Ok(target) = tip_of(&repo, &attempt.target_branch).await else { return Ok(true) };
        let Some(base) = forge_git::merge_base(&repo, &tip.commit, &target).await? else { return Ok(true) };
        if base != tip.commit
            && !forge_git::diff_between(&repo, &base, &tip.commit, Counting::Skip).await?.is_empty()
        {
            return Ok(true);
        }
        // A merge that was carried out and, after a crash, never recorded.
        Ok(matches!(forge_git::landed(&repo, &attempt.branch, &attempt.target_branch).await, Ok(Some(_))))
    }

    /// What a merge or a rebase stopped at, if one has.
    pub(crate) async fn open_conflict(&self, attempt: &Attempt) -> Result<Option<String>> {
        let at = self.directory_of(attempt).await?;
        if !self.ask(IsThere { at: at.clone() }).await? {
            return Ok(None);
        }
        let status = self.ask(Status { at: at.clone() }).await?;
        if status.operation.is_none() && status.conflicted.is_empty() {
            return Ok(None);
        }
        let what = match status.operation {
            Some(operation) => format!("a {} has stopped", operation.command()),
            None => "conflicts are open".to_owned(),
        };
        let files = match status.conflicted.is_empty() {
            true => String::new(),
            false => format!(" at {}", status.conflicted.join(", ")),
        };
        Ok(Some(format!("{what}{files} in {at}; finish or abort it")))
    }
}

/// What a run that failed is remembered by.
pub(crate) fn describe_failure(run: &Run, words: &str) -> String {
    let what = match run.reason {
        RunReason::SetupScript => "the setup script failed",
        RunReason::CleanupScript => "the cleanup script failed",
        RunReason::CodingAgent | RunReason::DevServer => "the agent failed",
    };
    let code = run.exit_code.map(|code| format!(" (exit code {code})")).unwrap_or_default();
    match words.is_empty() {
        true => format!("{what}{code}"),
        false => format!("{what}{code}: {words}"),
    }
}
