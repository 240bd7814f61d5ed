//! Identity of a process: its pid, its start time, and the boot of the machine that both belong to.
//!
//! Owns identity, liveness and signalling of single processes, and the platform's process table.
//! Invariant: **no process is signalled by pid alone**. A signal reaches the intended process or nobody; a later
//! process with the same pid is never hit. The libraries send signals in no other way, except to children that they
//! have not yet waited for, whose pid is still their own. Linux reads `/proc` and signals through a pidfd; elsewhere
//! `ps` and a check just before `kill`.

#[cfg(target_os = "linux")]
mod proc_fs;
#[cfg(any(not(target_os = "linux"), test))]
mod ps;

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{Pid, kill_process, kill_process_group, test_kill_process};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[cfg(target_os = "linux")]
use proc_fs as platform;
#[cfg(not(target_os = "linux"))]
use ps as platform;

pub use platform::{arguments, boot, list, look_up, with_variable};
pub use rustix::process::Signal;

/// One process, distinguished from every other that had or will have its pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    pub pid: u32,
    /// In the platform's own unit; only equality is meaningful.
    pub start_time: u64,
    /// Not written: whoever keeps identities for longer than a boot stores the boot beside them.
    #[serde(skip, default = "boot")]
    pub boot: Uuid,
}

/// A line of the process table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub identity: Identity,
    pub parent: u32,
    /// The process group, named after its leader's pid.
    pub group: u32,
    /// The session that it belongs to, named after its leader's pid; 0 where unknown.
    pub session: u32,
    pub has_terminal: bool,
    pub life: Life,
    pub name: String,
    pub resident_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Alive,
    /// Dead, but not yet waited for.
    Zombie,
    Gone,
}

/// How to refer to a process that may end at any time.
pub enum Hold {
    /// Stays with the process, whoever gets its pid later, and is readable from its end on.
    Held(OwnedFd),
    Gone,
    /// No pidfd in this system, kernel or sandbox.
    Unsupported,
}

impl Identity {
    /// Who has this pid now.
    pub fn of(pid: u32) -> Option<Identity> {
        look_up(pid).map(|entry| entry.identity)
    }

    pub fn own() -> Option<Identity> {
        Identity::of(std::process::id())
    }

    pub fn life(self) -> Life {
        match look_up(self.pid) {
            Some(entry) if entry.identity == self => entry.life,
            Some(_) => Life::Gone,
            // An unreadable table, because of missing descriptors for example, does not prove that a process is dead.
            None if self.boot == boot() && is_taken(self.pid) => Life::Alive,
            None => Life::Gone,
        }
    }

    pub fn is_alive(self) -> bool {
        self.life() == Life::Alive
    }

    /// Sends the signal if the process still exists.
    pub fn signal(self, signal: Signal) {
        match self.hold() {
            #[cfg(target_os = "linux")]
            Hold::Held(fd) => _ = rustix::process::pidfd_send_signal(&fd, signal),
            Hold::Unsupported if self.is_proven() => {
                _ = raw(self.pid).and_then(|pid| kill_process(pid, signal).ok());
            }
            _ => {}
        }
    }

