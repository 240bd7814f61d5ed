//! Dialects of JSON lines: what the agent prints, and what is sent to it.
//!
//! Owns the partial lines of both directions. Invariants: a line of the agent that is not a JSON object is shown
//! unchanged, one system entry each, and one that is too long to keep is counted; of what is sent to the agent,
//! only whole messages count.

use forge_types::{EntryType, NormalizedEntry};
use serde_json::Value;

use super::cut;
use super::entries::{LogWriter, plain};
use crate::journal::Record;
use crate::lines::{Line, Lines, clean, omitted};

/// How much of an unrecognised message is shown.
pub(super) const UNRECOGNISED_BYTES: usize = 1024;

/// How the messages of one dialect become entries.
pub(super) trait DialectReader: Send {
    /// Reads a message from the agent; `line` is its source text.
    fn read(&mut self, message: Value, line: &[u8], at_ms: i64, log: &mut LogWriter<'_>);

    /// Reads a message to the agent.
    fn read_input(&mut self, message: &Value, log: &mut LogWriter<'_>);

    /// No more messages follow.
    fn finish(&mut self, log: &mut LogWriter<'_>);
}

pub(super) struct Dialogue {
    output: Lines,
    input: Lines,
    reader: Box<dyn DialectReader>,
}

impl Dialogue {
    pub fn new(reader: impl DialectReader + 'static) -> Dialogue {
        Dialogue { output: Lines::default(), input: Lines::default(), reader: Box::new(reader) }
    }

    /// Reads what the agent printed.
    pub fn push(&mut self, record: &Record, log: &mut LogWriter<'_>) {
        let Dialogue { output, reader, .. } = self;
        output.push(&record.bytes, |line| read_line(line, record.at_ms, reader.as_mut(), log));
    }

    /// Reads what was sent to the agent.
    pub fn push_input(&mut self, record: &Record, log: &mut LogWriter<'_>) {
        let Dialogue { input, reader, .. } = self;
        input.push(&record.bytes, |line| {
            if let Line::Whole(bytes) = line
                && let Ok(message) = serde_json::from_slice::<Value>(bytes)
            {
                reader.read_input(&message, log);
            }
        });
    }

    pub fn finish(&mut self, log: &mut LogWriter<'_>) {
        let Dialogue { output, reader, .. } = self;
        output.finish(|line| read_line(line, 0, reader.as_mut(), log));
        reader.finish(log);
    }
}

/// The entry for a message of an unknown kind.
pub(super) fn unrecognised(what: &str, text: &str) -> NormalizedEntry {
    plain(EntryType::SystemMessage, format!("Unrecognized {what}: {}", cut(text, UNRECOGNISED_BYTES, "…")))
}

fn read_line(line: Line<'_>, at_ms: i64, reader: &mut dyn DialectReader, log: &mut LogWriter<'_>) {
    let bytes = match line {
        Line::Whole(bytes) => bytes,
        Line::TooLong { bytes } => {
            log.add(plain(EntryType::SystemMessage, omitted(bytes)));
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
            log.secrets.mask_value(&mut message);
            reader.read(message, bytes, at_ms, log);
        }
        None => {
            log.add(plain(EntryType::SystemMessage, clean(bytes).into_owned()));
        }
    }
}
