//! The agent's stdin.
//!
//! Invariant: writing never blocks the keeper; at most 1 MiB waits for an agent that does not read (besides the
//! first input of its plan), and more is refused. Input is accepted whole or not at all.

use std::os::fd::OwnedFd;

use rustix::io::{Errno, write};

const MAX_WAITING_BYTES: usize = 1024 * 1024;

pub(super) struct Input {
    pipe: Option<OwnedFd>,
    waiting: Vec<u8>,
    written: usize,
    closing: bool,
}

impl Input {
    /// An input with its first bytes, which may be of any length.
    pub(super) fn new(pipe: Option<OwnedFd>, first: Vec<u8>) -> Input {
        Input { pipe, waiting: first, written: 0, closing: false }
    }

    pub(super) fn is_open(&self) -> bool {
        self.pipe.is_some() && !self.closing
    }

    /// Accepts more input, or returns why not.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        if !self.is_open() {
            return Err("its input is closed".to_owned());
        }
        let waiting = self.waiting.len() - self.written;
        if waiting + bytes.len() > MAX_WAITING_BYTES {
            return Err(format!(
                "{waiting} bytes already wait to be read; at most {MAX_WAITING_BYTES} may wait"
            ));
        }
        self.waiting.extend_from_slice(bytes);
        Ok(())
    }

    /// Closes as soon as all accepted input is written.
    pub(super) fn close(&mut self) {
        self.closing = true;
    }

    /// The pipe, while there is something to write.
    pub(super) fn pending(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref().filter(|_| self.written < self.waiting.len())
    }

    /// Writes as much as the pipe accepts.
    pub(super) fn flush(&mut self) {
        while let Some(pipe) = self.pending() {
            match write(pipe, &self.waiting[self.written..]) {
                Ok(n) => self.written += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // The agent has closed its end.
                Err(_) => self.pipe = None,
            }
        }
        self.waiting = Vec::new();
        self.written = 0;
        if self.closing {
            self.pipe = None;
        }
    }
}
