//! Reading runs and errands.

pub(crate) mod approval;
pub(crate) mod commit;
pub(crate) mod conversation;
pub(crate) mod lifecycle;
pub(crate) mod log;
pub(crate) mod outcome;
pub(crate) mod parking;
pub(crate) mod recovery;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use forge_store::Dropped;
use forge_types::{AttemptId, Draft, Errand, ErrandId, ProjectId, Run, RunId, RunReason, RunStatus};

use lifecycle::Attended;
use tokio::sync::Notify;

use crate::{Error, Forge, Result};

/// The runs that this server is attached to.
#[derive(Default)]
pub(crate) struct Runs {
    attended: Mutex<HashMap<RunId, Attended>>,
    /// Rings when a run gets or loses its process.
    changed: Notify,
}

impl Runs {
    pub(crate) fn changed(&self) -> &Notify {
        &self.changed
    }
}

impl Forge {
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
        found.ok_or_else(|| {
            Error::not_found(format!("ExecutionProcessError: Execution process not found: {id}"))
        })
    }

    pub async fn drafts_snapshot(&self, project: ProjectId) -> Result<(i64, Vec<(AttemptId, Vec<Draft>)>)> {
        Ok(self.0.store.drafts_snapshot(project).await?)
    }

    pub async fn errands(&self, project: Option<ProjectId>) -> Result<Vec<Errand>> {
        Ok(self.0.store.errands(project).await?)
    }

    pub async fn errand(&self, id: ErrandId) -> Result<Errand> {
        let found = self.0.store.errand(id).await?;
        found.ok_or_else(|| Error::not_found(format!("ExecutionRunError: Execution run not found: {id}")))
    }

    pub async fn errand_runs(&self, id: ErrandId) -> Result<Vec<Run>> {
        self.errand(id).await?;
        Ok(self.0.store.errand_runs(id).await?)
    }

    /// Stops the newest agent run of an errand.
    pub async fn stop_errand(&self, id: ErrandId) -> Result<()> {
        let runs = self.errand_runs(id).await?;
        match runs.iter().rev().find(|run| run.reason == RunReason::CodingAgent) {
            None => Ok(()),
            Some(run) if run.status == RunStatus::Running => self.end_run(run).await,
            Some(run) => Err(Error::conflict(format!(
                "ExecutionRunError: the agent of execution run {id} is not running (it is {})",
                run.status.as_str()
            ))),
        }
    }
}
