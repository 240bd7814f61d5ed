//! Finding runs again after a restart.
//!
//! Invariant: a keeper counts as alive only if pid, start time and boot match what it wrote down or, where that is
//! damaged, if it listens at its socket; a run without a living keeper has ended by the time it is found. A launch
//! that never started an agent is revoked, so a run reported as *never launched* is never launched later.

use std::fs;
use std::path::Path;
use std::time::Duration;

use forge_os::process::Identity;
use tokio::time::{Instant, sleep};

use crate::gone::{RunProcesses, end_and_record};
use crate::launch::SPEC_FILE;
use crate::state::{Phase, State};
use crate::{Exit, Live, socket};

const PAUSE: Duration = Duration::from_millis(20);
/// How long a living keeper may take to become reachable.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// What has become of a run.
#[derive(Debug)]
pub enum Found {
    Live(Live),
    Ended(Exit),
    /// There never was an agent, and there will not be one.
    NeverLaunched,
}

/// Finds out what has become of the run in `dir`. A run whose keeper is gone or cannot be reached is ended.
pub async fn find(dir: &Path) -> Found {
    let patience = Instant::now() + CONNECT_PATIENCE;
    loop {
        let state = match State::read(dir) {
            Ok(Some(state)) => state,
            Ok(None) if fs::remove_file(dir.join(SPEC_FILE)).is_ok() => return Found::NeverLaunched,
            // Without a spec, either it was never written, or the keeper has just taken it and written its state.
            Ok(None) => match State::read(dir) {
                Ok(None) => return Found::NeverLaunched,
                _ => continue,
            },
            // The disk failed, or no descriptors are left. A damaged file will never become readable.
            Err(e) if e.raw_os_error().is_some() && Instant::now() < patience => {
                sleep(PAUSE).await;
                continue;
            }
            Err(_) => {
                return match listening(dir).await {
                    Some(live) => Found::Live(live),
                    None => Found::Ended(end_and_record(dir, None).await),
                };
            }
        };
        if let Some(exit) = state.exit.clone() {
            return Found::Ended(exit);
        }
        if !state.is_kept() {
            return Found::Ended(end_and_record(dir, None).await);
        }
        if state.phase == Phase::Live
            && let Some(agent) = state.agent
            && let Ok(stream) = socket::connect(dir).await
        {
            return Found::Live(Live::new(
                dir,
                RunProcesses { keeper: state.keeper, agent: Some(agent) },
                Some(stream),
            ));
        }
        if Instant::now() >= patience {
            return Found::Ended(end_and_record(dir, None).await);
        }
        sleep(PAUSE).await;
    }
}

/// The run whose keeper listens although its state cannot be read. The keeper writes the state again at the end of
/// the run.
async fn listening(dir: &Path) -> Option<Live> {
    let stream = socket::connect(dir).await.ok()?;
    let pid = stream.peer_cred().ok()?.pid()?;
    let keeper = Identity::of(u32::try_from(pid).ok()?)?;
    tracing::warn!(dir = %dir.display(), keeper = pid, "the state of a run is damaged, but its keeper lives");
    Some(Live::new(dir, RunProcesses { keeper, agent: None }, Some(stream)))
}
