//! Work beside the requests: tracked, and over when the engine is closed.
//!
//! Owns every task that outlives the call that started it. Invariant: none is untracked, none outlasts the server, and
//! whoever waits for a moment looks again after [`LONGEST_SLEEP`], so that a clock that was set is noticed.

use std::ops::ControlFlow;
use std::time::Duration;

use forge_types::Millis;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::events::Signs;
use crate::{Forge, Result};

const LONGEST_SLEEP: Duration = Duration::from_secs(60);
/// How long background work may take to stop.
const CLOSE_LIMIT: Duration = Duration::from_millis(1000);

/// Wakes a piece of background work before its time. Whoever rings does not have to know who listens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bell {
    /// An approval begins to wait.
    Approval,
    /// A run was parked, or the user changed whether parked runs continue by themselves.
    Parked,
    /// A notification is queued.
    Notification,
    /// Something was spent, or what may be spent has changed.
    Spending,
    /// Something changed that may let a bead start or end.
    Beads,
    /// A branch, its target or its worktree changed.
    Branches,
}

#[derive(Default)]
pub(crate) struct Background {
    tasks: TaskTracker,
    stop: CancellationToken,
    bells: [Notify; 6],
    pub(crate) signs: Signs,
}

impl Background {
    /// Starts work that decides itself when it ends. Only the end of the process cuts it off.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.tasks.spawn(work)
    }

    pub(crate) fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        self.tasks.spawn_blocking(work)
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.stop.is_cancelled()
    }

    pub(crate) fn ring(&self, bell: Bell) {
        self.bells[bell as usize].notify_one();
    }

    /// Returns when the bell has rung since the last time.
    pub(crate) async fn rung(&self, bell: Bell) {
        self.bells[bell as usize].notified().await;
    }

    /// Returns when the engine is being closed.
    pub(crate) async fn closing(&self) {
        self.stop.cancelled().await;
    }

    /// Ends everything, within a limit.
    pub(crate) async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(CLOSE_LIMIT, self.tasks.wait()).await.is_err() {
            tracing::warn!("background work was cut off; the next start picks it up");
        }
    }
}

impl Forge {
    /// When to look again after a look that failed.
    pub(crate) fn later() -> Millis {
        Millis(Millis::now().0.saturating_add(LONGEST_SLEEP.as_millis() as i64))
    }

    /// Starts work that is cut off, wherever it is, when the engine is closed.
    pub(crate) fn run_until_close<F>(&self, work: impl FnOnce(Forge) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (forge, work) = (self.clone(), work(self.clone()));
        self.0.background.spawn(async move {
            tokio::select! {
                () = forge.0.background.closing() => {}
                () = work => {}
            }
        });
    }

    /// Does a piece of work now and again after each `period`. One that has begun is brought to its end.
    pub(crate) fn repeat<F>(
        &self,
        period: Duration,
        complaint: &'static str,
        work: impl Fn(Forge) -> F + Send + 'static,
    ) where
        F: Future<Output = Result<()>> + Send,
    {
        let forge = self.clone();
        self.0.background.spawn(async move {
            loop {
                if let Err(error) = work(forge.clone()).await {
                    tracing::warn!(%error, "{complaint}");
                }
                if forge.sleep_unless_closing(period).await.is_break() {
                    return;
                }
            }
        });
    }

    /// Does what is due whenever its time comes, or when the bell rings. The work returns when the next piece is due, and
    /// is brought to its end.
    pub(crate) fn repeat_when_due<F>(
        &self,
        bell: Bell,
        complaint: &'static str,
        work: impl Fn(Forge) -> F + Send + 'static,
    ) where
        F: Future<Output = Result<Option<Millis>>> + Send,
    {
        let forge = self.clone();
        self.0.background.spawn(async move {
            loop {
                let due = work(forge.clone()).await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "{complaint}");
                    Some(Forge::later())
                });
                let sleep = async {
                    match due.map(|due| due.0.saturating_sub(Millis::now().0).max(0) as u64) {
                        Some(ms) => tokio::time::sleep(Duration::from_millis(ms).min(LONGEST_SLEEP)).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = forge.0.background.closing() => return,
                    () = forge.0.background.rung(bell) => {}
                    () = sleep => {}
                }
            }
        });
    }

    /// Sleeps, and breaks when the engine is being closed.
    pub(crate) async fn sleep_unless_closing(&self, pause: Duration) -> ControlFlow<()> {
        tokio::select! {
            () = self.0.background.closing() => ControlFlow::Break(()),
            () = tokio::time::sleep(pause) => ControlFlow::Continue(()),
        }
    }
}
