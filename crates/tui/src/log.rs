//! The log of one attempt, as shown.
//!
//! Invariant: only the newest [`REMEMBERED`] entries are kept; the scroll position counts from the end, so a log at its
//! end stays there as it grows, and one that is scrolled back stays in place, because new rows count as scrolled.

use std::collections::BTreeMap;
use std::ops::Bound;

use forge_client::Error;
use forge_types::{AttemptId, EntryType, NormalizedEntry, RunId, ToolStatus};
use unicode_width::UnicodeWidthChar;

use crate::model::Changes;
use crate::text::{Ink, Line, clean, deed};

const REMEMBERED: usize = 1000;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Log {
    pub attempt: Option<AttemptId>,
    /// Its newest run.
    pub run: Option<RunId>,
    /// The server has listed the runs.
    pub begun: bool,
    /// By run and index.
    entries: BTreeMap<(usize, usize), NormalizedEntry>,
    pub changes: Changes,
    /// The whole log has arrived.
    pub ended: bool,
    pub failure: Option<Error>,
    /// Rows below the bottom of the screen.
    pub scroll: usize,
}

impl Log {
    /// Starts over with another attempt.
    pub(crate) fn turn_to(&mut self, attempt: Option<AttemptId>) {
        *self = Self { attempt, ..Self::default() };
    }

    pub(crate) fn begin(&mut self, run: Option<RunId>) {
        self.run = run;
        self.scroll = 0;
        self.entries.clear();
        self.changes.clear();
        (self.begun, self.ended, self.failure) = (true, false, None);
    }

    /// `width` is the width of the rows.
    pub(crate) fn put(&mut self, place: (usize, usize), entry: Option<NormalizedEntry>, width: usize) {
        if self.scroll > 0 {
            let height = |entry: &NormalizedEntry| lines(entry).iter().map(|line| rows(line, width)).sum();
            let (after, at) = (Bound::Excluded(place), self.entries.get(&place));
            let below: usize =
                self.entries.range((after, Bound::Unbounded)).map(|(_, entry)| height(entry)).sum();
            let (was, is) = (at.map_or(0, height), entry.as_ref().map_or(0, height));
            // A change above or within the visible rows moves nothing below them.
            if below < self.scroll {
                self.scroll = (self.scroll + is).saturating_sub(was).max(1);
            }
        }
        match entry {
            Some(entry) => self.entries.insert(place, entry),
            None => self.entries.remove(&place),
        };
        while self.entries.len() > REMEMBERED {
            self.entries.pop_first();
        }
    }

    /// Number of rows at this width.
    pub(crate) fn height(&self, width: usize) -> usize {
        self.blocks().flatten().map(|line| rows(&line, width)).sum()
    }

    /// The entries as lines, last entry first, so that a reader at the end need not build them all.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Vec<Line>> {
        self.entries.values().rev().map(lines).filter(|lines| !lines.is_empty())
    }
}

/// How many rows a line needs, as [`crate::draw`] breaks it.
fn rows(line: &Line, width: usize) -> usize {
    let (mut rows, mut used) = (1, 0);
    for c in line.pieces().iter().flat_map(|(_, text)| text.chars()) {
        let columns = c.width().unwrap_or(0);
        if used + columns > width.max(1) {
            (rows, used) = (rows + 1, 0);
        }
        used += columns;
    }
    rows
}

fn lines(entry: &NormalizedEntry) -> Vec<Line> {
    let (ink, mark) = match &entry.entry_type {
        EntryType::AssistantMessage => (Ink::Plain, ""),
        EntryType::Thinking => (Ink::Dim, "~ "),
        EntryType::SystemMessage => (Ink::Dim, "- "),
        EntryType::ErrorMessage { .. } => (Ink::Red, "! "),
        EntryType::UserMessage | EntryType::UserFeedback { .. } => (Ink::Cyan, "> "),
        EntryType::ToolUse { status, .. } => {
            let mut lines = deed::head(entry);
            match status {
                ToolStatus::Created => {}
                ToolStatus::PendingApproval { .. } => {
                    lines.push(Line::new(Ink::Yellow, "  ? waits for an answer: a approves, d denies"));
                }
                _ => lines.extend(deed::result(entry)),
            }
            return lines;
        }
    };
    let text = clean(&entry.content);
    text.trim().lines().map(|line| Line::new(ink, mark).and(ink, line)).collect()
}
