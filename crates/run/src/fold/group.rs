//! Plain text grouped into entries.
//!
//! Owns the entry that is still growing on one stream. Invariant: an entry contains whole lines, at most about
//! [`GROUP_BYTES`] unless one line is longer, and a pause of [`GAP_MS`] starts a new entry; so following a log
//! costs a bounded factor of its size. The text of an entry has no escape sequences; its colours are kept
//! separately.

use forge_types::EntryType;
use serde_json::json;

use super::entries::{COLOURED, LogWriter, failure_type, plain};
use crate::journal::Record;
use crate::lines::{Line, Lines, clean, coloured, omitted};

const GROUP_BYTES: usize = 4096;
const GAP_MS: i64 = 2000;

/// Which stream the text comes from.
#[derive(Clone, Copy)]
pub(super) enum TextSource {
    /// The agent's own text.
    Answer,
    /// Standard error.
    Stderr,
}

impl TextSource {
    fn entry_type(self, text: &str) -> EntryType {
        match self {
            TextSource::Answer => EntryType::AssistantMessage,
            TextSource::Stderr => failure_type(text),
        }
    }
}

pub(super) struct Group {
    source: TextSource,
    lines: Lines,
    open: Open,
    last_ms: i64,
}

/// The growing entry: its text, the same text with colours if it has any, its index once it is shown, and how much
/// of it is shown.
#[derive(Default)]
struct Open {
    text: String,
    coloured: Option<String>,
    index: Option<usize>,
    shown: usize,
}

impl Open {
    fn show(&mut self, source: TextSource, log: &mut LogWriter<'_>) {
        if self.shown == self.text.len() {
            return;
        }
        self.shown = self.text.len();
        let mut entry = plain(source.entry_type(&self.text), self.text.clone());
        entry.metadata = self.coloured.as_ref().map(|text| json!({ COLOURED: text }));
        self.index = Some(log.put(self.index, entry));
    }

    fn take(&mut self, line: Line<'_>, source: TextSource, log: &mut LogWriter<'_>) {
        match line {
            Line::Whole(bytes) => {
                let line = clean(bytes);
                if !self.text.is_empty() && self.text.len() + line.len() + 1 > GROUP_BYTES {
                    self.close(source, log);
                }
                let colours = coloured(bytes).filter(|text| clean(text.as_bytes()) == line);
                if colours.is_some() && self.coloured.is_none() {
                    self.coloured = Some(self.text.clone());
                }
                if let Some(text) = &mut self.coloured {
                    text.push_str(colours.as_deref().unwrap_or(&line));
                    text.push('\n');
                }
                self.text.push_str(&line);
                self.text.push('\n');
            }
            Line::TooLong { bytes } => {
                self.close(source, log);
                log.add(plain(EntryType::SystemMessage, omitted(bytes)));
            }
        }
    }

    fn close(&mut self, source: TextSource, log: &mut LogWriter<'_>) {
        self.show(source, log);
        *self = Open::default();
    }
}

impl Group {
    pub fn new(source: TextSource) -> Group {
        Group { source, lines: Lines::default(), open: Open::default(), last_ms: 0 }
    }

    pub fn push(&mut self, record: &Record, log: &mut LogWriter<'_>) {
        let Group { source, lines, open, last_ms } = self;
        if record.at_ms.saturating_sub(*last_ms) >= GAP_MS {
            open.close(*source, log);
        }
        *last_ms = record.at_ms;
        lines.push(&record.bytes, |line| open.take(line, *source, log));
        open.show(*source, log);
    }

    pub fn finish(&mut self, log: &mut LogWriter<'_>) {
        let Group { source, lines, open, .. } = self;
        lines.finish(|line| {
            let whole = matches!(line, Line::Whole(_));
            open.take(line, *source, log);
            if whole {
                // The last line had no line end, so none is added.
                open.text.pop();
                open.coloured.as_mut().map(String::pop);
            }
        });
        open.show(*source, log);
    }

    /// The text of the entry that is growing.
    pub fn text(&self) -> &str {
        &self.open.text
    }
}
