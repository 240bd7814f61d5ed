//! The state of a bead, in the word of its tracker.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Trackers may have words of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum BeadStatus {
    Open,
    InProgress,
    Blocked,
    Deferred,
    Closed,
    Pinned,
    Hooked,
    Draft,
    Tombstone,
    Other(String),
}

crate::shape::inline_schema! { BeadStatus => {"type": "string"} }

impl BeadStatus {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Deferred => "deferred",
            Self::Closed => "closed",
            Self::Pinned => "pinned",
            Self::Hooked => "hooked",
            Self::Draft => "draft",
            Self::Tombstone => "tombstone",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for BeadStatus {
    fn from(name: String) -> Self {
        match name.as_str() {
            "open" => Self::Open,
            "in_progress" => Self::InProgress,
            "blocked" => Self::Blocked,
            "deferred" => Self::Deferred,
            "closed" => Self::Closed,
            "pinned" => Self::Pinned,
            "hooked" => Self::Hooked,
            "draft" => Self::Draft,
            "tombstone" => Self::Tombstone,
            _ => Self::Other(name),
        }
    }
}

impl fmt::Display for BeadStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<BeadStatus> for String {
    fn from(status: BeadStatus) -> Self {
        status.to_string()
    }
}
