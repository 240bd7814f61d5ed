//! Who a process is: its pid together with its start time, within one boot of the machine.
//!
//! Owns: identity, liveness and signalling of single processes, and the platform's process table.
//! Invariant: a signal reaches the process that was meant or nobody; a pid that has been given to another process is
//! never hit. Linux reads `/proc` and signals through a pidfd; elsewhere `ps` and a check just before `kill`.

#[cfg(target_os = "linux")]
mod at_work;
#[cfg(target_os = "linux")]
mod proc_fs;
#[cfg(any(not(target_os = "linux"), test))]
mod ps;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
pub(crate) use at_work::at_work_in;
#[cfg(target_os = "linux")]
pub use proc_fs::boot_id;
#[cfg(target_os = "linux")]
pub(crate) use proc_fs::{command_of, list, look_up, with_variable};
#[cfg(not(target_os = "linux"))]
pub use ps::boot_id;
#[cfg(not(target_os = "linux"))]
pub(crate) use ps::{at_work_in, command_of, list, look_up, with_variable};

/// One process of this boot, told apart from every other that had or will have its pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) pid: u32,
    /// In the platform's own unit; only equality means something.
    pub(crate) start_time: u64,
}

/// A line of the process table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) identity: Identity,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) life: Life,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Alive,
    /// Dead, but not yet waited for.
    Zombie,
}

impl Identity {
    pub(crate) fn of(pid: u32) -> Option<Identity> {
        look_up(pid).map(|entry| entry.identity)
    }

    pub(crate) fn own() -> Option<Identity> {
        Identity::of(std::process::id())
    }

    pub(crate) fn is_alive(self) -> bool {
        match look_up(self.pid) {
            Some(entry) => entry.identity == self && entry.life == Life::Alive,
            // A table that cannot be read, for want of descriptors say, proves no death.
            None => pid_of(self.pid).is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH)),
        }
    }

    /// Sends the signal if the process still lives.
    pub(crate) fn signal(self, signal: Signal) {
        let Some(pid) = pid_of(self.pid) else { return };
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
            match pidfd_open(pid, PidfdFlags::empty()) {
                Ok(fd) => {
                    // Checked after opening: if the identity still holds now, it held when the descriptor was made.
                    if Identity::of(self.pid) == Some(self) {
                        let _ = pidfd_send_signal(&fd, signal);
                    }
                    return;
                }
                Err(Errno::SRCH) => return,
                // No pidfd in this kernel or sandbox.
                Err(_) => {}
            }
        }
        if Identity::of(self.pid) == Some(self) {
            let _ = kill_process(pid, signal);
        }
    }
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().expect("sleep")
    }

    #[test]
    fn a_process_is_known_by_pid_and_start_time() {
        let mut child = sleeper();
        let identity = Identity::of(child.id()).expect("alive");
        assert!(identity.is_alive());
        assert!(!Identity { start_time: identity.start_time + 1, ..identity }.is_alive());
        child.kill().expect("kill");
        child.wait().expect("wait");
        assert!(!identity.is_alive());
    }

    #[test]
    fn a_signal_for_another_start_time_hits_nobody() {
        let mut child = sleeper();
        let identity = Identity::of(child.id()).expect("alive");
        Identity { start_time: identity.start_time + 1, ..identity }.signal(Signal::KILL);
        assert!(identity.is_alive());
        identity.signal(Signal::KILL);
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().expect("wait")), Some(9));
    }

    #[test]
    fn the_portable_table_agrees_with_the_native_one() {
        let mut child = sleeper();
        let native = look_up(child.id()).expect("native");
        let portable = ps::look_up(child.id()).expect("portable");
        assert_eq!(
            (portable.parent, portable.group, portable.life),
            (native.parent, native.group, native.life)
        );
        assert_eq!(ps::look_up(child.id()).map(|e| e.identity), Some(portable.identity));
        assert!(ps::list().iter().any(|e| e.identity == portable.identity));
        child.kill().expect("kill");
        child.wait().expect("wait");
        assert_eq!(ps::look_up(child.id()), None);
    }
}
