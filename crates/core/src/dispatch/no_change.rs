//! Work that ended without a change, and whether that is fine.

use forge_fleet::beads::{BeadsError, Status};
use forge_types::{Attempt, Lease, TaskStatus};

use super::queue::Queue;
use crate::worktree::host::{IsDirty, IsThere};
use crate::{Forge, Result};

impl Forge {
    /// Why a piece of work cannot end without a change; nothing where it can.
    pub(super) async fn refuse_no_change(
        &self,
        queue: &Queue,
        lease: &Lease,
        attempt: &Attempt,
    ) -> Result<Option<String>> {
        if self.may_change_nothing(queue, lease).await? {
            return Ok(None);
        }
        let at = self.directory_of(attempt).await?;
        if self.ask(IsThere { at: at.clone() }).await? && self.ask(IsDirty { at: at.clone() }).await? {
            return Ok(Some(format!("no changes: what the agent left in {at} could not be committed")));
        }
        let why = format!("no changes: the agent ended and left nothing on branch {}", attempt.branch);
        Ok(Some(why))
    }

    /// Work whose result is words, or that the agent itself has brought to its end.
    async fn may_change_nothing(&self, queue: &Queue, lease: &Lease) -> Result<bool> {
        let tracker = match queue {
            Queue::Beads(tracker) => tracker,
            Queue::Board(_) => {
                let status = self.job_of(queue, lease).await?.task.map(|task| task.status);
                return Ok(matches!(status, Some(TaskStatus::Done | TaskStatus::Cancelled)));
            }
        };
        let bead = match tracker.store.show(&[lease.bead.as_str()]).await {
            Ok(beads) => beads.into_iter().next(),
            Err(BeadsError::NoSuchBead { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let Some(bead) = bead else { return Ok(true) };
        let settings = self.settings();
        let kind = bead.issue_type();
        Ok(matches!(bead.status(), Status::Closed | Status::Tombstone)
            || settings.fleet.no_change_ok.iter().any(|known| known.eq_ignore_ascii_case(kind)))
    }
}
