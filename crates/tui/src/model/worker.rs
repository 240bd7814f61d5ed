//! A worker and its session.

use forge_types::{Millis, WorkerPhase};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Worker {
    #[serde(flatten)]
    pub facts: forge_types::Worker,
    /// Forge started or adopted it. Others are shown and left alone.
    #[serde(default)]
    pub managed: bool,
    #[serde(default)]
    pub has_session: bool,
    /// Somebody is attached to it.
    #[serde(default)]
    pub attached: bool,
}

impl Worker {
    /// From an event: events cover only Forge's own rows, and facts that they lack stay as `known` has them.
    pub(crate) fn from_event(facts: forge_types::Worker, known: Option<&Worker>) -> Worker {
        let has_session = facts.phase.is_live();
        Worker {
            attached: has_session && known.is_some_and(|known| known.attached),
            facts,
            managed: true,
            has_session,
        }
    }

    pub(crate) fn id(&self) -> &str {
        self.facts.id.as_str()
    }

    /// Whether Forge has a session of it, or is about to.
    pub(crate) fn is_kept(&self) -> bool {
        self.managed
            && (self.facts.phase.is_live()
                || matches!(self.facts.phase, WorkerPhase::Parked | WorkerPhase::Recovering))
    }

    /// When its current or last session was created.
    pub(crate) fn since(&self) -> Millis {
        self.facts.started_at.unwrap_or(self.facts.created_at)
    }

    /// The reason for its state, else what its status file says.
    pub(crate) fn last_word(&self) -> String {
        let status = self.facts.status.as_ref();
        let said = |key: &str| status.and_then(|status| status[key].as_str()).map(str::to_owned);
        self.facts.note.clone().or_else(|| said("message")).or_else(|| said("status")).unwrap_or_default()
    }

    /// When it last wrote its status file.
    pub(crate) fn last_sign(&self) -> Option<Millis> {
        let status = self.facts.status.as_ref()?;
        let times =
            ["last_update", "last_activity"].map(|key| serde_json::from_value(status[key].clone()).ok());
        times.into_iter().flatten().max_by_key(|at: &Millis| at.0)
    }
}

/// What workers can be started with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Means {
    pub launchers: Vec<Launcher>,
    pub definitions: Vec<Definition>,
    /// What is wrong with definitions.
    pub problems: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Launcher {
    pub name: String,
}

/// A worker of `workers.yaml`, or a type of `workers/`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Definition {
    pub name: String,
    pub launcher: String,
    pub model: String,
    pub tier: String,
    pub workspace: Option<String>,
}
