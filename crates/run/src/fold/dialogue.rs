//! Dialects of JSON lines: what the agent prints, and what is sent to it.
//!
//! Owns the partial lines of both directions. Invariants: a line of the agent that is not a JSON object is shown
//! unchanged, one system entry each, and one that is too long to keep is counted; of what is sent to the agent,
//! only whole messages count.

use forge_types::{EntryType, NormalizedEntry};
use serde_json::Value;

use super::cut;
use super::entries::{Page, plain};
use crate::journal::Record;
use crate::lines::{Line, Lines, clean, omitted};

/// How much of an unrecognised message is shown.
pub(super) const UNRECOGNISED_BYTES: usize = 1024;

/// How the messages of one dialect become entries.
pub(super) trait Story: Send {
    /// Reads a message from the agent; `line` is its source text.
    fn read(&mut self, message: Value, line: &[u8], at_ms: i64, page: &mut Page<'_>);

    /// Reads a message to the agent.
    fn hear(&mut self, message: &Value, page: &mut Page<'_>);

    /// No more messages follow.
    fn finish(&mut self, page: &mut Page<'_>);
}

pub(super) struct Dialogue {
    said: Lines,
    heard: Lines,
    story: Box<dyn Story>,
}

impl Dialogue {
    pub fn new(story: impl Story + 'static) -> Dialogue {
        Dialogue { said: Lines::default(), heard: Lines::default(), story: Box::new(story) }
    }

    /// Reads what the agent printed.
    pub fn push(&mut self, record: &Record, page: &mut Page<'_>) {
        let Dialogue { said, story, .. } = self;
        said.push(&record.bytes, |line| read(line, record.at_ms, story.as_mut(), page));
    }

    /// Reads what was sent to the agent.
    pub fn hear(&mut self, record: &Record, page: &mut Page<'_>) {
        let Dialogue { heard, story, .. } = self;
        heard.push(&record.bytes, |line| {
            if let Line::Whole(bytes) = line
                && let Ok(message) = serde_json::from_slice::<Value>(bytes)
            {
                story.hear(&message, page);
            }
        });
    }

    pub fn finish(&mut self, page: &mut Page<'_>) {
        let Dialogue { said, story, .. } = self;
        said.finish(|line| read(line, 0, story.as_mut(), page));
        story.finish(page);
    }
}

/// The entry for a message of an unknown kind.
pub(super) fn unrecognised(what: &str, text: &str) -> NormalizedEntry {
    plain(EntryType::SystemMessage, format!("Unrecognized {what}: {}", cut(text, UNRECOGNISED_BYTES, "…")))
}

fn read(line: Line<'_>, at_ms: i64, story: &mut dyn Story, page: &mut Page<'_>) {
    let bytes = match line {
        Line::Whole(bytes) => bytes,
        Line::TooLong { bytes } => {
            page.add(plain(EntryType::SystemMessage, omitted(bytes)));
            return;
        }
    };
    let message = match bytes.trim_ascii_start().first() {
        None => return,
        Some(b'{') => serde_json::from_slice::<Value>(bytes).ok(),
        Some(_) => None,
    };
    match message {
        Some(mut message) => {
            page.secrets.mask_value(&mut message);
            story.read(message, bytes, at_ms, page);
        }
        None => {
            page.add(plain(EntryType::SystemMessage, clean(bytes).into_owned()));
        }
    }
}
