//! A piece of work as the scorer and the router see it, whether it is a bead or a task.

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
    /// How many files it is expected to touch, when somebody said so.
    pub files: Option<usize>,
}
