//! The runs of an attempt, as the server reports them.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use forge_types::Millis;
use serde::Deserialize;
use serde_json::Value;

use crate::client::Client;

const SETTLE_LIMIT: Duration = Duration::from_secs(120);
const SETTLE_PAUSE: Duration = Duration::from_millis(50);

/// A run as the server reports it.
#[derive(Clone, Deserialize)]
pub struct Process {
    pub id: String,
    pub run_reason: String,
    pub status: String,
    pub exit_code: Option<i32>,
    pub executor_action: Value,
    #[serde(default)]
    pub parked_until: Option<String>,
    /// Why its work is not committed.
    #[serde(default)]
    pub commit_error: Option<String>,
    /// Its agent must be installed, logged in or given a key first.
    #[serde(default)]
    pub setup_required: bool,
    /// Files in which its agent left conflicts open.
    #[serde(default)]
    pub open_conflicts: Vec<String>,
    #[serde(default)]
    pub started_at: Option<Millis>,
    #[serde(default)]
    pub completed_at: Option<Millis>,
}

impl Process {
    pub async fn list(client: &Client, attempt: &str) -> Result<Vec<Process>> {
        client.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).await
    }

    pub fn is_agent(&self) -> bool {
        self.run_reason == "codingagent"
    }

    pub fn is_running(&self) -> bool {
        self.status == "running" && self.run_reason != "devserver"
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
    pub fn name(&self) -> &str {
        match self.run_reason.as_str() {
            "codingagent" => "agent",
            "setupscript" => "setup script",
            "cleanupscript" => "cleanup script",
            "devserver" => "dev server",
            other => other,
        }
    }

    /// The run that started because this one completed, if any: both are recorded together.
    pub async fn next(&self, client: &Client, attempt: &str) -> Result<Option<Process>> {
        let action = &self.executor_action["next_action"];
        if action.is_null() {
            return Ok(None);
        }
        let runs = Process::list(client, attempt).await?;
        let later = runs.into_iter().skip_while(|other| other.id != self.id).skip(1);
        Ok(later.into_iter().find(|other| other.executor_action == *action))
    }

    /// A log ends a moment before its run, whose work is committed in between.
    pub async fn settled(client: &Client, run: &str) -> Result<Process> {
        let begun = Instant::now();
        loop {
            let run: Process = client.get(&format!("/api/execution-processes/{run}")).await?;
            // A parked run no longer has a process; it continues as another run.
            if run.status != "running" || run.parked_until.is_some() {
                return Ok(run);
            }
            if begun.elapsed() > SETTLE_LIMIT {
                bail!("the run's log has ended, but the server does not end the run");
            }
            tokio::time::sleep(SETTLE_PAUSE).await;
        }
    }
}
