//! The lock on a workspace, the one that br takes too.
//!
//! Invariant: the holder is the only writer among all that respect it, and it is released when its holder ends, however
//! that happens.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::error::BeadsError;

const WAIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(5);

pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock of a `.beads` directory. Blocks for a limited time.
    pub(super) fn take(beads_dir: &Path) -> Result<Self, BeadsError> {
        Self::take_within(beads_dir, WAIT)
    }

    fn take_within(beads_dir: &Path, wait: Duration) -> Result<Self, BeadsError> {
        let path = beads_dir.join(".write.lock");
        let file = forge_os::file::open_end(beads_dir, &path)?;
        let until = Instant::now() + wait;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { _file: file }),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) if Instant::now() < until => {
                    std::thread::sleep(PAUSE);
                }
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {
                    let (path, seconds) = (path.display(), wait.as_secs());
                    return Err(BeadsError::Busy(format!(
                        "another process has held {path} for more than {seconds} s"
                    )));
                }
                Err(other) => return Err(BeadsError::Io { path, source: other.into() }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_and_the_next_gets_it_after() {
        let dir = tempfile::tempdir().unwrap();
        let first = Lock::take(dir.path()).unwrap();
        let second = Lock::take_within(dir.path(), Duration::from_millis(20));
        assert!(matches!(second, Err(BeadsError::Busy(_))));
        drop(first);
        Lock::take(dir.path()).unwrap();
    }
}
