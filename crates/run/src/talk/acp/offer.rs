//! The options that an agent offers as answers to a permission request.
//!
//! Owns the options of the waiting requests. Invariants: an option is chosen by its kind, since ids and order are
//! the agent's own; bounded, and a forgotten request is answered as cancelled.

use std::collections::VecDeque;

use serde_json::Value;

const MAX_WAITING: usize = 64;
const MAX_OPTIONS: usize = 16;

/// What a chosen option means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Allow,
    Reject,
}

#[derive(Default)]
pub(crate) struct Offers(VecDeque<(String, Vec<Choice>)>);

struct Choice {
    id: String,
    kind: String,
}

impl Offers {
    /// Notes the options of the request `key`.
    pub fn note(&mut self, key: &str, params: &Value) {
        if self.0.len() == MAX_WAITING {
            self.0.pop_front();
        }
        let options = params["options"].as_array().into_iter().flatten().take(MAX_OPTIONS);
        let choice = |option: &Value| {
            let text = |key: &str| option[key].as_str().map(str::to_owned);
            Some(Choice { id: text("optionId")?, kind: text("kind")? })
        };
        self.0.push_back((key.to_owned(), options.filter_map(choice).collect()));
    }

    /// The first option with one of these kinds, in their order.
    pub fn pick(&self, key: &str, kinds: [&str; 2]) -> Option<&str> {
        let options = self.of(key)?;
        let of_kind = |kind: &str| options.iter().find(|option| option.kind == kind);
        kinds.into_iter().find_map(of_kind).map(|option| option.id.as_str())
    }

    pub fn meaning(&self, key: &str, id: &str) -> Option<Meaning> {
        let option = self.of(key)?.iter().find(|option| option.id == id)?;
        match option.kind.split('_').next() {
            Some("allow") => Some(Meaning::Allow),
            _ => Some(Meaning::Reject),
        }
    }

    /// The request was answered.
    pub fn forget(&mut self, key: &str) {
        self.0.retain(|(waiting, _)| waiting != key);
    }

    fn of(&self, key: &str) -> Option<&[Choice]> {
        self.0.iter().find(|(waiting, _)| waiting == key).map(|(_, options)| options.as_slice())
    }
}
