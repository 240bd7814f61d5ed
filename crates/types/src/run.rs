//! One process of an attempt or an errand. The wire calls it an *execution process*.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Action, AttemptId, ErrandId, Millis, RunId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub id: RunId,
    pub owner: RunOwner,
    pub reason: RunReason,
    pub action: Action,
    pub before_head: Option<String>,
    pub after_head: Option<String>,
    pub status: RunStatus,
    pub phase: RunPhase,
    pub exit_code: Option<i32>,
    /// Soft-deleted by a retry or a replacement.
    pub dropped: bool,
    /// The agent's own conversation id.
    pub session_id: Option<String>,
    /// Last thing the agent said; becomes the commit message.
    pub summary: Option<String>,
    /// When the provider serves this run's agent again: the run waits for that, or waited for it.
    #[serde(default)]
    pub parked_until: Option<Millis>,
    /// The agent reported success, and nothing shows that it did anything.
    #[serde(default)]
    pub unverified: bool,
    /// Why its work could not be committed. It stays in the worktree, and the commit is tried again.
    #[serde(default)]
    pub commit_error: Option<String>,
    /// It failed because somebody has to install the agent, log in or give it a key first.
    #[serde(default)]
    pub setup_required: bool,
    /// Files in which the agent left conflicts of a stopped rebase, merge, cherry-pick or revert open.
    #[serde(default)]
    pub open_conflicts: Vec<String>,
    pub started_at: Millis,
    pub completed_at: Option<Millis>,
    pub created_at: Millis,
    pub updated_at: Millis,
}

impl Run {
    /// When it ended, by a clock that may have been set back since it started.
    pub fn end_time(&self, at: Millis) -> Millis {
        at.max(self.started_at)
    }
}

/// What a run works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOwner {
    Attempt(AttemptId),
    Errand(ErrandId),
}

impl RunOwner {
    pub fn attempt(self) -> Option<AttemptId> {
        match self {
            RunOwner::Attempt(id) => Some(id),
            RunOwner::Errand(_) => None,
        }
    }

    pub fn errand(self) -> Option<ErrandId> {
        match self {
            RunOwner::Errand(id) => Some(id),
            RunOwner::Attempt(_) => None,
        }
    }
}

/// Why a run exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunReason {
    SetupScript,
    CleanupScript,
    CodingAgent,
    DevServer,
}

/// What clients see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    Running,
    Completed,
    Failed,
    Killed,
}

/// Who is responsible for the run now. Recovery after a restart branches on this and on nothing else.
///
/// `Queued` waits for another run of its worktree; `Live` has a keeper or is about to get one (its run directory shows
/// which); `Parked` has no process and continues when its provider serves it again; `Ended` needs nothing more. A run
/// leaves `Live` only after its work is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunPhase {
    Queued,
    Live,
    Parked,
    Ended,
}

impl RunPhase {
    /// Whether the log of the run is complete.
    pub fn is_over(self) -> bool {
        matches!(self, RunPhase::Parked | RunPhase::Ended)
    }
}

macro_rules! words {
    ($($kind:ident { $($name:ident = $text:literal),* $(,)? })*) => {$(
        impl $kind {
            /// The word in the database and on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $($kind::$name => $text),* }
            }
        }

        impl std::str::FromStr for $kind {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok($kind::$name),)*
                    _ => Err(format!(concat!("unknown ", stringify!($kind), " '{}'"), text)),
                }
            }
        }
    )*};
}

words! {
    RunReason { SetupScript = "setupscript", CleanupScript = "cleanupscript", CodingAgent = "codingagent", DevServer = "devserver" }
    RunStatus { Running = "running", Completed = "completed", Failed = "failed", Killed = "killed" }
    RunPhase { Queued = "queued", Live = "live", Parked = "parked", Ended = "ended" }
}
