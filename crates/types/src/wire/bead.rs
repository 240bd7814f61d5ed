//! Beads as their tracker has them, with Forge's record of who works on them.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{BeadStatus, Lease, TaskId};

/// A piece of work as its tracker has it; fields that the tracker adds are included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bead {
    pub id: String,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub design: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub acceptance_criteria: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub status: Option<BeadStatus>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub issue_type: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub close_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<BeadDependency>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<BeadComment>,
    pub standing: BeadStanding,
    /// Fields that the tracker adds.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Trackers write what they like: a field of an unexpected type counts as missing, and hides no other.
fn lenient<'de, T: DeserializeOwned + Default, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Value::deserialize(from).map(|value| serde_json::from_value(value).unwrap_or_default())
}

impl Bead {
    pub fn status(&self) -> &BeadStatus {
        self.status.as_ref().unwrap_or(&BeadStatus::Open)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BeadDependency {
    pub depends_on_id: String,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BeadComment {
    /// A number or a text, depending on the tracker.
    pub id: Value,
    pub author: String,
    pub text: String,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BeadStanding {
    /// It can be worked on now.
    pub ready: bool,
    /// What must be closed before.
    pub blocked_by: Vec<String>,
    pub lease: Option<Lease>,
    pub failures: u32,
    /// Why it waits for a person, if it does.
    pub parked: Option<String>,
    pub task_id: Option<TaskId>,
}

/// A dependency; `added` is false when it already existed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BeadLink {
    pub bead: String,
    pub depends_on: String,
    pub added: bool,
}

/// A dependency; `removed` is false when there was none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BeadUnlink {
    pub bead: String,
    pub depends_on: String,
    pub removed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_bead_is_read_whatever_its_tracker_wrote_in_a_field() {
        let odd = json!({
            "id": "a", "title": 7, "priority": "high", "labels": null, "dependencies": {}, "comments": [1],
            "standing": {"ready": true, "blocked_by": [], "failures": 0}, "own": "kept",
        });
        let bead: Bead = serde_json::from_value(odd).unwrap();
        assert_eq!((bead.title.as_deref(), bead.priority, bead.labels.len()), (None, None, 0));
        assert_eq!((bead.standing.ready, bead.rest.get("own")), (true, Some(&json!("kept"))));
    }
}
