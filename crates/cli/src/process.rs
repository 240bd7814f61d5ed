//! The runs of an attempt, as the server reports them.

use std::ops::Deref;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use forge_types::wire::ExecutionProcess;
use forge_types::{AttemptId, RunId, RunReason, RunStatus};
use serde::Deserialize;

use crate::client::Client;

const SETTLE_LIMIT: Duration = Duration::from_secs(120);
const SETTLE_PAUSE: Duration = Duration::from_millis(50);

/// A run as the server reports it.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Process(ExecutionProcess);

impl Deref for Process {
    type Target = ExecutionProcess;

    fn deref(&self) -> &ExecutionProcess {
        &self.0
    }
}

impl Process {
    pub async fn list(client: &Client, attempt: AttemptId) -> Result<Vec<Process>> {
        client.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).await
    }

    pub fn is_agent(&self) -> bool {
        self.run_reason == RunReason::CodingAgent
    }

    pub fn is_running(&self) -> bool {
        self.status == RunStatus::Running && self.run_reason != RunReason::DevServer
    }

    /// The log that people read, as a stream.
    pub fn log(&self) -> String {
        let log = if self.is_agent() { "normalized-logs" } else { "raw-logs" };
        format!("/api/execution-processes/{}/{log}", self.id)
    }

    /// What was written, as a stream.
    pub fn raw_log(&self) -> String {
        format!("/api/execution-processes/{}/raw-logs", self.id)
    }

    /// Its name for people.
    pub fn name(&self) -> &'static str {
        match self.run_reason {
            RunReason::CodingAgent => "agent",
            RunReason::SetupScript => "setup script",
            RunReason::CleanupScript => "cleanup script",
            RunReason::DevServer => "dev server",
        }
    }

    /// The run that started because this one completed, if any: both are recorded together.
    pub async fn next(&self, client: &Client, attempt: AttemptId) -> Result<Option<Process>> {
        let Some(action) = &self.executor_action.next_action else { return Ok(None) };
        let runs = Process::list(client, attempt).await?;
        let later = runs.into_iter().skip_while(|other| other.id != self.id).skip(1);
        Ok(later.into_iter().find(|other| other.executor_action == **action))
    }

    /// A log ends a moment before its run, whose work is committed in between.
    pub async fn settled(client: &Client, run: RunId) -> Result<Process> {
        let begun = Instant::now();
        loop {
            let run: Process = client.get(&format!("/api/execution-processes/{run}")).await?;
            // A parked run no longer has a process; it continues as another run.
            if run.status != RunStatus::Running || run.parked_until.is_some() {
                return Ok(run);
            }
            if begun.elapsed() > SETTLE_LIMIT {
                bail!("the run's log has ended, but the server does not end the run");
            }
            tokio::time::sleep(SETTLE_PAUSE).await;
        }
    }
}
