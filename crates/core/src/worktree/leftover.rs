//! Nothing starts where a process is at work for which nobody answers.
//!
//! Invariant: asked before anything is written, for every start in a directory that others have worked in; a worktree
//! that was just claimed is new to everybody and is not asked about. Asked too before a worktree is moved away.

use std::time::Duration;

use forge_run::{DirectoryOwner, Leftover, LeftoverState};
use forge_types::RunId;
use tokio::time::{Instant, sleep};

use crate::worktree::host::{Directory, Leftovers};
use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Result};

/// Longer than the ladder by which a keeper ends what an agent left running.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

impl Forge {
    /// Waits for those who are being ended, and refuses when somebody stays.
    pub(crate) async fn refuse_leftovers(&self, workplace: &Workplace) -> Result<()> {
        let whose = if workplace.is_forges() { DirectoryOwner::Forge } else { DirectoryOwner::User };
        self.refuse_leftovers_in(&workplace.directory, whose).await
    }

    /// Waits for a git that a server left behind when it died: two at once in one worktree lose each other's work.
    pub(crate) async fn wait_for_git(&self, at: &Directory) -> Result<()> {
        let patience = Instant::now() + PATIENCE;
        loop {
            let request = Leftovers { at: at.clone(), whose: DirectoryOwner::Forge, allowed: Vec::new() };
            let found = self.ask(request).await?;
            let git = found.iter().find(|left| left.run.is_none() && left.standing == LeftoverState::Leaving);
            match git {
                None => return Ok(()),
                Some(git) if Instant::now() >= patience => return Err(in_the_way(at, git)),
                Some(_) => sleep(PAUSE).await,
            }
        }
    }

    /// Waits for those who are being ended, and refuses while a process of any run, also one of another server, works
    /// there: no directory is moved below it.
    pub(crate) async fn refuse_living(&self, at: &Directory) -> Result<()> {
        self.refuse_but(at, DirectoryOwner::User, PATIENCE, Vec::new).await
    }

    /// The same for those who come again by themselves.
    pub(crate) async fn refuse_living_now(&self, at: &Directory) -> Result<()> {
        self.refuse_but(at, DirectoryOwner::User, Duration::ZERO, Vec::new).await
    }

    pub(crate) async fn refuse_leftovers_in(&self, at: &Directory, whose: DirectoryOwner) -> Result<()> {
        self.refuse_but(at, whose, PATIENCE, || (self.0.worktrees.runs.living)(self)).await
    }

    /// Refuses everybody but the runs that are `allowed`.
    async fn refuse_but(
        &self,
        at: &Directory,
        whose: DirectoryOwner,
        patience: Duration,
        allowed: impl Fn() -> Vec<RunId>,
    ) -> Result<()> {
        let patience = Instant::now() + patience;
        loop {
            let found = self.ask(Leftovers { at: at.clone(), whose, allowed: allowed() }).await?;
            let left = found.iter().find(|leftover| leftover.standing == LeftoverState::Left);
            match left.or(found.first()) {
                None => return Ok(()),
                Some(leftover) if left.is_some() || Instant::now() >= patience => {
                    return Err(in_the_way(at, leftover));
                }
                Some(_) => sleep(PAUSE).await,
            }
        }
    }
}

fn in_the_way(at: &Directory, leftover: &Leftover) -> Error {
    let Leftover { pid, command, run, standing } = leftover;
    let whose = match (run, standing) {
        (Some(run), LeftoverState::Left) => format!(", left by run {run} whose keeper is gone,"),
        (Some(run), _) => format!(" of run {run}, which is not a living run of this server,"),
        (None, _) => ", left without a parent and a terminal,".to_owned(),
    };
    Error::conflict(format!(
        "process {pid} (`{command}`){whose} still works in {at}, which is left as it is. \
         End it (`kill {pid}`) and try again"
    ))
}
