//! The log of one attempt, as far as it is shown.
//!
//! Invariant: memory is bounded by the newest [`REMEMBERED`] entries; how far it is scrolled is counted from the end, so
//! a log at its end stays there as it grows, and one that was scrolled back stands still, because what comes below what
//! is seen counts as scrolled.

use std::collections::BTreeMap;
use std::ops::Bound;

use forge_types::{EntryType, NormalizedEntry, ToolStatus};
use unicode_width::UnicodeWidthChar;

use crate::message::RunNews;
use crate::model::Changes;
use crate::text::{Ink, Line, clean, deed};

const REMEMBERED: usize = 1000;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    pub attempt: Option<String>,
    pub run: Option<RunNews>,
    /// The server has told which runs there are.
    pub begun: bool,
    /// By run and place.
    entries: BTreeMap<(usize, usize), NormalizedEntry>,
    pub changes: Changes,
    /// Everything there is has come.
    pub ended: bool,
    pub failure: Option<String>,
    /// Rows between the last one and the bottom of the screen.
    pub scroll: usize,
}

impl Log {
    /// Another attempt is followed from now on.
    pub fn turn_to(&mut self, attempt: Option<String>) {
        *self = Self { attempt, ..Self::default() };
    }

    pub fn begin(&mut self, run: Option<RunNews>) {
        self.run = run;
        self.scroll = 0;
        self.entries.clear();
        self.changes.clear();
        (self.begun, self.ended, self.failure) = (true, false, None);
    }

    /// `width` is that of its rows.
    pub fn put(&mut self, place: (usize, usize), entry: Option<NormalizedEntry>, width: usize) {
        if self.scroll > 0 {
            let height = |entry: &NormalizedEntry| lines(entry).iter().map(|line| rows(line, width)).sum();
            let (after, at) = (Bound::Excluded(place), self.entries.get(&place));
            let below: usize =
                self.entries.range((after, Bound::Unbounded)).map(|(_, entry)| height(entry)).sum();
            let (was, is) = (at.map_or(0, height), entry.as_ref().map_or(0, height));
            // What changes above or within what is seen moves nothing below it.
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

    /// How many rows of that width it has.
    pub fn height(&self, width: usize) -> usize {
        self.blocks().flatten().map(|line| rows(&line, width)).sum()
    }

    /// The entries as lines, the last entry first, so that a reader at the end need not see them all.
    pub fn blocks(&self) -> impl Iterator<Item = Vec<Line>> {
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
