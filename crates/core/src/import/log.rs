//! Old logs become journals.
//!
//! Invariant: a log is copied some lines at a time, so its size does not matter. What the source cannot give any more is
//! said at the end of the journal and in the report. The environment of an old run is not known; that it was the server's
//! is the best guess, so its secrets are what readers do not see.

use std::path::PathBuf;

use forge_run::Secrets;
use forge_run::fold::Dialect;
use forge_types::{LogSource, Run};

use crate::{Error, Forge, Result};

impl Forge {
    /// Writes the journal of an old run, and into its row what only the log has. Returns why some of it is missing.
    pub(super) async fn adopt_log(
        &self,
        run: &mut Run,
        worktree: PathBuf,
        log: LogSource,
    ) -> Result<Option<String>> {
        let executor = run.action.profile().map(|profile| profile.executor);
        let own = Secrets::own().map_err(|cause| Error::internal("cannot determine the secrets", cause))?;
        self.adopt_log_in(run, worktree, log, Dialect::of(executor, run.reason), own).await
    }
}
