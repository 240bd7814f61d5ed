//! Runs: the processes of attempts and errands.
//!
//! Owns a run's whole life: launched, followed, its approvals and its conversation, stopped, parked, settled, picked up
//! after a restart. Invariant: every run that is not `Ended` has an owner, and none is `Ended` before its work is committed.

pub(crate) mod adopted_log;
pub(crate) mod approval;
pub(crate) mod commit;
pub(crate) mod conversation;
pub(crate) mod lifecycle;
pub(crate) mod log;
pub(crate) mod meter;
pub(crate) mod outcome;
pub(crate) mod parking;
pub(crate) mod plan;
pub(crate) mod recovery;
pub(crate) mod stop;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use forge_store::Dropped;
use forge_types::{
    Action, AttemptId, Draft, Errand, ErrandId, Executor, Millis, ProjectId, Run, RunId, RunOwner,
};

use lifecycle::Attended;
use tokio::sync::Notify;

use crate::worktree::queue::Entry;
use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Result};

/// What the rooms above do when nothing more follows a run; handed in when the engine is opened.
pub(crate) struct AfterRuns {
    pub(crate) send_draft: fn(&Forge, AttemptId),
    pub(crate) publish: fn(&Forge, &Run, &Workplace),
}

/// The runs that this server is attached to.
pub(crate) struct Runs {
    after: AfterRuns,
    attended: Mutex<HashMap<RunId, Attended>>,
    /// Rings when a run gets or loses its process.
    changed: Notify,
}

impl Runs {
    pub(crate) fn new(after: AfterRuns) -> Self {
        Self { after, attended: Mutex::default(), changed: Notify::new() }
    }
}

impl Forge {
    pub(crate) fn living_runs(&self) -> Vec<RunId> {
        self.attended().keys().copied().collect()
    }

    pub(crate) fn attended(&self) -> MutexGuard<'_, HashMap<RunId, Attended>> {
        self.0.runs.attended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn runs(&self, attempt: AttemptId, dropped: Dropped) -> Result<Vec<Run>> {
        Ok(self.0.store.runs(attempt, dropped).await?)
    }

    pub async fn runs_snapshot(&self, attempt: AttemptId, dropped: Dropped) -> Result<(i64, Vec<Run>)> {
        Ok(self.0.store.runs_snapshot(attempt, dropped).await?)
    }

    pub async fn run(&self, id: RunId) -> Result<Run> {
        let found = self.0.store.run(id).await?;
        found.ok_or_else(|| Error::no_run(id))
    }

    pub async fn drafts_snapshot(&self, project: ProjectId) -> Result<(i64, Vec<(AttemptId, Vec<Draft>)>)> {
        Ok(self.0.store.drafts_snapshot(project).await?)
    }

    pub async fn errands(&self, project: Option<ProjectId>) -> Result<Vec<Errand>> {
        Ok(self.0.store.errands(project).await?)
    }

    pub async fn errand(&self, id: ErrandId) -> Result<Errand> {
        let found = self.0.store.errand(id).await?;
        found.ok_or_else(|| Error::no_errand(id))
    }

    pub async fn errand_runs(&self, id: ErrandId) -> Result<Vec<Run>> {
        self.errand(id).await?;
        Ok(self.0.store.errand_runs(id).await?)
    }

    /// The newest conversation of this executor that was not dropped.
    pub(crate) async fn session_of(
        &self,
        owner: RunOwner,
        executor: Option<Executor>,
    ) -> Result<Option<String>> {
        let runs = match owner {
            RunOwner::Attempt(id) => self.0.store.runs(id, Dropped::Hidden).await?,
            RunOwner::Errand(id) => self.0.store.errand_runs(id).await?,
        };
        let fits = |run: &&Run| run.action.profile().map(|profile| profile.executor) == executor;
        Ok(runs.iter().rev().filter(fits).find_map(|run| run.session_id.clone()))
    }
}

pub(crate) fn new_run(
    id: forge_types::RunId,
    owner: RunOwner,
    action: Action,
    before_head: Option<String>,
    entry: Entry,
) -> Run {
    use forge_types::{RunPhase, RunStatus};
    let now = Millis::now();
    Run {
        id,
        owner,
        reason: action.reason(),
        action,
        before_head,
        after_head: None,
        status: RunStatus::Running,
        phase: if entry == Entry::Now { RunPhase::Live } else { RunPhase::Queued },
        exit_code: None,
        dropped: false,
        session_id: None,
        summary: None,
        parked_until: None,
        unverified: false,
        commit_error: None,
        setup_required: false,
        open_conflicts: Vec::new(),
        started_at: now,
        completed_at: None,
        created_at: now,
        updated_at: now,
    }
}
