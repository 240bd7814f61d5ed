//! The process group of a child that may have to be ended with all that it started.

use rustix::process::{Pid, Signal, kill_process_group};

/// Ends the group of a run that timed out or was given up. Once the leader is waited for, its number may become a
/// stranger's, so the number is forgotten then.
pub(crate) struct Group(pub(crate) Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        let leader = self.0.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(leader) = leader {
            // It may have ended this moment, which is what was wanted.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}
