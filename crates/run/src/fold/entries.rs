//! Writing the entry list.
//!
//! Owns the next free index and the tail of the transcript. Invariants: each index is used once, in order, across
//! everything that writes entries of a run; texts that grew piece by piece are masked as a whole, here.

use std::borrow::Cow;

use forge_types::{EntryPatch, EntryType, ErrorType, NormalizedEntry, PatchOp};
use serde_json::Value;

use super::RunOutcome;
use super::setup::wants_setup;
use super::tail::{Ending, Tail};
use crate::Secrets;

/// The key under which an entry keeps its text with terminal colours.
pub(super) const COLOURED: &str = "ansi";

#[derive(Default)]
pub(super) struct Entries {
    next: usize,
    tail: Tail,
    /// The last entry that asks somebody to set up the agent.
    last_setup: Option<usize>,
    /// The last entry with work or text of the agent.
    last_work: Option<usize>,
}

/// What a record can change.
pub(super) struct LogWriter<'a> {
    pub entries: &'a mut Entries,
    pub outcome: &'a mut RunOutcome,
    pub secrets: &'a Secrets,
    pub patches: &'a mut Vec<EntryPatch>,
}

impl LogWriter<'_> {
    /// Appends an entry and returns its index.
    pub fn add(&mut self, entry: NormalizedEntry) -> usize {
        let entry = self.masked(entry);
        let index = self.entries.next;
        self.entries.next += 1;
        self.note_setup(index, &entry);
        self.entries.tail.put(index, &entry);
        self.patches.push(EntryPatch { op: PatchOp::Add, index, entry: Some(entry) });
        index
    }

    pub fn replace(&mut self, index: usize, entry: NormalizedEntry) {
        let entry = self.masked(entry);
        self.note_setup(index, &entry);
        self.entries.tail.put(index, &entry);
        self.patches.push(EntryPatch { op: PatchOp::Replace, index, entry: Some(entry) });
    }

    /// Appends an entry, or replaces the one at `index`.
    pub fn put(&mut self, index: Option<usize>, entry: NormalizedEntry) -> usize {
        match index {
            Some(index) => {
                self.replace(index, entry);
                index
            }
            None => self.add(entry),
        }
    }

    /// Sets the summary to the agent's last text.
    pub fn summarise(&mut self, text: &str) {
        self.outcome.summarise(&self.secrets.mask_text(text));
    }

    /// An agent that works after it asked for a login did not need it for its turn: one of its tools did.
    fn note_setup(&mut self, index: usize, entry: &NormalizedEntry) {
        let Entries { last_setup, last_work, .. } = &mut *self.entries;
        match entry.entry_type {
            EntryType::ErrorMessage { error_type: ErrorType::SetupRequired } => {
                *last_setup = (*last_setup).max(Some(index))
            }
            EntryType::AssistantMessage | EntryType::Thinking | EntryType::ToolUse { .. } => {
                *last_work = (*last_work).max(Some(index));
            }
            _ => {}
        }
        self.outcome.setup_required = last_setup.is_some() && *last_setup >= *last_work;
    }

    fn masked(&self, mut entry: NormalizedEntry) -> NormalizedEntry {
        if let Cow::Owned(content) = self.secrets.mask_text(&entry.content) {
            entry.content = content;
            // Colour codes may split a masked text, and the coloured text is not masked, so it is dropped.
            if entry.metadata.as_ref().is_some_and(|metadata| metadata.get(COLOURED).is_some()) {
                entry.metadata = None;
            }
        }
        entry
    }
}

impl Entries {
    /// Text for the transcript that is not an entry.
    pub fn append_to_transcript(&mut self, bytes: &[u8]) {
        self.tail.append(&String::from_utf8_lossy(bytes));
    }

    pub fn transcript(&self, ending: Ending) -> String {
        self.tail.text(ending)
    }
}

pub(super) fn plain(entry_type: EntryType, content: String) -> NormalizedEntry {
    NormalizedEntry { timestamp: None, entry_type, content, metadata: None }
}

/// The entry type of a failure with this text.
pub(super) fn failure_type(text: &str) -> EntryType {
    let error_type = match wants_setup(text) {
        true => ErrorType::SetupRequired,
        false => ErrorType::Other,
    };
    EntryType::ErrorMessage { error_type }
}

/// An entry that keeps the block it was made from.
pub(super) fn with_source(entry_type: EntryType, content: String, source: Value) -> NormalizedEntry {
    NormalizedEntry { timestamp: None, entry_type, content, metadata: Some(source) }
}

/// The list that a reader of the patches ends up with.
#[cfg(test)]
pub(super) fn apply(patches: &[EntryPatch]) -> Vec<NormalizedEntry> {
    let mut list = Vec::new();
    for patch in patches {
        let entry = patch.entry.clone().expect("the fold never removes");
        match patch.op {
            PatchOp::Add => list.insert(patch.index, entry),
            PatchOp::Replace => list[patch.index] = entry,
        }
    }
    list
}
