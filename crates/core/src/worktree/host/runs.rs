//! Runs on the host, each with its keeper and its journal.
//!
//! Invariant: plain data goes in, and what comes out is a line to a living run or how it ended. A run is launched once.

use std::path::PathBuf;

use forge_run::{Exit, Found, LaunchError, Live, Spec};
use forge_types::RunId;

use super::Host;

impl Host {
    pub(crate) async fn launch(&self, run: RunId, spec: &Spec) -> Result<Live, LaunchError> {
        forge_run::launch(&self.0.exe, &self.run_dir(run), spec).await
    }

    /// What has become of a run.
    pub(crate) async fn find_run(&self, run: RunId) -> Found {
        forge_run::find(&self.run_dir(run)).await
    }

    /// Writes into the log of a run why it was not launched.
    pub(crate) async fn record_failed_start(&self, run: RunId, exit: &Exit) {
        forge_run::record_failed_start(&self.run_dir(run), exit).await;
    }

    /// Changes when the machine is restarted.
    pub(crate) fn boot(&self) -> String {
        forge_run::boot_id()
    }

    fn run_dir(&self, run: RunId) -> PathBuf {
        self.0.logs.join(run.to_string())
    }
}
