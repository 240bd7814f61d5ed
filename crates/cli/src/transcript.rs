//! The work of an agent as text for a terminal.
//!
//! Remembers what was printed, so that a changed entry prints only what is new: growing text continues where it
//! stopped, a tool call is one line when it begins and its result when it ends. Invariants: pure (changes in, text
//! out), nothing that has scrolled by is painted again, no text of an agent reaches the terminal with its control
//! characters, and memory is bounded by the newest [`REMEMBERED`] entries.

mod flow;

use std::collections::BTreeMap;

use forge_types::{EntryType, INTRODUCTION, NormalizedEntry, ToolStatus};

use flow::Flow;
pub use forge_tui::text::deed::question;
pub use forge_tui::text::{Colours, Ink, Line, Page, beginning, clean, deed};

/// Entries that may still change. Agents change their newest ones.
const REMEMBERED: usize = 128;

/// A frequent status message that means nothing to people.
const IDLE_TALK: &str = "System: status";

pub struct Transcript {
    page: Page,
    shown: BTreeMap<usize, Shown>,
    /// The entry whose text is last on the screen.
    bottom: Option<usize>,
    flow: Option<Flow>,
    group: Option<Group>,
}

/// How much of an entry was printed.
enum Shown {
    Text { printed: String },
    Deed { head: Vec<Line>, ended: bool },
}

/// Entries of one group have no blank lines between them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Speech,
    Thought,
    Deed,
    Note,
    Part,
}

/// How a text entry is marked.
struct Voice {
    ink: Ink,
    mark: &'static str,
    group: Group,
}

fn voice(kind: &EntryType) -> Option<Voice> {
    let (ink, mark, group) = match kind {
        EntryType::AssistantMessage => (Ink::Plain, "", Group::Speech),
        EntryType::Thinking => (Ink::Dim, "~ ", Group::Thought),
        EntryType::SystemMessage => (Ink::Dim, "· ", Group::Note),
        EntryType::ErrorMessage { .. } => (Ink::Red, "! ", Group::Note),
        EntryType::UserMessage | EntryType::UserFeedback { .. } => (Ink::Cyan, "> ", Group::Note),
        EntryType::ToolUse { .. } => return None,
    };
    Some(Voice { ink, mark, group })
}

impl Transcript {
    pub fn new(page: Page) -> Self {
        Self { page, shown: BTreeMap::new(), bottom: None, flow: None, group: None }
    }

    /// What to print now that the entry at `index` is `entry`.
    pub fn take(&mut self, index: usize, entry: &NormalizedEntry) -> String {
        let mut out = String::new();
        match voice(&entry.entry_type) {
            Some(voice) => self.write_text(index, entry, &voice, &mut out),
            None => self.show(index, entry, &mut out),
        }
        while self.shown.len() > REMEMBERED {
            self.shown.pop_first();
        }
        out
    }

    /// The output of a script continues with `text`.
    pub fn chunk(&mut self, text: &str) -> String {
        let mut out = String::new();
        if self.flow.is_none() || self.bottom.is_some() {
            self.begin(None, Group::Deed, &mut out);
            self.flow = Some(Flow::new(self.page, Ink::Dim, "  "));
        }
        if let Some(flow) = &mut self.flow {
            flow.push(&clean(text), &mut out);
        }
        out
    }

    /// Lines of our own between the entries.
    pub fn lines(&mut self, lines: &[Line]) -> String {
        self.block(Group::Note, lines)
    }

    /// Lines about an action, next to others of that kind.
    pub fn deed(&mut self, lines: &[Line]) -> String {
        self.block(Group::Deed, lines)
    }

    /// Lines of our own, separated from everything else.
    pub fn part(&mut self, lines: &[Line]) -> String {
        self.block(Group::Part, lines)
    }

    fn block(&mut self, group: Group, lines: &[Line]) -> String {
        let mut out = String::new();
        self.begin(None, group, &mut out);
        self.put(lines, &mut out);
        out
    }

