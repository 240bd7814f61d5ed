//! A bead of a project.
//!
//! Invariant: every bead is in exactly one section, whatever its tracker calls its state.

use forge_types::{BeadStatus, Millis, ProjectId, wire};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bead {
    /// The project whose list it comes from.
    pub project: ProjectId,
    pub facts: wire::Bead,
    /// Trackers write times in many ways; an unreadable one is ignored.
    pub updated_at: Option<Millis>,
}

/// The sections of the list, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    Ready,
    InProgress,
    /// It waits: for other beads, for a day, or for whatever its tracker calls it.
    Blocked,
    Parked,
    Closed,
}

impl Section {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Section::Ready => "Ready",
            Section::InProgress => "In progress",
            Section::Blocked => "Blocked",
            Section::Parked => "Parked",
            Section::Closed => "Closed",
        }
    }
}

impl Bead {
    pub(crate) fn new(project: ProjectId, facts: wire::Bead) -> Self {
        let updated_at = facts.updated_at.as_ref().and_then(|text| text.parse().ok());
        Self { project, facts, updated_at }
    }

    pub(crate) fn title(&self) -> &str {
        self.facts.title.as_deref().unwrap_or_default()
    }

    pub(crate) fn section(&self) -> Section {
        let standing = &self.facts.standing;
        match self.facts.status() {
            BeadStatus::Closed => Section::Closed,
            _ if standing.parked.is_some() => Section::Parked,
            BeadStatus::InProgress => Section::InProgress,
            BeadStatus::Open if standing.ready => Section::Ready,
            _ => Section::Blocked,
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.section() == Section::Closed
    }

    /// Its state in a word: the section's, or the tracker's where that is more exact.
    pub(crate) fn word(&self) -> String {
        match (self.section(), self.facts.status()) {
            (Section::Blocked, status) if *status != BeadStatus::Open => status.as_str().replace('_', " "),
            (section, _) => section.title().to_lowercase(),
        }
    }

    /// Who has it: Forge's name for the holder, or the tracker's.
    pub(crate) fn holder(&self) -> Option<&str> {
        let lease = self.facts.standing.lease.as_ref().map(|lease| lease.worker.as_str());
        lease.or(self.facts.assignee.as_deref()).filter(|name| !name.is_empty())
    }

    /// 0 is the most urgent.
    pub(crate) fn urgency(&self) -> i64 {
        self.facts.priority.unwrap_or(0)
    }

    pub(crate) fn kind(&self) -> &str {
        self.facts.issue_type.as_deref().unwrap_or("task")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use serde_json::{Value, json};

    fn stands(status: &str, standing: Value) -> (Section, String) {
        let bead = fixture::bead(json!({"id": "a", "status": status}), standing);
        (bead.section(), bead.word())
    }

    #[test]
    fn every_state_has_its_section_and_strange_ones_wait() {
        let ready = json!({"ready": true});
        assert_eq!(stands("open", ready), (Section::Ready, "ready".to_owned()));
        let waits = json!({"ready": false, "blocked_by": ["b"]});
        assert_eq!(stands("open", waits), (Section::Blocked, "blocked".to_owned()));
        assert_eq!(stands("deferred", json!({})), (Section::Blocked, "deferred".to_owned()));
        assert_eq!(stands("on_ice", json!({})), (Section::Blocked, "on ice".to_owned()));
        let parked = json!({"ready": true, "parked": "failed three times"});
        assert_eq!(stands("open", parked.clone()), (Section::Parked, "parked".to_owned()));
        assert_eq!(stands("closed", parked), (Section::Closed, "closed".to_owned()));
        assert_eq!(stands("in_progress", json!({})), (Section::InProgress, "in progress".to_owned()));
    }

    #[test]
    fn a_bead_without_a_readable_time_is_still_a_bead() {
        let at = |text: &str| fixture::bead(json!({"id": "a", "updated_at": text}), json!({})).updated_at;
        assert_eq!(at("1970-01-01T00:00:01Z"), Some(Millis(1000)));
        assert_eq!(at("last week"), None);
    }
}
