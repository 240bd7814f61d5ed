//! A snapshot and then every event after it.
//!
//! Invariant: the snapshot names the last event that it includes and the feed begins right after that one, so there is
//! neither a gap nor a repetition. A client that names a position that is still in the log gets only what it missed.

use forge_core::{Forge, Kind, Result};
use forge_types::EventRecord;
use futures_util::{Stream, StreamExt, stream};

use crate::stream::patch::frame;
use crate::stream::socket::Batch;

/// Where a stream begins.
pub(crate) enum Start {
    /// With a snapshot, which the caller makes.
    Snapshot,
    /// After an event the client has seen.
    After(i64),
}

/// `after` is what the client sent; a number from another log counts as unknown.
pub(crate) fn start(forge: &Forge, after: Option<i64>) -> Start {
    match after {
        Some(seq) if seq > 0 && seq <= forge.latest_seq() => Start::After(seq),
        _ => Start::Snapshot,
    }
}

/// Whether frames have numbers.
#[derive(Clone, Copy)]
pub(crate) enum Numbering {
    Plain,
    Numbered,
}

impl Numbering {
    /// Clients that name a position want numbers.
    pub(crate) fn of(after: Option<i64>) -> Self {
        if after.is_some() { Numbering::Numbered } else { Numbering::Plain }
    }

    pub(crate) fn seq(self, seq: i64) -> Option<i64> {
        match self {
            Numbering::Plain => None,
            Numbering::Numbered => Some(seq),
        }
    }
}

/// Frames of `snapshot` (its event number and its patch), then of every event for which `show` returns a patch. `None`
/// continues after `seq` without a snapshot.
pub(crate) fn frames(
    forge: &Forge,
    numbering: Numbering,
    seq: i64,
    snapshot: Option<String>,
    mut show: impl FnMut(&EventRecord) -> Option<String> + Send + 'static,
) -> impl Stream<Item = Result<Batch>> + Send + 'static {
    let first = snapshot.map(|patch| frame(numbering.seq(seq), &patch));
    follow(forge, seq, first, move |record| {
        show(record).map(|patch| frame(numbering.seq(record.seq), &patch))
    })
}

/// The frame `first`, then what `write` makes of every event after `seq`.
pub(crate) fn follow(
    forge: &Forge,
    seq: i64,
    first: Option<String>,
    write: impl FnMut(&EventRecord) -> Option<String> + Send + 'static,
) -> impl Stream<Item = Result<Batch>> + Send + 'static {
    let first = first.map(|frame| Ok(vec![frame.into()]));
    let later = stream::try_unfold((forge.feed(seq), write), |(mut feed, mut write)| async move {
        loop {
            let records = feed.next().await?;
            let batch: Batch = records.iter().filter_map(|record| write(record)).map(Into::into).collect();
            if !batch.is_empty() {
                return Ok(Some((batch, (feed, write))));
            }
        }
    });
    // The log is read to its end, so after each batch there is nothing more at that moment.
    let pause = || Ok(Batch::new());
    let frames = stream::iter(first).chain(later);
    stream::iter([pause()]).chain(frames.flat_map(move |batch| stream::iter([batch, pause()])))
}

/// Unknown ids yield an empty snapshot: clients may ask before the entity exists.
pub(crate) fn or_empty<T>(forge: &Forge, found: Result<(i64, Vec<T>)>) -> Result<(i64, Vec<T>)> {
    match found {
        Err(error) if error.kind() == Kind::NotFound => Ok((forge.latest_seq(), Vec::new())),
        found => found,
    }
}
