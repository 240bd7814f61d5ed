//! Reading runs and errands, and the profiles that start them.

use forge_run::agents::Options;
use forge_store::Dropped;
use forge_types::{
    AttemptId, Draft, Errand, ErrandId, ProfileId, ProjectId, Run, RunId, RunReason, RunStatus,
};

use crate::{Error, Forge, Result};

impl Forge {
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

    pub(crate) fn profile_options(&self, id: &ProfileId) -> Result<Options> {
        let profiles = self.0.profiles.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(profiles.find(id)?)
    }

    /// `{"executors": …}`: the built-in profiles with the user's own.
    pub fn profiles(&self) -> serde_json::Value {
        self.0.profiles.read().unwrap_or_else(std::sync::PoisonError::into_inner).to_json()
    }

    pub fn profiles_path(&self) -> std::path::PathBuf {
        self.0.config.home.join("profiles.json")
    }

    /// Checks and stores the user's profiles; they are in force at once and after a restart.
    pub async fn save_profiles(&self, json: &str) -> Result<()> {
        let profiles = forge_run::agents::Profiles::built_in().merged_with(json);
        let profiles = profiles.map_err(|error| Error::refused(error.to_string()))?;
        let text = format!("{:#}\n", profiles.to_json());
        let (path, draft) = (self.profiles_path(), self.0.config.home.join("profiles.json.new"));
        let failed = |cause| Error::internal(format!("cannot write {}", path.display()), cause);
        tokio::fs::write(&draft, text).await.map_err(failed)?;
        tokio::fs::rename(&draft, &path).await.map_err(failed)?;
        *self.0.profiles.write().unwrap_or_else(std::sync::PoisonError::into_inner) = profiles;
        Ok(())
    }
}
