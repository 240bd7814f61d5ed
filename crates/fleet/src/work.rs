//! A piece of work as the scorer and the router see it, whether it is a bead or a task.

use crate::beads::{Bead, Time};

/// 0 is the most urgent. Anything beyond 4 counts as 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(u8);

impl Priority {
    pub const LEAST: u8 = 4;

    pub fn new(value: u8) -> Self {
        Self(value.min(Self::LEAST))
    }

    pub fn get(self) -> u8 {
        self.0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub id: String,
    pub title: String,
    pub description: String,
    pub priority: Priority,
    /// `bug`, `feature`, `task`, …
    pub kind: String,
    pub labels: Vec<String>,
    /// Milliseconds since 1970.
    pub created_at_ms: i64,
    /// How many others wait for it.
    pub blocks: usize,
    /// How many files it is expected to touch, if known.
    pub files: Option<usize>,
}

impl From<&Bead> for Work {
    /// From the bead alone: how many wait for it is known only in its workspace.
    fn from(bead: &Bead) -> Self {
        let created = bead.created_at.as_ref().and_then(Time::at);
        Self {
            id: bead.id.clone(),
            title: bead.title.clone(),
            description: bead.description.clone().unwrap_or_default(),
            priority: Priority::new(u8::try_from(bead.priority().max(0)).unwrap_or(u8::MAX)),
            kind: bead.issue_type().to_owned(),
            labels: bead.labels.clone(),
            created_at_ms: created.map_or(0, |at| at.as_millisecond()),
            blocks: 0,
            files: None,
        }
    }
}
