//! Who may work in a directory.
//!
//! Owns one queue per directory. Invariant: at most one run is current in a directory, so no two agents ever write
//! to one tree; the others wait in the order in which they came. Dev servers do not take part.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use forge_types::{Attempt, RunId};

use crate::Forge;
use crate::worktree::host::Directory;

#[derive(Default)]
pub(super) struct Lanes(Mutex<HashMap<PathBuf, Lane>>);

struct Lane {
    current: RunId,
    waiting: VecDeque<RunId>,
}

/// Whether a run may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Now,
    Later,
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the directory, or a place at the end of its queue.
    fn enter(&self, place: &Path, run: RunId) -> Entry {
        let mut lanes = self.lock();
        match lanes.get_mut(place) {
            Some(lane) if lane.current == run => Entry::Now,
            Some(lane) => {
                lane.waiting.push_back(run);
                Entry::Later
            }
            None => {
                lanes.insert(place.to_owned(), Lane { current: run, waiting: VecDeque::new() });
                Entry::Now
            }
        }
    }

    fn current(&self, place: &Path) -> Option<RunId> {
        self.lock().get(place).map(|lane| lane.current)
    }

    /// The next step of a chain takes over from the step before it, ahead of whoever waits.
    fn hand_over(&self, place: &Path, from: RunId, to: RunId) {
        if let Some(lane) = self.lock().get_mut(place)
            && lane.current == from
        {
            lane.current = to;
        }
    }

    /// Gives up the directory or the place in its queue; the answer is the run that is current from now on.
    fn leave(&self, place: &Path, run: RunId) -> Option<RunId> {
        let mut lanes = self.lock();
        let lane = lanes.get_mut(place)?;
        if lane.current != run {
            lane.waiting.retain(|waiting| *waiting != run);
            return None;
        }
        match lane.waiting.pop_front() {
            Some(next) => {
                lane.current = next;
                Some(next)
            }
            None => {
                lanes.remove(place);
                None
            }
        }
    }
}

impl Forge {
    /// Takes the directory for a run, or a place in its queue.
    pub(crate) fn enter(&self, at: &Directory, run: RunId) -> Entry {
        self.0.worktrees.lanes.enter(at.local_path(), run)
    }

    /// Who is current in the directory.
    pub(super) fn current(&self, at: &Directory) -> Option<RunId> {
        self.0.worktrees.lanes.current(at.local_path())
    }

    /// Gives up the directory or the place in its queue; returns the run that is current from now on.
    pub(crate) fn leave(&self, at: &Directory, run: RunId) -> Option<RunId> {
        self.0.worktrees.lanes.leave(at.local_path(), run)
    }

    /// Gives the directory from one run to another, ahead of whoever waits.
    pub(crate) fn hand_over(&self, at: &Directory, from: RunId, to: RunId) {
        self.0.worktrees.lanes.hand_over(at.local_path(), from, to);
    }

    /// Takes the directory of an attempt for a worker in a terminal.
    pub(crate) fn enter_as_worker(&self, attempt: &Attempt, run: RunId) -> Entry {
        self.0.worktrees.lanes.enter(&recorded_path(attempt), run)
    }

    pub(crate) fn leave_as_worker(&self, attempt: &Attempt, run: RunId) -> Option<RunId> {
        self.0.worktrees.lanes.leave(&recorded_path(attempt), run)
    }
}

/// Where the attempt's row says that it works.
pub(crate) fn recorded_path(attempt: &Attempt) -> PathBuf {
    attempt.container_ref.as_deref().unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_in_the_order_of_arrival() {
        let (lanes, place) = (Lanes::default(), Path::new("/w"));
        let [a, b, c, d] = std::array::from_fn(|_| RunId::random());
        assert_eq!(lanes.enter(place, a), Entry::Now);
        assert_eq!(lanes.enter(place, b), Entry::Later);
        assert_eq!(lanes.enter(place, c), Entry::Later);
        assert_eq!(lanes.enter(Path::new("/other"), d), Entry::Now);
        assert_eq!(lanes.leave(place, b), None, "a waiting run may leave without waking anyone");
        assert_eq!(lanes.leave(place, a), Some(c));
        assert_eq!(lanes.leave(place, c), None);
        assert_eq!(lanes.enter(place, b), Entry::Now, "an empty lane is free again");
    }

    #[test]
    fn a_chain_keeps_its_lane() {
        let (lanes, place) = (Lanes::default(), Path::new("/w"));
        let [setup, agent, waiting] = std::array::from_fn(|_| RunId::random());
        lanes.enter(place, setup);
        lanes.enter(place, waiting);
        lanes.hand_over(place, setup, agent);
        assert_eq!(lanes.leave(place, setup), None, "no longer the current one");
        assert_eq!(lanes.leave(place, agent), Some(waiting));
    }
}
