//! What an attempt changed: where the changes are, and their figures.
//!
//! Invariant: the figures are those of the patch that [`Forge::patch`] returns. They are counted where a run's work or the
//! attempt's branch came to rest, and now and then while an agent works and somebody looks; what cannot be counted is left empty and keeps nothing else from happening.

use std::time::Duration;

use forge_git::{Counting, FileDiff, Patch, PatchScope};
use forge_types::{AttemptId, Changes, Diff, Merge, Run, RunPhase, RunReason};

use crate::background::Bell;
use crate::worktree::attempt_repo::{AttemptRepo, tip_of};
use crate::worktree::host::{self, IsDirty, IsThere, PatchOf};
use crate::worktree::workplace::Workplace;
use crate::{Forge, Kind, Result};

/// How often the changes of running agents are counted; less often when that takes long.
const COUNT_EVERY: Duration = Duration::from_secs(5);
/// In a report, more files than this are only counted.
const REPORTED_FILES: usize = 500;

/// The figures of a whole change, and its files as far as they fit.
#[derive(Clone, Debug, Default)]
pub struct ChangeStat {
    /// Without contents.
    pub files: Vec<Diff>,
    pub file_count: usize,
    pub additions: u64,
    pub deletions: u64,
}

/// Where the changes lie.
pub(crate) enum Source {
    Commit(String),
    Tree {
        base: String,
    },
    /// The worktree is away.
    Branch {
        base: String,
        tip: String,
    },
}

impl Forge {
    pub(crate) async fn stat(&self, id: AttemptId) -> Result<ChangeStat> {
        let (attempt_repo, source) = self.change(id).await?;
        Ok(sum_up(count(&attempt_repo, &source).await?, REPORTED_FILES))
    }

    pub(crate) async fn change(&self, id: AttemptId) -> Result<(AttemptRepo, Source)> {
        let attempt_repo = self.open_for_read(id).await?;
        let merged = self.0.store.merges(id).await?.into_iter().next();
        if let Some(commit) = merged.as_ref().and_then(Merge::commit)
            && is_landed(&attempt_repo, commit).await?
        {
            return Ok((attempt_repo, Source::Commit(commit.to_owned())));
        }
        let is_away = attempt_repo.is_away().await?;
        let head = attempt_repo.work_head().await?;
        let target = tip_of(&attempt_repo.repo, &attempt_repo.attempt.target_branch).await?;
        let base =
            forge_git::merge_base(&attempt_repo.repo, &head, &target).await?.unwrap_or_else(|| head.clone());
        let source = if is_away { Source::Branch { base, tip: head } } else { Source::Tree { base } };
        Ok((attempt_repo, source))
    }

    /// What an attempt has come to with a run that just ended; `None` when such a run changes no figures.
    pub(crate) async fn changes_after(
        &self,
        run: &Run,
        workplace: &Workplace,
    ) -> Option<(AttemptId, Option<Changes>)> {
        match run.reason {
            RunReason::CodingAgent | RunReason::CleanupScript => {}
            RunReason::SetupScript | RunReason::DevServer => return None,
        }
        // In the user's own checkout nobody knows who changed what.
        let attempt = workplace.attempt.as_ref().filter(|attempt| attempt.use_worktree)?.id;
        Some((attempt, self.count_changes(attempt).await))
    }

    /// Counts again after the branch or its target moved.
    pub(crate) async fn note_move(&self, attempt: AttemptId) {
        let changes = self.count_changes(attempt).await;
        self.put_changes(attempt, changes).await;
        self.0.background.ring(Bell::Branches);
    }

    async fn put_changes(&self, attempt: AttemptId, changes: Option<Changes>) {
        let noted = async {
            let mut tx = self.0.store.begin().await?;
            tx.put_changes(attempt, changes).await?;
            tx.commit().await
        };
        if let Err(error) = noted.await {
            tracing::warn!(%attempt, %error, "cannot note what an attempt changed");
        }
    }

