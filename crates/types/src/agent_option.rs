//! The options that a variant of an agent may have.
//!
//! Invariant: what clients offer and what a profile may hold follow from the same value.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// An option, as a profile holds it and as a form shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AgentOption {
    /// Its key in a profile.
    pub key: &'static str,
    pub label: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
    #[serde(flatten)]
    pub kind: OptionKind,
}

/// The type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OptionKind {
    Flag,
    /// One line.
    Text,
    LongText,
    /// A list of texts.
    Lines,
    Choice {
        choices: &'static [&'static str],
    },
}

#[derive(JsonSchema)]
#[schemars(rename = "AgentOption")]
#[expect(dead_code, reason = "only described")]
struct OptionShape {
    key: String,
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    kind: OptionWord,
    /// Belongs to `kind` choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[schemars(rename = "OptionKind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only described")]
enum OptionWord {
    Flag,
    Text,
    LongText,
    Lines,
    Choice,
}

crate::shape::shaped! { AgentOption => OptionShape }

impl AgentOption {
    pub const fn new(key: &'static str, label: &'static str, kind: OptionKind) -> AgentOption {
        AgentOption { key, label, hint: None, kind }
    }

    pub const fn flag(key: &'static str, label: &'static str) -> AgentOption {
        AgentOption::new(key, label, OptionKind::Flag)
    }

    pub const fn text(key: &'static str, label: &'static str) -> AgentOption {
        AgentOption::new(key, label, OptionKind::Text)
    }

    pub const fn choice(
        key: &'static str,
        label: &'static str,
        choices: &'static [&'static str],
    ) -> AgentOption {
        AgentOption::new(key, label, OptionKind::Choice { choices })
    }

    pub const fn lines(key: &'static str, label: &'static str) -> AgentOption {
        AgentOption::new(key, label, OptionKind::Lines).hint("One per line.")
    }

    #[must_use]
    pub const fn hint(self, hint: &'static str) -> AgentOption {
        AgentOption { hint: Some(hint), ..self }
    }
}

impl OptionKind {
    pub fn allows(self, value: &Value) -> bool {
        match self {
            OptionKind::Flag => value.is_boolean(),
            OptionKind::Text | OptionKind::LongText => value.is_string(),
            OptionKind::Lines => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            OptionKind::Choice { choices } => value.as_str().is_some_and(|word| choices.contains(&word)),
        }
    }

    /// The values that it allows, for a message.
    pub fn allowed(self) -> String {
        match self {
            OptionKind::Flag => "true or false".into(),
            OptionKind::Text | OptionKind::LongText => "a string".into(),
            OptionKind::Lines => "an array of strings".into(),
            OptionKind::Choice { choices } => choices.join(", "),
        }
    }
}
