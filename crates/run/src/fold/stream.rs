//! Messages that arrive piece by piece.
//!
//! Owns the blocks of the message that each writer (the agent, or one of its sub-agents) is writing. Invariants: a
//! block streams into one entry, and the finished block replaces that entry; a growing text is shown again only
//! after it has grown by a fixed share, so a long answer costs a bounded factor of its length.

use forge_types::EntryType;
use serde_json::Value;

use super::entries::{LogWriter, plain};

const MAX_STREAMS: usize = 16;
const MAX_BLOCKS: usize = 64;
/// A longer streamed text is shown only with its finished block.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Up to this length every piece is shown at once.
const EAGER_BYTES: usize = 2048;
/// Beyond it, a text is shown again when it has grown by one part in this many.
const GROWTH_PARTS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    Text,
    Thinking,
}

#[derive(Default)]
pub(super) struct Streams(Vec<Stream>);

struct Stream {
    /// The tool call that started the sub-agent; `None` is the agent itself.
    parent: Option<String>,
    message: Option<String>,
    blocks: Vec<Block>,
}

/// A text that grows in one entry.
pub(super) struct Block {
    number: u64,
    kind: TextKind,
    text: String,
    shown: usize,
    entry: Option<usize>,
    finished: bool,
}

impl Streams {
    /// Reads one `stream_event`.
    pub fn push(&mut self, parent: Option<&str>, event: &Value, log: &mut LogWriter<'_>) {
        let number = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str() {
            Some("message_start") => {
                let message = event["message"]["id"].as_str();
                self.start(parent, message, log);
            }
            Some("content_block_start") => {
                let content = &event["content_block"];
                let (kind, first) = match content["type"].as_str() {
                    Some("text") => (TextKind::Text, content["text"].as_str()),
                    Some("thinking") => (TextKind::Thinking, content["thinking"].as_str()),
                    _ => return,
                };
                if let Some(stream) = self.of(parent) {
                    if stream.blocks.len() == MAX_BLOCKS {
                        stream.blocks.remove(0);
                    }
                    let text = first.unwrap_or_default().to_owned();
                    let mut block = Block { number, kind, text, shown: 0, entry: None, finished: false };
                    block.show_if_due(log);
                    stream.blocks.push(block);
                }
            }
            Some("content_block_delta") => {
                let delta = &event["delta"];
                let Some(piece) = delta["text"].as_str().or_else(|| delta["thinking"].as_str()) else {
                    return;
                };
                if let Some(block) = self.of(parent).and_then(|stream| stream.block(number)) {
                    block.grow(piece, log);
                }
            }
            Some("content_block_stop") => {
                if let Some(block) = self.of(parent).and_then(|stream| stream.block(number)) {
                    block.show(log);
                }
            }
            _ => {}
        }
    }

    /// The entry of the first unfinished block of this kind, which the finished block replaces.
    pub fn claim(&mut self, parent: Option<&str>, message: Option<&str>, kind: TextKind) -> Option<usize> {
        let stream = self.of(parent)?;
        if stream.message.as_deref() != message {
            return None;
        }
        let block = stream.blocks.iter_mut().find(|block| block.kind == kind && !block.finished)?;
        block.finished = true;
        block.text = String::new();
        block.entry
    }

    pub fn finish(&mut self, log: &mut LogWriter<'_>) {
        for stream in self.0.drain(..) {
            stream.finish(log);
        }
    }

    fn start(&mut self, parent: Option<&str>, message: Option<&str>, log: &mut LogWriter<'_>) {
        let old = self.0.iter().position(|stream| stream.parent.as_deref() == parent);
        if let Some(place) = old.or_else(|| (self.0.len() == MAX_STREAMS).then_some(0)) {
            self.0.remove(place).finish(log);
        }
        let (parent, message) = (parent.map(str::to_owned), message.map(str::to_owned));
        self.0.push(Stream { parent, message, blocks: Vec::new() });
    }

    fn of(&mut self, parent: Option<&str>) -> Option<&mut Stream> {
        self.0.iter_mut().find(|stream| stream.parent.as_deref() == parent)
    }
}

impl Stream {
    fn block(&mut self, number: u64) -> Option<&mut Block> {
        self.blocks.iter_mut().rev().find(|block| block.number == number && !block.finished)
    }

    /// A message that breaks off still counts.
    fn finish(mut self, log: &mut LogWriter<'_>) {
        for block in self.blocks.iter_mut().filter(|block| !block.finished) {
            block.show(log);
            if self.parent.is_none() && block.kind == TextKind::Text {
                log.summarise(&block.text);
            }
        }
    }
}

impl Block {
    pub fn new(kind: TextKind) -> Block {
        Block { number: 0, kind, text: String::new(), shown: 0, entry: None, finished: false }
    }

    pub fn kind(&self) -> TextKind {
        self.kind
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The index of its entry, once it is shown.
    pub fn entry(&self) -> Option<usize> {
        self.entry
    }

    /// Appends a piece. Returns false when the text would be too long; the piece then belongs to a new block.
    pub fn grow(&mut self, piece: &str, log: &mut LogWriter<'_>) -> bool {
        if !self.text.is_empty() && self.text.len() + piece.len() > MAX_TEXT_BYTES {
            return false;
        }
        self.text.push_str(piece);
        self.show_if_due(log);
        true
    }

    fn show_if_due(&mut self, log: &mut LogWriter<'_>) {
        let grown = self.text.len() - self.shown;
        if self.text.len() <= EAGER_BYTES || grown >= self.text.len() / GROWTH_PARTS {
            self.show(log);
        }
    }

    pub fn show(&mut self, log: &mut LogWriter<'_>) {
        if self.shown == self.text.len() {
            return;
        }
        self.shown = self.text.len();
        let entry = plain(self.kind.entry_type(), self.text.clone());
        self.entry = Some(log.put(self.entry, entry));
    }
}

impl TextKind {
    pub fn entry_type(self) -> EntryType {
        match self {
            TextKind::Text => EntryType::AssistantMessage,
            TextKind::Thinking => EntryType::Thinking,
        }
    }
}
