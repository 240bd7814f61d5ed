//! What workers report about themselves, in one of seven words.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerStatus {
    /// Working on a task.
    Active,
    /// Running without a task.
    Idle,
    Starting,
    /// Takes no new task.
    Paused,
    /// Crashed.
    Failed,
    /// Ended on purpose.
    Stopped,
    /// Its status file cannot be understood.
    Error,
}

impl WorkerStatus {
    pub const ALL: [WorkerStatus; 7] = [
        WorkerStatus::Active,
        WorkerStatus::Idle,
        WorkerStatus::Starting,
        WorkerStatus::Paused,
        WorkerStatus::Failed,
        WorkerStatus::Stopped,
        WorkerStatus::Error,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            WorkerStatus::Active => "active",
            WorkerStatus::Idle => "idle",
            WorkerStatus::Starting => "starting",
            WorkerStatus::Paused => "paused",
            WorkerStatus::Failed => "failed",
            WorkerStatus::Stopped => "stopped",
            WorkerStatus::Error => "error",
        }
    }

    /// Reads the word in any case. `spawned` is what some launchers write for a worker that is starting.
    pub fn parse(word: &str) -> Option<WorkerStatus> {
        let word = word.trim();
        if word.eq_ignore_ascii_case("spawned") {
            return Some(WorkerStatus::Starting);
        }
        WorkerStatus::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(word))
    }

    pub fn is_healthy(self) -> bool {
        !matches!(self, WorkerStatus::Failed | WorkerStatus::Stopped | WorkerStatus::Error)
    }

    /// The sign for people. Terminals disagree about the width of some, so anything that must be aligned needs a jump
    /// to its column after them.
    pub fn emoji(self) -> &'static str {
        match self {
            WorkerStatus::Active => "✅",
            WorkerStatus::Idle => "💤",
            WorkerStatus::Starting => "🔄",
            WorkerStatus::Paused => "⏸️",
            WorkerStatus::Failed => "❌",
            WorkerStatus::Stopped => "⏹️",
            WorkerStatus::Error => "⚠️",
        }
    }
}

impl fmt::Display for WorkerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_sign_and_is_healthy_or_not() {
        let signs: std::collections::BTreeSet<&str> = WorkerStatus::ALL.map(WorkerStatus::emoji).into();
        assert_eq!(signs.len(), WorkerStatus::ALL.len());
        for status in WorkerStatus::ALL {
            assert_eq!(WorkerStatus::parse(&status.as_str().to_uppercase()), Some(status));
        }
        let healthy: Vec<_> = WorkerStatus::ALL.into_iter().filter(|status| status.is_healthy()).collect();
        use WorkerStatus::{Active, Idle, Paused, Starting};
        assert_eq!(healthy, [Active, Idle, Starting, Paused]);
        assert_eq!(WorkerStatus::parse("spawned"), Some(Starting));
        assert_eq!(WorkerStatus::parse("busy"), None);
    }
}
