//! Identity. Every entity has its own id type so that a task id cannot be passed where an attempt id is meant.
//! Ids are random (v4): the first hex digits name branches, so they must differ between neighbours.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta] $name:ident),* $(,)?) => {$(
        #[$doc]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        crate::shape::inline_schema! { $name => {"type": "string", "format": "uuid"} }

        impl $name {
            /// A fresh random id.
            pub fn random() -> Self {
                Self(Uuid::new_v4())
            }

            /// The id as 32 hex digits without hyphens.
            pub fn hex(self) -> String {
                self.0.simple().to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::try_parse(text).map(Self)
            }
        }
    )*};
}

impl ApprovalId {
    /// The id of the question that the agent of `run` asked under `key`: the same for whoever reads the run's log.
    pub fn of(run: RunId, key: &str) -> Self {
        // Clients expect version 4, so the version bits say 4.
        let derived = Uuid::new_v5(&run.0, key.as_bytes());
        Self(uuid::Builder::from_random_bytes(derived.into_bytes()).into_uuid())
    }
}

id! {
    /// Something that a person should know.
    AlertId,
    /// A decision which worker gets a piece of work.
    RoutingId,
    /// A git repository known to Forge.
    ProjectId,
    /// A piece of work.
    TaskId,
    /// One try at a task, with its own branch and worktree.
    AttemptId,
    /// One process started for an attempt or an errand (the wire calls it an execution process).
    RunId,
    /// An agent invocation without a task (the wire calls it an execution run).
    ErrandId,
    /// A saved, not yet sent, prompt.
    DraftId,
    /// A record that work landed or is about to.
    MergeId,
    /// A question an agent asked.
    ApprovalId,
    /// A picture that prompts show.
    ImageId,
    /// A named piece of text for prompts.
    TagId,
    /// A task to begin from.
    TemplateId,
    /// A long-lived chat of a project.
    AgentId,
    /// A message sent to a messenger.
    NotificationId,
}
