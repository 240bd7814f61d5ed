//! A directory kept to oneself while git works in it.
//!
//! Owns: the place in the lane that a run would have. Invariant: while a hold lives no agent starts in the directory and
//! no second hold is given; a run that comes meanwhile waits and starts when the hold goes. Whoever changes a worktree,
//! brings it back or puts it away has a hold on it, or is the run whose turn it is.

use std::time::{Duration, Instant};

use forge_store::Dropped;
use forge_types::{Attempt, AttemptId, ErrorCode, Project, Run, RunId, RunPhase, RunReason, RunStatus};

use crate::worktree::host::Directory;
use crate::worktree::queue::Entry;
use crate::{Error, Forge, Result};

pub(crate) struct Hold {
    forge: Forge,
    directory: Directory,
    id: RunId,
}

impl Hold {
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Gives the directory to a run, ahead of whoever waits.
    pub(crate) fn hand_over(self, run: RunId) {
        self.forge.hand_over(&self.directory, self.id, run);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(next) = self.forge.leave(&self.directory, self.id) {
            (self.forge.0.worktrees.runs.start_waiting)(&self.forge, next);
        }
    }
}

const LEAVING_LIMIT: Duration = Duration::from_secs(5);

impl Forge {
    pub(crate) async fn refuse_while_running(&self, attempt: AttemptId) -> Result<()> {
        self.refuse_worker_in(attempt).await?;
        refuse_running(attempt, &self.0.store.runs(attempt, Dropped::Shown).await?)
    }

    /// Takes the attempt's directory, or says who has it.
    pub(crate) async fn hold(&self, attempt: AttemptId, at: &Directory) -> Result<Hold> {
        let hold = self.take_free_lane(attempt, at).await?;
        self.wait_for_git(at).await?;
        Ok(hold)
    }

    async fn take_free_lane(&self, attempt: AttemptId, at: &Directory) -> Result<Hold> {
        self.wait_for_leaving(at).await?;
        let hold = self.take_lane(at);
        // A run that was written but has not entered its lane yet counts too.
        self.refuse_agent_at_work(attempt).await?;
        hold
    }

    /// A run leaves its directory a moment after its end is on record. Whoever comes in between waits for that.
    async fn wait_for_leaving(&self, at: &Directory) -> Result<()> {
        let deadline = Instant::now() + LEAVING_LIMIT;
        while let Some(current) = self.current(at)
            && self.0.store.run(current).await?.is_some_and(|run| run.phase == RunPhase::Ended)
            && Instant::now() < deadline
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    /// Takes a directory of which the caller knows that no run of an attempt is to work in it.
    pub(crate) fn take_lane(&self, at: &Directory) -> Result<Hold> {
        let hold = Hold { forge: self.clone(), id: RunId::random(), directory: at.clone() };
        match self.enter(at, hold.id) {
            Entry::Now => Ok(hold),
            Entry::Later => Err(Error::conflict(format!("{at} is in use by another operation"))
                .hint("try again when it has ended")),
        }
    }

    /// Takes the worktrees of all these attempts, or none. Whoever works in one of them waits for git there first.
    pub(crate) async fn hold_all(
        &self,
        project: &Project,
        attempts: &[Attempt],
    ) -> Result<Vec<(AttemptId, Hold)>> {
        let mut holds = Vec::new();
        for attempt in attempts.iter().filter(|attempt| attempt.use_worktree) {
            if let Some(at) = Directory::recorded_of_attempt(project, attempt) {
                holds.push((attempt.id, self.take_free_lane(attempt.id, &at).await?));
            }
        }
        Ok(holds)
    }

    /// Takes the attempt's directory unless its agent has it, in which case nobody else can take it away.
    pub(crate) async fn hold_beside_agent(&self, attempt: AttemptId, at: &Directory) -> Result<Option<Hold>> {
        match self.hold(attempt, at).await {
            Ok(hold) => Ok(Some(hold)),
            Err(_) if self.refuse_agent_at_work(attempt).await.is_err() => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn refuse_agent_at_work(&self, id: AttemptId) -> Result<()> {
        self.refuse_worker_in(id).await?;
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        match runs.iter().find(|run| run.status == RunStatus::Running && run.reason != RunReason::DevServer) {
            Some(run) if run.phase == RunPhase::Parked => Err(refuse_parked(id, run)),
            Some(run) => {
                let busy = Error::conflict(format!("run {} of attempt {id} is still at work", run.id));
                Err(busy.code(ErrorCode::StillRunning).hint("stop it or wait for its end, then try again"))
            }
            None => Ok(()),
        }
    }
}

/// What is running keeps its attempt from being put away or deleted.
pub(crate) fn refuse_running(attempt: AttemptId, runs: &[Run]) -> Result<()> {
    match runs.iter().find(|run| run.status == RunStatus::Running) {
        Some(run) if run.phase == RunPhase::Parked => Err(refuse_parked(attempt, run)),
        Some(run) => {
            let message =
                format!("Task has running execution processes (run {} of attempt {attempt})", run.id);
            Err(Error::conflict(message)
                .code(ErrorCode::StillRunning)
                .hint("wait for them to complete or stop them first"))
        }
        None => Ok(()),
    }
}

/// The refusal of what cannot be done while a run is parked: waiting for its end may take for ever.
fn refuse_parked(attempt: AttemptId, run: &Run) -> Error {
    let until = run.parked_until.map(|until| format!(" until {until}")).unwrap_or_default();
    let message = format!("run {} of attempt {attempt} waits for its provider{until}", run.id);
    Error::conflict(message).code(ErrorCode::StillRunning).hint("stop it or send a follow-up, then try again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AgentsOnExit;
    use crate::attempt::removal::tests::archived_attempt;
    use crate::run::approval::tests::config;
    use forge_types::{Action, RunOwner};

    #[tokio::test]
    async fn whoever_comes_between_the_end_of_a_run_and_its_leaving_waits_for_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let forge = Forge::open(config(dir.path())).await.expect("an engine");
        let attempt = archived_attempt(&forge).await;
        let at = forge.directory_of(&attempt).await.expect("a directory");
        let action = Action::agent("go".into(), attempt.executor_profile_id.clone(), None);
        let mut run =
            crate::run::new_run(RunId::random(), RunOwner::Attempt(attempt.id), action, None, Entry::Now);
        (run.phase, run.status) = (RunPhase::Ended, RunStatus::Completed);
        let mut tx = forge.0.store.begin().await.expect("a transaction");
        tx.insert_run(&run).await.expect("a run");
        tx.commit().await.expect("a commit");
        assert_eq!(forge.enter(&at, run.id), Entry::Now);
        let (held, left) = tokio::join!(forge.take_free_lane(attempt.id, &at), async {
            tokio::task::yield_now().await;
            forge.leave(&at, run.id)
        });
        assert!(held.is_ok() && left.is_none(), "{:?}", held.err());
        forge.close(AgentsOnExit::Keep).await;
    }
}
