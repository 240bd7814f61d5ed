//! A directory kept to oneself while git works in it.
//!
//! Owns: the place in the lane that a run would have. Invariant: while a hold lives no agent starts in the directory and
//! no second hold is given; a run that comes meanwhile waits and starts when the hold goes.

use std::path::PathBuf;

use forge_store::Dropped;
use forge_types::{AttemptId, RunId, RunReason, RunStatus};

use crate::lane::Entry;
use crate::{Error, Forge, Result};

pub(crate) struct Hold {
    forge: Forge,
    place: PathBuf,
    id: RunId,
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(next) = self.forge.0.lanes.leave(&self.place, self.id) {
            self.forge.start_waiting(next);
        }
    }
}

impl Forge {
    /// Takes the attempt's directory, or says who has it.
    pub(crate) async fn hold(&self, attempt: AttemptId, place: PathBuf) -> Result<Hold> {
        let id = RunId::random();
        if self.0.lanes.enter(&place, id) == Entry::Now {
            let hold = Hold { forge: self.clone(), place, id };
            // A run that was written but has not entered its lane yet counts too.
            self.refuse_agent_at_work(attempt).await?;
            return Ok(hold);
        }
        if let Some(next) = self.0.lanes.leave(&place, id) {
            self.start_waiting(next);
        }
        self.refuse_agent_at_work(attempt).await?;
        let place = place.display();
        Err(Error::conflict(format!("{place} is in use by another operation; try again when it has ended")))
    }

    async fn refuse_agent_at_work(&self, id: AttemptId) -> Result<()> {
        self.refuse_worker_in(id).await?;
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        match runs.iter().find(|run| run.status == RunStatus::Running && run.reason != RunReason::DevServer) {
            Some(run) => Err(Error::conflict(format!(
                "run {} of attempt {id} is still at work; stop it or wait for its end, then try again",
                run.id
            ))),
            None => Ok(()),
        }
    }
}