    /// Counts what running agents have changed so far, while somebody looks.
    pub(crate) async fn watch_changes(self) {
        loop {
            let began = std::time::Instant::now();
            if self.0.background.signs.is_heard() {
                let running = self.0.store.open_runs().await.unwrap_or_default();
                let counted = running.iter().filter(|run| {
                    run.phase == RunPhase::Live && run.reason == RunReason::CodingAgent && !run.dropped
                });
                for attempt in counted.filter_map(|run| run.owner.attempt()) {
                    // What cannot be counted in the middle of the work keeps its last figures.
                    if let changes @ Some(_) = self.count_changes(attempt).await {
                        self.put_changes(attempt, changes).await;
                    }
                }
            }
            tokio::time::sleep(COUNT_EVERY.max(began.elapsed() * 20)).await;
        }
    }

    async fn count_changes(&self, attempt: AttemptId) -> Option<Changes> {
        let _turn = self.0.worktrees.turn().await.ok()?;
        match self.stat(attempt).await {
            Ok(ChangeStat { file_count, additions, deletions, .. }) => Some(Changes {
                files_changed: i64::try_from(file_count).ok()?,
                additions: additions.try_into().ok()?,
                deletions: deletions.try_into().ok()?,
            }),
            // The attempt was deleted while its run was ending.
            Err(error) if error.kind() == Kind::NotFound => None,
            Err(error) => {
                tracing::warn!(%attempt, %error, "cannot count what an attempt changed");
                None
            }
        }
    }
}

pub(crate) async fn count(attempt_repo: &AttemptRepo, source: &Source) -> Result<Vec<FileDiff>> {
    let AttemptRepo { workplace, repo, host, .. } = attempt_repo;
    let counting = Counting::Count;
    Ok(match source {
        Source::Commit(commit) => forge_git::diff_commit(repo, commit, counting).await?,
        Source::Tree { base } => {
            let (at, base) = (workplace.directory.clone(), base.clone());
            host.ask(host::Changes { at, base, counting }).await?
        }
        Source::Branch { base, tip } => forge_git::diff_between(repo, base, tip, counting).await?,
    })
}

/// The same changes as text.
pub(crate) async fn patch(attempt_repo: &AttemptRepo, source: &Source, scope: PatchScope) -> Result<Patch> {
    let AttemptRepo { workplace, repo, host, .. } = attempt_repo;
    Ok(match source {
        Source::Commit(commit) => forge_git::patch_commit(repo, commit, &scope).await?,
        Source::Tree { base } => {
            let (at, base) = (workplace.directory.clone(), base.clone());
            host.ask(PatchOf { at, base, scope }).await?
        }
        Source::Branch { base, tip } => forge_git::patch_between(repo, base, tip, &scope).await?,
    })
}

pub(crate) fn sum_up(files: Vec<FileDiff>, max_files: usize) -> ChangeStat {
    let sum = |lines: fn(&FileDiff) -> Option<u64>| files.iter().filter_map(lines).sum();
    ChangeStat {
        file_count: files.len(),
        additions: sum(|file| file.additions),
        deletions: sum(|file| file.deletions),
        files: files.iter().take(max_files).map(FileDiff::outline).collect(),
    }
}

/// Clean and not ahead of its target: what the attempt did is the merge commit and nothing more.
pub(crate) async fn is_landed(attempt_repo: &AttemptRepo, commit: &str) -> Result<bool> {
    let AttemptRepo { workplace, attempt, repo, host } = attempt_repo;
    let at = || workplace.directory.clone();
    // The commit of a pull request may not have been fetched yet.
    let known = repo.has_commit(commit).await?;
    if !known || (host.ask(IsThere { at: at() }).await? && host.ask(IsDirty { at: at() }).await?) {
        return Ok(false);
    }
    let (tip, target) = (tip_of(repo, &attempt.branch).await?, tip_of(repo, &attempt.target_branch).await?);
    Ok(forge_git::ahead_behind(repo, &tip, &target).await?.0 == 0)
}
