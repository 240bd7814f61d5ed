//! The questions of an agent, asked of the person at the terminal one after another.
//!
//! Invariant: every question is asked once, in order, and dropped when anybody has answered it.

use std::collections::VecDeque;

use forge_types::{EntryType, NormalizedEntry, ToolStatus};

pub const CHOICE: &str = "  allow? [y]es / [n]o, with a reason / [s]top: ";
pub const REASON: &str = "  why not? (Enter for no reason): ";

#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub approval: String,
    pub index: usize,
    pub entry: NormalizedEntry,
}

#[derive(Default)]
pub struct Asks {
    open: VecDeque<Ask>,
}

/// What an entry's change means for the questions.
#[derive(Debug, PartialEq)]
pub enum Change {
    None,
    Asked(Ask),
    /// The question of that approval no longer needs an answer.
    Settled {
        approval: String,
    },
}

impl Asks {
    pub fn notice(&mut self, index: usize, entry: &NormalizedEntry) -> Change {
        let known = self.open.iter().position(|ask| ask.index == index);
        match (waiting_for(entry), known) {
            (Some(approval), Some(place)) if self.open[place].approval == approval => Change::None,
            (Some(approval), known) => {
                known.and_then(|place| self.open.remove(place));
                let ask = Ask { approval: approval.to_owned(), index, entry: entry.clone() };
                self.open.push_back(ask.clone());
                Change::Asked(ask)
            }
            (None, Some(place)) => match self.open.remove(place) {
                Some(ask) => Change::Settled { approval: ask.approval },
                None => Change::None,
            },
            (None, None) => Change::None,
        }
    }

    pub fn first(&self) -> Option<&Ask> {
        self.open.front()
    }

    pub fn take_first(&mut self) -> Option<Ask> {
        self.open.pop_front()
    }

    pub fn clear(&mut self) {
        self.open.clear();
    }
}

fn waiting_for(entry: &NormalizedEntry) -> Option<&str> {
    match &entry.entry_type {
        EntryType::ToolUse { status: ToolStatus::PendingApproval { approval_id, .. }, .. } => {
            Some(approval_id)
        }
        _ => None,
    }
}

/// What a typed line means as an answer to [`CHOICE`].
#[derive(Debug, PartialEq, Eq)]
pub enum Choice {
    Allow,
    Deny {
        reason: String,
    },
    /// No reason was given yet.
    AskReason,
    Stop,
    Unclear,
}

pub fn read_choice(line: &str) -> Choice {
    let (word, rest) = line.trim().split_once([' ', ',', ':']).unwrap_or((line.trim(), ""));
    match (word.to_lowercase().as_str(), rest.trim()) {
        ("y" | "yes", "") => Choice::Allow,
        ("n" | "no", "") => Choice::AskReason,
        ("n" | "no", reason) => Choice::Deny { reason: reason.to_owned() },
        ("s" | "stop", "") => Choice::Stop,
        _ => Choice::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_types::ActionType;

    fn call(status: ToolStatus) -> NormalizedEntry {
        let action_type = ActionType::Other { description: "x".to_owned() };
        let entry_type = EntryType::ToolUse { tool_name: "X".to_owned(), action_type, status };
        NormalizedEntry { timestamp: None, entry_type, content: String::new(), metadata: None }
    }

    fn pending(id: &str) -> NormalizedEntry {
        let at = String::new;
        call(ToolStatus::PendingApproval { approval_id: id.to_owned(), requested_at: at(), timeout_at: at() })
    }

    #[test]
    fn a_question_is_asked_once_and_dropped_when_answered() {
        let mut asks = Asks::default();
        assert_eq!(asks.notice(3, &call(ToolStatus::Created)), Change::None);
        assert!(matches!(asks.notice(3, &pending("a")), Change::Asked(_)));
        assert_eq!(asks.notice(3, &pending("a")), Change::None);
        assert!(matches!(asks.notice(4, &pending("b")), Change::Asked(_)));
        assert_eq!(asks.first().map(|ask| ask.approval.as_str()), Some("a"));
        let answered = call(ToolStatus::Denied { reason: None });
        assert_eq!(asks.notice(3, &answered), Change::Settled { approval: "a".to_owned() });
        assert_eq!(asks.first().map(|ask| ask.approval.as_str()), Some("b"));
    }

    #[test]
    fn only_clear_words_are_answers() {
        for (line, want) in [
            ("y", Choice::Allow),
            (" YES\n", Choice::Allow),
            ("n", Choice::AskReason),
            ("no use pnpm", Choice::Deny { reason: "use pnpm".to_owned() }),
            ("n: use pnpm", Choice::Deny { reason: "use pnpm".to_owned() }),
            ("s", Choice::Stop),
            ("", Choice::Unclear),
            ("yes please", Choice::Unclear),
            ("maybe", Choice::Unclear),
        ] {
            assert_eq!(read_choice(line), want, "{line:?}");
        }
    }
}
