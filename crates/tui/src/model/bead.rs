//! A bead, with the fields that are shown; trackers differ in the rest.
//!
//! Invariant: every bead is in exactly one section, whatever its tracker calls its state.

use forge_types::{Millis, ProjectId};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Bead {
    pub id: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub status: Option<String>,
    #[serde(default)]
    pub issue_type: Option<String>,
    #[serde(default)]
    pub standing: Standing,
    #[serde(default)]
    pub priority: Option<i64>,
    #[serde(default)]
    pub assignee: Option<String>,
    #[serde(default)]
    pub labels: Vec<String>,
    #[serde(default)]
    pub dependencies: Vec<Dependency>,
    #[serde(default)]
    pub comments: Vec<Comment>,
    #[serde(default)]
    pub close_reason: Option<String>,
    #[serde(default, deserialize_with = "moment")]
    pub updated_at: Option<Millis>,
    /// The project whose list it comes from.
    #[serde(skip)]
    pub project: Option<ProjectId>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Dependency {
    pub depends_on_id: String,
    #[serde(rename = "type", default)]
    pub kind: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Comment {
    #[serde(default)]
    pub author: String,
    #[serde(default)]
    pub text: String,
}

/// What Forge itself knows about a bead.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Standing {
    pub ready: bool,
    pub blocked_by: Vec<String>,
    pub lease: Option<Held>,
    pub failures: u32,
    /// Why it needs a person, if it does.
    pub parked: Option<String>,
}

/// Who holds a bead through Forge.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Held {
    pub worker: String,
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
    pub(crate) fn section(&self) -> Section {
        match self.status.as_deref().unwrap_or("open") {
            "closed" => Section::Closed,
            _ if self.standing.parked.is_some() => Section::Parked,
            "in_progress" => Section::InProgress,
            "open" if self.standing.ready => Section::Ready,
            _ => Section::Blocked,
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.section() == Section::Closed
    }

    /// Its state in a word: the section's, or the tracker's where that is more exact.
    pub(crate) fn word(&self) -> String {
        match (self.section(), self.status.as_deref()) {
            (Section::Blocked, Some(status)) if status != "open" => status.replace('_', " "),
            (section, _) => section.title().to_lowercase(),
        }
    }

    /// Who has it: Forge's name for the holder, or the tracker's.
    pub(crate) fn holder(&self) -> Option<&str> {
        let held = self.standing.lease.as_ref().map(|held| held.worker.as_str());
        held.or(self.assignee.as_deref()).filter(|name| !name.is_empty())
    }

    /// 0 is the most urgent.
    pub(crate) fn urgency(&self) -> i64 {
        self.priority.unwrap_or(0)
    }
}

/// Trackers write times in many ways; an unreadable one is ignored.
fn moment<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Millis>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stands(status: &str, standing: Value) -> (Section, String) {
        let bead = json!({"id": "a", "status": status, "standing": standing});
        let bead: Bead = serde_json::from_value(bead).expect("a bead");
        (bead.section(), bead.word())
    }

    #[test]
    fn every_state_has_its_section_and_strange_ones_wait() {
        let ready = json!({"ready": true});
        assert_eq!(stands("open", ready), (Section::Ready, "ready".to_owned()));
        let waits = json!({"ready": false, "blocked_by": ["b"]});
        assert_eq!(stands("open", waits), (Section::Blocked, "blocked".to_owned()));
        assert_eq!(stands("deferred", json!({})), (Section::Blocked, "deferred".to_owned()));
        let parked = json!({"ready": true, "parked": "failed three times"});
        assert_eq!(stands("open", parked.clone()), (Section::Parked, "parked".to_owned()));
        assert_eq!(stands("closed", parked), (Section::Closed, "closed".to_owned()));
        assert_eq!(stands("in_progress", json!({})), (Section::InProgress, "in progress".to_owned()));
    }
}
