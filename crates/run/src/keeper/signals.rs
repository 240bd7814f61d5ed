//! Signals to the keeper, made visible to `poll`.
//!
//! Invariant: TERM means *stop the run*; HUP, INT, QUIT and PIPE have no effect here. They are caught rather than
//! ignored because an ignored signal would stay ignored in the agent, and the stop ladder begins with INT.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level::pipe};

pub(super) struct Signals {
    wake: UnixStream,
    stop: Arc<AtomicBool>,
}

impl Signals {
    pub(super) fn catch() -> io::Result<Signals> {
        let (wake, ring) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let stop = Arc::new(AtomicBool::new(false));
        flag::register(SIGTERM, Arc::clone(&stop))?;
        for signal in [SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE] {
            pipe::register(signal, ring.try_clone()?)?;
        }
        Ok(Signals { wake, stop })
    }

    /// Clears the pending signals; call it before acting on them.
    pub(super) fn drain(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.wake.read(&mut bytes), Ok(n) if n == bytes.len()) {}
    }

    pub(super) fn take_stop(&self) -> bool {
        self.stop.swap(false, Ordering::SeqCst)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
