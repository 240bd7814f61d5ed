//! Facts about processes: who one is, whether it lives, what runs below it, how much memory that takes, when it ends.
//!
//! Owns the identity of a process (pid, start time, boot) and the platform's process table. Invariants: a signal reaches
//! the process that was meant or nobody, and [`Table`] is read in one pass, however many workers are looked at.

#[cfg(target_os = "linux")]
mod proc_fs;
#[cfg(any(not(target_os = "linux"), test))]
mod ps;
mod table;

use std::time::Duration;

use rustix::process::{Pid, kill_process};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[cfg(target_os = "linux")]
use proc_fs as platform;
#[cfg(not(target_os = "linux"))]
use ps as platform;

pub use rustix::process::Signal;
pub use table::{Entry, Table, Work};

/// How often an exit is looked for where the kernel does not tell it.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// One process, told apart from every other that had or will have its pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity {
    pub pid: u32,
    /// In the platform's own unit; only equality means something.
    pub start_time: u64,
    /// The boot of the machine it belongs to; nil where the start time carries its date.
    pub boot: Uuid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Life {
    Alive,
    /// Dead, but not yet waited for.
    Zombie,
    Gone,
}

impl Identity {
    /// Who has this pid now.
    pub fn of(pid: u32) -> Option<Identity> {
        platform::look_up(pid).map(|entry| entry.identity)
    }

    pub fn life(self) -> Life {
        match platform::look_up(self.pid) {
            Some(entry) if entry.identity == self => entry.life,
            _ => Life::Gone,
        }
    }

    pub fn is_alive(self) -> bool {
        self.life() == Life::Alive
    }

    /// Sends the signal if the process still lives.
    pub fn signal(self, signal: Signal) {
        let Some(pid) = raw(self.pid) else { return };
        #[cfg(target_os = "linux")]
        {
            use rustix::process::pidfd_send_signal;
            match self.open() {
                Opened::Held(fd) => {
                    let _ = pidfd_send_signal(&fd, signal);
                    return;
                }
                Opened::Gone => return,
                Opened::Unsupported => {}
            }
        }
        if self.is_alive() {
            let _ = kill_process(pid, signal);
        }
    }

    /// A descriptor that stays with the process, whoever gets its pid later.
    #[cfg(target_os = "linux")]
    fn open(self) -> Opened {
        use rustix::process::{PidfdFlags, pidfd_open};
        let Some(pid) = raw(self.pid) else { return Opened::Gone };
        match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            // Checked after opening: if the identity still holds now, it held when the descriptor was made.
            Ok(fd) if self.life() != Life::Gone => Opened::Held(fd),
            Ok(_) | Err(rustix::io::Errno::SRCH) => Opened::Gone,
            Err(_) => Opened::Unsupported,
        }
    }
}

#[cfg(target_os = "linux")]
enum Opened {
    Held(rustix::fd::OwnedFd),
    Gone,
    /// No pidfd in this kernel or sandbox.
    Unsupported,
}

fn raw(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Returns once the process has ended, at once if it already has. The kernel tells it where it can.
pub async fn exit_of(process: Identity) {
    #[cfg(target_os = "linux")]
    match process.open() {
        Opened::Gone => return,
        Opened::Held(fd) => {
            // Readable from the end of the process on, zombie or not. Nothing is read from it, so that it need not be
            // a pipe for tokio to wait for it.
            if let Ok(fd) = tokio::net::unix::pipe::Receiver::from_owned_fd_unchecked(fd)
                && fd.readable().await.is_ok()
            {
                return;
            }
        }
        Opened::Unsupported => {}
    }
    while process.is_alive() {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Waits until all have ended or the time is over, and tells who is left.
pub async fn await_exits(processes: &[Identity], patience: Duration) -> Vec<Identity> {
    let all = async {
        for process in processes {
            exit_of(*process).await;
        }
    };
    match tokio::time::timeout(patience, all).await {
        Ok(()) => Vec::new(),
        Err(_) => processes.iter().copied().filter(|process| process.is_alive()).collect(),
    }
}

/// The living processes that were started with this environment variable. Empty where nobody may read that.
pub(crate) fn with_variable(name: &str, value: &str) -> Vec<Identity> {
    platform::with_variable(name, value)
}

/// Whether nobody lives who was started with this variable, but for tmux: its server keeps what the one who happened to
/// start it had. Not known where variables of others cannot be read.
pub fn is_without_variable(name: &str, value: &str) -> bool {
    let is_other = |process: &Identity| {
        platform::look_up(process.pid).is_some_and(|entry| !entry.name.starts_with("tmux"))
    };
    cfg!(target_os = "linux") && !with_variable(name, value).iter().any(is_other)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().expect("sleep")
    }

    #[test]
    fn another_start_time_or_boot_is_another_process_and_gets_no_signal() {
        let mut child = sleeper();
        let identity = Identity::of(child.id()).expect("alive");
        let older = Identity { start_time: identity.start_time + 1, ..identity };
        let before_reboot = Identity { boot: Uuid::from_u128(7), ..identity };
        for stranger in [older, before_reboot] {
            assert_eq!(stranger.life(), Life::Gone);
            stranger.signal(Signal::KILL);
        }
        assert!(identity.is_alive());
        identity.signal(Signal::KILL);
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().expect("wait")), Some(9));
    }

    #[tokio::test]
    async fn an_exit_is_told_also_while_nobody_has_waited_for_the_process() {
        let mut child = sleeper();
        let identity = Identity::of(child.id()).expect("alive");
        let waiting = tokio::spawn(exit_of(identity));
        identity.signal(Signal::KILL);
        waiting.await.expect("told");
        assert_eq!(identity.life(), Life::Zombie);
        exit_of(identity).await;
        child.wait().expect("wait");
        assert_eq!(identity.life(), Life::Gone);
        exit_of(identity).await;
    }

    #[tokio::test]
    async fn who_outlasts_the_patience_is_named() {
        let (mut short, mut long) = (sleeper(), sleeper());
        let identities = [short.id(), long.id()].map(|pid| Identity::of(pid).expect("alive"));
        short.kill().expect("kill");
        assert_eq!(await_exits(&identities, Duration::from_millis(50)).await, [identities[1]]);
        long.kill().expect("kill");
        assert!(await_exits(&identities, Duration::from_secs(60)).await.is_empty());
        short.wait().and(long.wait()).expect("wait");
    }
}
