//! Worktrees over time: brought back when needed, retired by policy, adopted from other programs, given back as space.
//!
//! Invariant: nothing in this room deletes a directory that may hold work.

pub(crate) mod adoption;
pub(crate) mod attempt_repo;
pub(crate) mod changes;
pub(crate) mod editor;
pub(crate) mod garbage;
pub(crate) mod hold;
pub(crate) mod host;
pub(crate) mod images;
pub(crate) mod leftover;
pub(crate) mod queue;
pub(crate) mod spares;
pub(crate) mod upkeep;
pub(crate) mod workplace;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use forge_git::{Pool, WorktreeBase};
use forge_types::{ProjectId, RunId};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::project::Repositories;
use crate::{Config, Error, Forge, Result};
use host::{Host, Machine};
use queue::Lanes;

/// Spare worktrees are made only while this much stays free.
const SPARE_FREE_BYTES: u64 = 2 << 30;
/// More starts and commits at once only wait for each other.
const TURNS: usize = 4;

/// What this room needs of the runs in its directories; the room above hands it in when the engine is opened.
pub(crate) struct RunHooks {
    /// The directory is free, and this run is next.
    pub(crate) start_waiting: fn(&Forge, RunId),
    /// The runs that this server is attached to.
    pub(crate) living: fn(&Forge) -> Vec<RunId>,
}

pub(crate) struct Worktrees {
    runs: RunHooks,
    host: Host,
    /// Projects whose spare worktrees are about to be refilled.
    warming: Mutex<HashSet<ProjectId>>,
    lanes: Lanes,
    /// Starts and commits are a handful of short processes each and take turns, first come first served: a crowd is
    /// served sooner when a few are finished at a time than when all are begun at once.
    turns: Semaphore,
}

impl Worktrees {
    pub(crate) fn open(
        config: &Config,
        installation: String,
        repos: Arc<Repositories>,
        runs: RunHooks,
    ) -> Result<Self> {
        let base = WorktreeBase::new(config.worktree_base.clone(), installation);
        base.make()?;
        let pool = Pool::new(base.clone(), SPARE_FREE_BYTES);
        let (exe, logs) = (config.exe.clone(), config.home.join("runs"));
        let host = Host::new(Machine { base, pool, repos, exe, logs });
        let turns = Semaphore::new(TURNS);
        Ok(Self { runs, host, warming: Mutex::default(), lanes: Lanes::default(), turns })
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// Whether so many starts and commits are under way that the next one waits for its turn.
    pub(crate) fn is_crowded(&self) -> bool {
        self.turns.available_permits() == 0
    }

    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>> {
        self.turns.acquire().await.map_err(|cause| Error::internal("closing", cause))
    }
}
