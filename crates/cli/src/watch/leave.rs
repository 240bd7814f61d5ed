//! How a person leaves a run, which continues.
//!
//! Invariant: no signal stops an agent, and each takes effect at once: the shell has its terminal back before the
//! person types the next command. The last lines show how to stop the agent.

use anyhow::{Context, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Watch;

pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Called {
    /// Ctrl-C.
    Off,
    /// The terminal closes, or this program is terminated.
    Away,
}

impl Signals {
    pub fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    pub async fn next(&mut self) -> Called {
        tokio::select! {
            _ = self.interrupt.recv() => Called::Off,
            _ = self.terminate.recv() => Called::Away,
            _ = self.hangup.recv() => Called::Away,
        }
    }
}

impl Watch<'_> {
    /// A signal came: the person is gone.
    pub(super) fn part(&mut self, called: Called) -> Result<()> {
        match self.say_farewell() {
            // The terminal may already be gone; that is not a failure.
            Err(_) if called == Called::Away => Ok(()),
            printed => printed,
        }
    }

    pub(super) fn say_farewell(&mut self) -> Result<()> {
        self.drop_question()?;
        self.screen.status(None)?;
        match self.farewell.is_empty() {
            true => Ok(()),
            false => self.screen.part(&self.farewell),
        }
    }
}
