//! Sleeping until something is due.
//!
//! Invariant: no sleep is longer than [`LONGEST_SLEEP`], so that a clock that was set is noticed, and none outlasts the server.

use std::time::Duration;

use forge_types::Millis;
use tokio::sync::futures::Notified;

use crate::Forge;

const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// What a sleeper wakes up to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waking {
    Look,
    Stop,
}

impl Forge {
    /// When to look again after a look that failed.
    pub(crate) fn later() -> Millis {
        Millis(Millis::now().0.saturating_add(LONGEST_SLEEP.as_millis() as i64))
    }

    /// Sleeps until `due`, if anything is, or until it is woken.
    pub(crate) async fn sleep_until(&self, due: Option<Millis>, woken: Notified<'_>) -> Waking {
        let sleep = async {
            match due.map(|due| due.0.saturating_sub(Millis::now().0).max(0) as u64) {
                Some(ms) => tokio::time::sleep(Duration::from_millis(ms).min(LONGEST_SLEEP)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.0.stop.cancelled() => Waking::Stop,
            () = woken => Waking::Look,
            () = sleep => Waking::Look,
        }
    }
}
