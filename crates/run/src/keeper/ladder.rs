//! The stop ladder: ask, close the input, interrupt, terminate, kill.
//!
//! Owns: which signal is due when; time and process table are passed in. Invariant: a step is taken only while
//! something lives, every process gets each step's signal at most once (KILL repeatedly), and the ladder ends even
//! if the kernel cannot end a process.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use forge_os::process::{Identity, Signal};

use crate::ExitReason;

const ASK: Duration = Duration::from_millis(1500);
const CLOSE: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_secs(2);
const KILL_STEP: Duration = Duration::from_secs(3);
/// How often a step looks for new processes.
const SCAN_PAUSE: Duration = Duration::from_millis(200);
const KILL_SCAN_PAUSE: Duration = Duration::from_millis(20);

pub(super) struct Ladder {
    pub(super) reason: ExitReason,
    step: Step,
    step_ends: Instant,
    scan_at: Instant,
    signalled: HashSet<Identity>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The agent was asked in its own protocol.
    Question,
    /// Its input has ended, which most agents treat as a request to exit.
    Close,
    Interrupt,
    Terminate,
    Kill,
    /// The remaining processes cannot be ended.
    GivenUp,
}

impl Step {
    fn duration(self) -> Duration {
        match self {
            Step::Question => ASK,
            Step::Close => CLOSE,
            Step::Interrupt | Step::Terminate => STEP,
            Step::Kill | Step::GivenUp => KILL_STEP,
        }
    }

    fn next(self) -> Step {
        match self {
            Step::Question => Step::Close,
            Step::Close => Step::Interrupt,
            Step::Interrupt => Step::Terminate,
            Step::Terminate => Step::Kill,
            Step::Kill | Step::GivenUp => Step::GivenUp,
        }
    }

    fn signal(self) -> Option<Signal> {
        match self {
            Step::Question | Step::Close | Step::GivenUp => None,
            Step::Interrupt => Some(Signal::INT),
            Step::Terminate => Some(Signal::TERM),
            Step::Kill => Some(Signal::KILL),
        }
    }
}

impl Ladder {
    pub(super) fn new(first: Step, reason: ExitReason, now: Instant) -> Ladder {
        Ladder {
            reason,
            step: first,
            step_ends: now + first.duration(),
            scan_at: now,
            signalled: HashSet::new(),
        }
    }

    pub(super) fn has_given_up(&self) -> bool {
        self.step == Step::GivenUp
    }

    /// Whether the agent may still respond to the request to stop.
    pub(super) fn is_asking(&self) -> bool {
        self.step == Step::Question
    }

    /// When to climb again; immediately for a ladder that has given up.
    pub(super) fn due(&self) -> Instant {
        match self.step {
            Step::Question | Step::Close => self.step_ends,
            _ => self.scan_at.min(self.step_ends),
        }
    }

    /// The agent itself is gone, so no process is left that could follow a request.
    pub(super) fn note_agent_gone(&mut self, now: Instant) {
        if matches!(self.step, Step::Question | Step::Close) {
            self.enter(Step::Interrupt, now);
        }
    }

    /// Which processes get which signal now.
    pub(super) fn climb(
        &mut self,
        now: Instant,
        members: impl FnOnce() -> Vec<Identity>,
    ) -> Vec<(Identity, Signal)> {
        while now >= self.step_ends && self.step != Step::GivenUp {
            self.enter(self.step.next(), now);
        }
        let Some(signal) = self.step.signal().filter(|_| now >= self.scan_at) else { return Vec::new() };
        self.scan_at = now + if self.step == Step::Kill { KILL_SCAN_PAUSE } else { SCAN_PAUSE };
        let again = self.step == Step::Kill;
        members()
            .into_iter()
            .filter(|&id| self.signalled.insert(id) || again)
            .map(|id| (id, signal))
            .collect()
    }

    fn enter(&mut self, step: Step, now: Instant) {
        self.step = step;
        self.step_ends = now + step.duration();
        self.scan_at = now;
        self.signalled.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(start_time: u64) -> Identity {
        Identity { pid: 7, start_time, boot: forge_os::process::boot() }
    }

    fn one() -> Vec<Identity> {
        vec![started(1)]
    }

    fn signals(ladder: &mut Ladder, now: Instant) -> Vec<Signal> {
        ladder.climb(now, one).into_iter().map(|(_, signal)| signal).collect()
    }

    #[test]
    fn each_step_signals_once_and_the_last_one_until_it_gives_up() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut ladder = Ladder::new(Step::Interrupt, ExitReason::Stopped, start);
        assert_eq!(signals(&mut ladder, at(0)), [Signal::INT]);
        assert_eq!(signals(&mut ladder, at(1000)), []);
        assert_eq!(signals(&mut ladder, at(2000)), [Signal::TERM]);
        assert_eq!(signals(&mut ladder, at(4000)), [Signal::KILL]);
        assert_eq!(signals(&mut ladder, at(4100)), [Signal::KILL]);
        assert_eq!(signals(&mut ladder, at(8000)), []);
        assert!(ladder.has_given_up());
    }

    #[test]
    fn an_agent_that_was_asked_has_time_unless_it_is_gone() {
        let start = Instant::now();
        let mut ladder = Ladder::new(Step::Question, ExitReason::Stopped, start);
        assert_eq!(signals(&mut ladder, start + Duration::from_millis(1400)), []);
        assert!(ladder.is_asking());
        ladder.note_agent_gone(start + Duration::from_millis(1401));
        assert_eq!(signals(&mut ladder, start + Duration::from_millis(1401)), [Signal::INT]);
    }

    #[test]
    fn an_agent_that_does_not_answer_loses_its_input_before_it_is_signalled() {
        let start = Instant::now();
        let mut ladder = Ladder::new(Step::Question, ExitReason::Stopped, start);
        assert_eq!(signals(&mut ladder, start + ASK), []);
        assert!(!ladder.is_asking());
        assert_eq!(signals(&mut ladder, start + ASK + CLOSE), [Signal::INT]);
    }

    #[test]
    fn a_process_that_appears_later_gets_the_signal_too() {
        let start = Instant::now();
        let mut ladder = Ladder::new(Step::Terminate, ExitReason::Exited, start);
        assert_eq!(signals(&mut ladder, start).len(), 1);
        let later = start + Duration::from_millis(300);
        assert_eq!(ladder.climb(later, || vec![started(1), started(2)]), [(started(2), Signal::TERM)]);
    }
}
