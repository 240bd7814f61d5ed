//! Waits for processes to end, and finds what runs below them.
//!
//! Owns the wait for an exit, and [`Table`], which is read in one pass, however many workers there are. `forge_os`
//! identifies processes and makes sure that a signal reaches the right one.

mod table;

use std::time::Duration;

use forge_os::process::{Hold, look_up, with_variable};

pub use forge_os::process::{Entry, Identity, Life, Signal};
pub use table::{Table, Work};

/// How often to check for an exit where the kernel does not report it.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Returns once the process has ended, at once if it already has. Uses the kernel's notification where possible.
pub async fn exit_of(process: Identity) {
    match process.hold() {
        Hold::Gone => return,
        Hold::Held(fd) => {
            // Nothing is read from it, so tokio can wait for it although it is not a pipe.
            if let Ok(fd) = tokio::net::unix::pipe::Receiver::from_owned_fd_unchecked(fd)
                && fd.readable().await.is_ok()
            {
                return;
            }
        }
        Hold::Unsupported => {}
    }
    while process.is_alive() {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Waits until all have ended or the time is over, and returns those left.
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

/// Whether no process with this variable is alive, apart from tmux, whose server keeps the variables of whoever started
/// it. Unknown where other processes' variables cannot be read.
pub fn is_without_variable(name: &str, value: &str) -> bool {
    let is_other =
        |process: &Identity| look_up(process.pid).is_some_and(|entry| !entry.name.starts_with("tmux"));
    cfg!(target_os = "linux") && !with_variable(name, value).iter().any(is_other)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().expect("sleep")
    }

    #[tokio::test]
    async fn an_exit_is_told_also_while_nobody_has_waited_for_the_process() {
        let mut child = sleeper();
        let identity = Identity::of(child.id()).expect("alive");
        let waiting = tokio::spawn(exit_of(identity));
        identity.signal(Signal::KILL);
        waiting.await.expect("an exit");
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