    #[cfg(target_os = "linux")]
    pub fn hold(self) -> Hold {
        use rustix::process::{PidfdFlags, pidfd_open};
        let Some(pid) = raw(self.pid) else { return Hold::Gone };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // Checked after opening: if the identity still holds now, it held when the descriptor was made.
            Ok(fd) if self.is_proven() => Hold::Held(fd),
            Ok(_) | Err(Errno::SRCH) => Hold::Gone,
            Err(_) => Hold::Unsupported,
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn hold(self) -> Hold {
        Hold::Unsupported
    }

    /// Unlike [`Identity::life`], doubt counts as no.
    fn is_proven(self) -> bool {
        Identity::of(self.pid) == Some(self)
    }
}

/// Kills the process group of a child that leads it and has not yet been waited for: until then the number is its own.
pub fn end_group(leader: u32) {
    if let Some(leader) = raw(leader) {
        // The group may be gone already, which is fine.
        let _ = kill_process_group(leader, Signal::KILL);
    }
}

/// Lets others have the processor first, for a child that has not yet been waited for. What it starts inherits this.
pub fn lower_priority(child: u32) {
    const NICE: i32 = 10;
    if let Some(child) = raw(child) {
        // Where that is refused, it is merely as fast as others.
        let _ = rustix::process::setpriority_process(Some(child), NICE);
    }
}

/// The command line of a process, for people.
pub fn command_of(pid: u32) -> String {
    const MOST_CHARS: usize = 80;
    let words = arguments(pid).join(" ").replace(|c: char| c.is_control(), " ").trim().to_owned();
    let name = || look_up(pid).map(|entry| entry.name).unwrap_or_default();
    let text = if words.is_empty() { name() } else { words };
    match text.char_indices().nth(MOST_CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

fn is_taken(pid: u32) -> bool {
    raw(pid).is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

fn raw(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command, Stdio};

    use rustix::process::{Resource, Rlimit, WaitId, WaitIdOptions, getrlimit, setrlimit, waitid};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().expect("sleep")
    }

    /// One that has answered runs its own program; before that, it may still have the name of its starter.
    fn echo() -> Child {
        let mut child =
            Command::new("cat").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("cat");
        let (input, output) = (child.stdin.as_mut().expect("a pipe"), child.stdout.as_mut().expect("a pipe"));
        input.write_all(b"x").and_then(|()| output.read_exact(&mut [0])).expect("an echo");
        child
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
        // Another signal: if one of theirs had been sent, that would be the end that shows here.
        identity.signal(Signal::TERM);
        assert_eq!(child.wait().expect("wait").signal(), Some(Signal::TERM.as_raw()));
        assert_eq!(identity.life(), Life::Gone);
    }

    #[test]
    fn a_table_that_cannot_be_read_proves_no_death_and_no_identity() {
        const ALONE: &str = "ALONE";
        if std::env::var_os(ALONE).is_none() {
            // In a separate process, where no other test needs a descriptor.
            let mut again = Command::new(std::env::current_exe().expect("a path"));
            let ended = again.arg("a_table_that_cannot_be_read").env(ALONE, "1").output().expect("a test");
            let output = String::from_utf8_lossy(&ended.stdout);
            assert!(output.contains("1 passed"), "{output}");
            return;
        }
        let own = Identity::own().expect("alive");
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..limit }).expect("a limit");
        let seen = (Identity::own(), own.life(), Identity { boot: Uuid::from_u128(7), ..own }.life());
        // This process would not live to see whether it was sent.
        own.signal(Signal::KILL);
        setrlimit(Resource::Nofile, limit).expect("the old limit");
        assert_eq!(seen, (None, Life::Alive, Life::Gone));
    }

    #[test]
    fn the_portable_table_agrees_with_the_native_one() {
        let mut child = echo();
        let native = look_up(child.id()).expect("native");
        let portable = ps::look_up(child.id()).expect("portable");
        // What `ps` reports differently, or not at all.
        let Entry { identity, session, resident_bytes, .. } = native;
        assert_eq!(Entry { identity, session, resident_bytes, ..portable.clone() }, native);
        assert!(ps::list().iter().any(|entry| entry.identity == portable.identity));
        child.kill().expect("kill");
        child.wait().expect("wait");
        assert_eq!(ps::look_up(child.id()), None);
    }

    #[test]
    fn a_command_is_named_by_its_words_or_by_its_name() {
        let mut child = echo();
        assert_eq!(command_of(child.id()), "cat -");
        child.kill().expect("kill");
        let pid = raw(child.id()).expect("a pid");
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).expect("an end");
        assert_eq!(Identity::of(child.id()).map(Identity::life), Some(Life::Zombie));
        assert_eq!(command_of(child.id()), "cat", "an ended process has no command line");
        child.wait().expect("wait");
    }
}
