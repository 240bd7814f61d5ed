//! The newest events in memory, so that followers of the log stay off the disk.
//!
//! Invariant: the sequence numbers inside are consecutive. What does not continue the ring replaces it,
//! so a reader finds either everything after its position or nothing. Bounded in number and in bytes.

use std::collections::VecDeque;
use std::sync::Arc;

use forge_types::EventRecord;

const MOST_EVENTS: usize = 1024;
const MOST_BYTES: usize = 4 << 20;

/// An event and the length of its JSON.
pub(crate) type Sized = (Arc<EventRecord>, usize);

#[derive(Default)]
pub(crate) struct Ring {
    events: VecDeque<Sized>,
    bytes: usize,
}

impl Ring {
    pub(crate) fn push(&mut self, (record, bytes): Sized) {
        let follows = self.events.back().is_none_or(|(last, _)| last.seq + 1 == record.seq);
        if !follows {
            self.events.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.events.push_back((record, bytes));
        while self.events.len() > MOST_EVENTS || self.bytes > MOST_BYTES {
            let Some((_, bytes)) = self.events.pop_front() else { break };
            self.bytes -= bytes;
        }
    }

    /// Events after `seq`, or `None` when the ring does not reach back that far.
    pub(crate) fn after(&self, seq: i64, limit: usize) -> Option<Vec<Arc<EventRecord>>> {
        let (first, _) = self.events.front()?;
        let skip = usize::try_from(seq.checked_add(1)?.checked_sub(first.seq)?).ok()?;
        Some(self.events.iter().skip(skip).take(limit).map(|(record, _)| Arc::clone(record)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_types::{Event, ProjectId};

    fn event(seq: i64) -> Arc<EventRecord> {
        Arc::new(EventRecord { seq, event: Event::ProjectRemoved { id: ProjectId::random() } })
    }

    fn seqs(found: Option<Vec<Arc<EventRecord>>>) -> Option<Vec<i64>> {
        found.map(|records| records.iter().map(|record| record.seq).collect())
    }

    #[test]
    fn answers_only_when_it_reaches_back_far_enough() {
        let mut ring = Ring::default();
        assert_eq!(seqs(ring.after(0, 9)), None);
        (5..9).for_each(|seq| ring.push((event(seq), 1)));
        assert_eq!(seqs(ring.after(3, 9)), None);
        assert_eq!(seqs(ring.after(4, 9)), Some(vec![5, 6, 7, 8]));
        assert_eq!(seqs(ring.after(6, 1)), Some(vec![7]));
        assert_eq!(seqs(ring.after(8, 9)), Some(vec![]));
        assert_eq!(seqs(ring.after(i64::MAX, 9)), None);
    }

    #[test]
    fn a_gap_empties_what_came_before_it() {
        let mut ring = Ring::default();
        [1, 2, 5].into_iter().for_each(|seq| ring.push((event(seq), 1)));
        assert_eq!(seqs(ring.after(1, 9)), None);
        assert_eq!(seqs(ring.after(4, 9)), Some(vec![5]));
    }

    #[test]
    fn is_bounded_in_number_and_in_bytes() {
        let mut ring = Ring::default();
        (1..=2000).for_each(|seq| ring.push((event(seq), 1)));
        assert_eq!(ring.events.len(), MOST_EVENTS);
        ring.push((event(2001), MOST_BYTES - 3));
        assert_eq!((ring.events.len(), ring.bytes), (4, MOST_BYTES));
    }
}
