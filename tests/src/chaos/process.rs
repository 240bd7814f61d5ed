//! Processes by pid and start time, so that a signal reaches the one that was meant or nobody.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// One process of this boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    pub pid: u32,
    pub start_time: u64,
}

impl Identity {
    pub fn of(pid: u32) -> Option<Identity> {
        Some(Identity { pid, start_time: stat(pid)?.1 })
    }

    pub fn own() -> Identity {
        Identity::of(std::process::id()).expect("own entry in /proc")
    }

    /// A zombie is dead.
    pub fn is_alive(self) -> bool {
        stat(self.pid).is_some_and(|(state, start_time)| state != 'Z' && start_time == self.start_time)
    }

    /// `kill -9`; false when it is gone already.
    pub fn kill(self) -> bool {
        let Some(fd) =
            Pid::from_raw(self.pid.cast_signed()).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
        else {
            return false;
        };
        // Whoever has the pid now is held by the descriptor; is it the one?
        self.is_alive() && pidfd_send_signal(&fd, Signal::KILL).is_ok()
    }
}

fn stat(pid: u32) -> Option<(char, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold blanks and brackets; what follows the last bracket holds neither.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}