    /// Shows the held-back part of the current line.
    pub fn rest(&mut self) -> String {
        let mut out = String::new();
        if let Some(flow) = &mut self.flow {
            flow.rest(&mut out);
        }
        out
    }

    /// Ends the current line.
    pub fn pause(&mut self) -> String {
        let mut out = String::new();
        if let Some(mut flow) = self.flow.take() {
            flow.end(&mut out);
        }
        out
    }

    /// Another run begins, with its own numbering of entries.
    pub fn turn(&mut self) -> String {
        self.shown.clear();
        self.bottom = None;
        self.pause()
    }

    fn write_text(&mut self, index: usize, entry: &NormalizedEntry, voice: &Voice, out: &mut String) {
        let text = clean(words(entry));
        if matches!(entry.entry_type, EntryType::SystemMessage) && text == IDLE_TALK {
            return;
        }
        let printed = match self.shown.get(&index) {
            Some(Shown::Text { printed }) => printed.as_str(),
            _ => "",
        };
        // Text that changed in its printed part is printed again; text that became shorter is not.
        let rest = match text.strip_prefix(printed) {
            Some(rest) => rest,
            None if printed.starts_with(text.as_str()) => "",
            None => text.as_str(),
        };
        if rest.is_empty() || (printed.is_empty() && rest.trim().is_empty()) {
            return;
        }
        let rest = rest.to_owned();
        if self.bottom != Some(index) || self.flow.is_none() {
            self.begin(Some(index), voice.group, out);
            self.flow = Some(Flow::new(self.page, voice.ink, voice.mark));
        }
        if let Some(flow) = &mut self.flow {
            flow.push(&rest, out);
        }
        self.shown.insert(index, Shown::Text { printed: text });
    }

    fn show(&mut self, index: usize, entry: &NormalizedEntry, out: &mut String) {
        let head = deed::head(entry);
        let ends = has_ended(entry);
        let (known, ended) = match self.shown.get(&index) {
            Some(Shown::Deed { head, ended }) => (Some(head), *ended),
            _ => (None, false),
        };
        // A call may get a better description later; a plan is one entry that changes.
        let printed = known.is_some_and(|known| *known == head || !(ends || deed::is_list(entry)));
        if !printed {
            self.begin(Some(index), Group::Deed, out);
            self.put(&head, out);
        }
        if ends && !ended {
            let result = deed::result(entry);
            if !result.is_empty() {
                if self.bottom != Some(index) {
                    self.begin(Some(index), Group::Deed, out);
                    self.put(&deed::reminder(&head), out);
                }
                self.put(&result, out);
            }
        }
        let head = if printed { self.known_head(index) } else { head };
        self.shown.insert(index, Shown::Deed { head, ended: ended || ends });
    }

    fn known_head(&mut self, index: usize) -> Vec<Line> {
        match self.shown.remove(&index) {
            Some(Shown::Deed { head, .. }) => head,
            _ => Vec::new(),
        }
    }

    /// Begins a block of lines, separated from a block of another kind.
    fn begin(&mut self, index: Option<usize>, group: Group, out: &mut String) {
        out.push_str(&self.pause());
        let apart =
            self.group.is_some_and(|last| last != group || matches!(group, Group::Speech | Group::Part));
        if apart {
            out.push('\n');
        }
        self.group = Some(group);
        self.bottom = index;
    }

    fn put(&self, lines: &[Line], out: &mut String) {
        for line in lines {
            line.put(self.page, out);
        }
    }
}

/// The text of an entry, without parts for machines.
fn words(entry: &NormalizedEntry) -> &str {
    let text = entry.content.trim_start_matches(['\n', '\r']);
    match entry.entry_type {
        EntryType::SystemMessage => text.strip_prefix(INTRODUCTION).unwrap_or(text),
        _ => text,
    }
}

fn has_ended(entry: &NormalizedEntry) -> bool {
    let EntryType::ToolUse { status, .. } = &entry.entry_type else { return false };
    !matches!(status, ToolStatus::Created | ToolStatus::PendingApproval { .. })
}

#[cfg(test)]
mod tests;
