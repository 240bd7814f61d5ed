//! Giving space back: trash whose snapshot verifies, and logs that no run refers to.

use std::time::Duration;

use forge_types::wire::{GarbageReport, GarbageRequest};
use forge_types::{Millis, RunId};

use crate::worktree::host::EmptyTrash;
use crate::{Error, Forge, Result};

/// Trash and ownerless logs are kept for a week unless asked otherwise.
const DEFAULT_AGE_H: u64 = 7 * 24;

impl Forge {
    /// Removes what is old enough and provably not needed; everything else stays and is reported.
    pub async fn collect_garbage(&self, request: GarbageRequest) -> Result<GarbageReport> {
        let age_h = request.older_than_h.unwrap_or(DEFAULT_AGE_H);
        let age = Duration::from_secs(age_h.saturating_mul(3600));
        let emptied = self.ask(EmptyTrash { older_than: age, now: Millis::now() }).await?;
        let removed_logs = self.remove_ownerless_logs(age).await?;
        Ok(GarbageReport {
            removed: emptied.deleted,
            freed_bytes: emptied.bytes,
            kept: emptied.left.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect(),
            removed_logs,
        })
    }

    /// Logs of deleted tasks: their run has no row any more.
    async fn remove_ownerless_logs(&self, age: Duration) -> Result<usize> {
        let runs = self.0.config.home.join("runs");
        let unreadable = |cause| Error::internal("cannot read the folder of run logs", cause);
        let mut entries = tokio::fs::read_dir(&runs).await.map_err(unreadable)?;
        let mut removed = 0;
        while let Some(entry) = entries.next_entry().await.map_err(unreadable)? {
            let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<RunId>().ok()) else {
                continue;
            };
            let meta = entry.metadata().await.map_err(unreadable)?;
            let old = meta.modified().is_ok_and(|at| at.elapsed().is_ok_and(|passed| passed >= age));
            if !old || self.0.store.run(id).await?.is_some() {
                continue;
            }
            if !matches!(self.0.worktrees.host.find_run(id).await, forge_run::Found::Live(_))
                && tokio::fs::remove_dir_all(entry.path()).await.is_ok()
            {
                removed += 1;
            }
        }
        Ok(removed)
    }
}
