//! The end of a run as plain text.
//!
//! Owns the newest texts of the entry list, at most about [`TAIL_BYTES`]. Invariant: the last lines of a run that
//! has an answer are that answer, even when remarks or errors came after it.

use std::collections::VecDeque;

use forge_types::{ActionType, EntryType, NormalizedEntry};

const TAIL_BYTES: usize = 64 << 10;

/// What the text ends with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The last answer, repeated if anything came after it.
    Answer,
    /// Whatever came last: an error explains a failure better than an earlier answer.
    Newest,
}

#[derive(Default)]
pub(super) struct Tail {
    /// Texts of consecutive entries; the first one belongs to index `first`.
    texts: VecDeque<String>,
    first: usize,
    bytes: usize,
    answer: Option<(usize, String)>,
}

impl Tail {
    /// Notes the entry at `index`: the next one, or a changed one.
    pub fn put(&mut self, index: usize, entry: &NormalizedEntry) {
        if matches!(entry.entry_type, EntryType::AssistantMessage) {
            let newest = self.answer.as_ref().is_none_or(|(at, _)| *at <= index);
            if newest {
                self.answer = Some((index, last_bytes(entry.content.trim()).to_owned()));
            }
        }
        // An entry that has left the tail is not added again.
        let Some(place) = index.checked_sub(self.first) else { return };
        let text = text_of(entry);
        self.bytes += text.len() + 1;
        match self.texts.get_mut(place) {
            Some(old) => self.bytes -= std::mem::replace(old, text).len() + 1,
            None => self.texts.push_back(text),
        }
        self.shrink();
    }

    /// Continues the text without a new entry.
    pub fn append(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            match self.texts.back_mut() {
                Some(last) if !last.ends_with('\n') && last.len() < TAIL_BYTES => {
                    last.push_str(last_bytes(piece));
                    self.bytes += last_bytes(piece).len();
                }
                _ => {
                    self.bytes += last_bytes(piece).len() + 1;
                    self.texts.push_back(last_bytes(piece).to_owned());
                }
            }
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        while self.texts.len() > 1 && self.bytes > TAIL_BYTES {
            if let Some(text) = self.texts.pop_front() {
                self.bytes -= text.len() + 1;
                self.first += 1;
            }
        }
    }

    pub fn text(&self, ending: Ending) -> String {
        let mut out = String::with_capacity(self.bytes);
        for text in &self.texts {
            push_line(&mut out, text);
        }
        if let Some((index, answer)) = &self.answer
            && ending == Ending::Answer
            && *index + 1 != self.first + self.texts.len()
        {
            push_line(&mut out, answer);
        }
        last_bytes(out.trim_end()).to_owned()
    }
}

fn push_line(out: &mut String, text: &str) {
    let text = text.trim_end();
    if text.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
}

fn last_bytes(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES))..]
}

fn text_of(entry: &NormalizedEntry) -> String {
    let EntryType::ToolUse { tool_name, action_type, .. } = &entry.entry_type else {
        return last_bytes(&entry.content).to_owned();
    };
    match action_type {
        ActionType::CommandRun { command, result } => {
            let output = result.as_ref().and_then(|result| result.output.as_deref()).unwrap_or_default();
            last_bytes(&format!("$ {command}\n{output}")).trim_end().to_owned()
        }
        _ if entry.content.starts_with(tool_name) => last_bytes(&entry.content).to_owned(),
        _ => last_bytes(&format!("{tool_name}: {}", entry.content)).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::entries::plain;
    use super::*;
    use forge_types::ErrorType;

    fn text(entries: &[NormalizedEntry]) -> String {
        let mut tail = Tail::default();
        for (index, entry) in entries.iter().enumerate() {
            tail.put(index, entry);
        }
        tail.text(Ending::Answer)
    }

    #[test]
    fn the_answer_is_last_and_the_length_bounded() {
        let error = EntryType::ErrorMessage { error_type: ErrorType::Other };
        let mut entries: Vec<_> =
            (0..20_000).map(|n| plain(EntryType::SystemMessage, format!("line {n}"))).collect();
        entries.push(plain(EntryType::AssistantMessage, "all done\n".into()));
        entries.push(plain(error, "a late warning\n".into()));
        let text = text(&entries);
        assert!(text.len() <= TAIL_BYTES, "{}", text.len());
        assert!(text.ends_with("line 19999\nall done\na late warning\nall done"), "{text}");
    }

    #[test]
    fn one_huge_entry_is_cut_from_the_front() {
        let text = text(&[plain(EntryType::AssistantMessage, format!("{}é!", "x".repeat(200_000)))]);
        assert!(text.len() <= TAIL_BYTES && text.ends_with("é!"));
    }
}
