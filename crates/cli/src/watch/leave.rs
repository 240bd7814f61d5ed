//! How a person leaves a run: it goes on, unless they come back to stop it.
//!
//! Invariants: one Ctrl-C never stops an agent; stopping takes a second one and a clear yes at a terminal; a signal to end
//! is obeyed at once and asks nothing.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

use super::keyboard::Keyboard;
use super::screen::Answered;
use super::{Watch, Watched};
use crate::terminal;

/// How long a second Ctrl-C is waited for.
const SECOND_LIMIT: Duration = Duration::from_secs(3);
/// Somebody who has gone away does not stop anything.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
const STOP: &str = "  stop the agent? [y/N]: ";

pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Called {
    /// Ctrl-C.
    Off,
    /// The terminal closes, or somebody ends this program.
    Away,
}

impl Signals {
    pub fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen to signals");
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
    /// A signal came: whether the person is gone, or stays to see the agent stop.
    pub(super) async fn part(&mut self, called: Called) -> Result<Option<Watched>> {
        if called == Called::Away {
            // The terminal may be gone already; that must not look like a failure.
            let _ = self.say_farewell();
            return Ok(Some(Watched::Left));
        }
        self.say_farewell()?;
        if self.farewell.is_empty() || self.stopped || !terminal::is_attended() {
            return Ok(Some(Watched::Left));
        }
        self.screen.note(&format!("Ctrl-C again within {} s to stop it instead", SECOND_LIMIT.as_secs()))?;
        match timeout(SECOND_LIMIT, self.signals.next()).await {
            Ok(Called::Off) if self.wants_stop().await? => {}
            _ => return Ok(Some(Watched::Left)),
        }
        self.stop()?;
        Ok(None)
    }

    pub(super) fn say_farewell(&mut self) -> Result<()> {
        self.drop_question()?;
        self.screen.status(None)?;
        match self.farewell.is_empty() {
            true => Ok(()),
            false => self.screen.part(&self.farewell),
        }
    }

    async fn wants_stop(&mut self) -> Result<bool> {
        if !self.keyboard.is_open() {
            self.keyboard = Keyboard::open();
        }
        self.keyboard.forget();
        self.screen.prompt(STOP)?;
        let line = tokio::select! {
            line = timeout(ANSWER_LIMIT, self.keyboard.next()) => line.ok().flatten(),
            _ = self.signals.next() => None,
        };
        self.screen.clear_prompt(if line.is_some() { Answered::Here } else { Answered::Elsewhere })?;
        Ok(line.is_some_and(|line| ["y", "yes"].contains(&line.trim().to_lowercase().as_str())))
    }
}
