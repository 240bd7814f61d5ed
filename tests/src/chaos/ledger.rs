//! What the tale asked for and what it was answered: whatever was acknowledged has to be true in the end.

use std::collections::{BTreeMap, BTreeSet};

use crate::Rng;

/// Who works on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A script that writes lines.
    Worker,
    /// An agent that asks before it acts.
    Asker,
}

/// Whether a task is still to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existence {
    There,
    /// It was asked to go; the server died before it answered.
    Unknown,
    Gone,
}

/// A task with its attempt, as the answer to its start said.
#[derive(Clone, Debug)]
pub struct Known {
    pub task: String,
    pub attempt: String,
    pub branch: String,
    pub kind: Kind,
    pub existence: Existence,
    /// Somebody asked for a stop, so that its runs may say so.
    pub stopped: bool,
    pub merges: usize,
    /// Somebody is busy with its draft.
    drafting: bool,
}

/// What became of a text for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has a run: this one, where the answer named it.
    Taken(Option<String>),
    /// It lies in the draft, or has been sent.
    Kept,
    /// It must not be there.
    Refused,
    /// No answer came.
    Unknown,
}

#[derive(Clone, Debug)]
pub struct Text {
    pub attempt: Option<String>,
    pub fate: Fate,
}

#[derive(Default)]
pub struct Ledger {
    known: Vec<Known>,
    pub texts: BTreeMap<String, Text>,
    pub killed_keepers: BTreeSet<String>,
    pub killed_agents: BTreeSet<String>,
    /// Questions and how they were answered, where the answer was taken.
    pub answers: BTreeMap<String, Vec<bool>>,
    /// Runs and how their question was answered.
    pub decisions: BTreeMap<String, bool>,
}

impl Ledger {
    /// A word that no other text has.
    pub fn token(&mut self) -> String {
        let token = format!("t{:05}q", self.texts.len());
        self.texts.insert(token.clone(), Text { attempt: None, fate: Fate::Unknown });
        token
    }

    pub fn note_text(&mut self, token: &str, attempt: Option<&str>, fate: Fate) {
        self.texts.insert(token.to_owned(), Text { attempt: attempt.map(str::to_owned), fate });
    }

    pub fn add(&mut self, task: &str, attempt: &str, branch: String, kind: Kind) {
        let (task, attempt) = (task.to_owned(), attempt.to_owned());
        let existence = Existence::There;
        self.known.push(Known {
            task,
            attempt,
            branch,
            kind,
            existence,
            stopped: false,
            merges: 0,
            drafting: false,
        });
    }

    pub fn known(&self) -> &[Known] {
        &self.known
    }

    pub fn of(&mut self, attempt: &str) -> Option<&mut Known> {
        self.known.iter_mut().find(|known| known.attempt == attempt)
    }

    fn there(&self) -> impl Iterator<Item = &Known> {
        self.known.iter().filter(|known| known.existence == Existence::There)
    }

    pub fn count(&self) -> usize {
        self.there().count()
    }

    pub fn pick(&self, rng: &mut Rng) -> Option<Known> {
        let there: Vec<&Known> = self.there().collect();
        (!there.is_empty()).then(|| (*rng.pick(&there)).clone())
    }

    /// Takes the draft of an attempt: of two at once nobody could say whose text is whose.
    pub fn take_draft(&mut self, attempt: &str) -> bool {
        self.of(attempt).is_some_and(|known| !std::mem::replace(&mut known.drafting, true))
    }

    pub fn leave_draft(&mut self, attempt: &str) {
        if let Some(known) = self.of(attempt) {
            known.drafting = false;
        }
    }
}
