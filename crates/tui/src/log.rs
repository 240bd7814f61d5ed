//! The log of one attempt, as far as it is shown.
//!
//! Invariant: memory is bounded by the newest [`REMEMBERED`] entries; how far it is scrolled is counted from the end, so
//! a log at its end stays there as it grows.

use std::collections::BTreeMap;

use forge_types::{EntryType, NormalizedEntry, ToolStatus};
use unicode_width::UnicodeWidthStr;

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
        self.entries.clear();
        self.changes.clear();
        (self.begun, self.ended, self.failure) = (true, false, None);
    }

    pub fn put(&mut self, place: (usize, usize), entry: Option<NormalizedEntry>) {
        match entry {
            Some(entry) => self.entries.insert(place, entry),
            None => self.entries.remove(&place),
        };
        while self.entries.len() > REMEMBERED {
            self.entries.pop_first();
        }
    }

    /// How many rows it has at most on a screen of that width.
    pub fn height(&self, width: usize) -> usize {
        let rows = |line: &Line| {
            let columns: usize = line.pieces().iter().map(|(_, text)| text.width()).sum();
            columns / width.max(1) + 1
        };
        self.blocks().flatten().map(|line| rows(&line)).sum()
    }

    /// The entries as lines, the last entry first, so that a reader at the end need not see them all.
    pub fn blocks(&self) -> impl Iterator<Item = Vec<Line>> {
        self.entries.values().rev().map(lines).filter(|lines| !lines.is_empty())
    }
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
