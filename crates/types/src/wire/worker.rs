//! Workers as they are listed, and what can be asked of them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Health, Worker, WorkerId, WorkerPhase, WorkerTier};

/// A worker, and what is seen of it right now. Workers that are not managed are sessions of others, which Forge leaves
/// alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "Worker"))]
pub struct ListedWorker {
    #[serde(flatten)]
    pub worker: Worker,
    /// Forge started or adopted it.
    pub managed: bool,
    pub has_session: bool,
    /// Somebody looks at it.
    pub attached: bool,
    /// The tmux server that its session is on.
    pub socket: PathBuf,
    /// Where its output is kept when it works without a person.
    pub log: PathBuf,
}

/// How one worker is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "Health"))]
pub struct WorkerHealth {
    pub id: WorkerId,
    pub phase: WorkerPhase,
    #[serde(flatten)]
    pub health: Health,
    pub note: Option<String>,
}

/// How all workers are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkersHealth {
    pub healthy: usize,
    pub degraded: usize,
    pub critical: usize,
    pub failed: usize,
    pub workers: Vec<WorkerHealth>,
}

/// A launcher that workers can be started with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LauncherFile {
    pub name: String,
    pub path: PathBuf,
    /// It is unchanged since it came with Forge.
    pub shipped: bool,
}

/// A worker of `workers.yaml`, or a type of `workers/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerDefinition {
    pub name: String,
    pub launcher: String,
    pub model: String,
    pub tier: WorkerTier,
    /// Where it works, if the definition says so.
    pub workspace: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerDefinitions {
    pub definitions: Vec<WorkerDefinition>,
    /// What could not be read, and keys that nobody knows.
    pub problems: Vec<String>,
}

/// How a launcher takes its arguments. The environment is the same for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallStyle {
    /// `launcher SESSION`
    #[default]
    Positional,
    /// `launcher --model=M --workspace=DIR --session-name=S [--bead-ref=ID] [--config=FILE]`
    Flags,
    /// `launcher MODEL WORKSPACE SESSION`
    ModelWorkspaceSession,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StopWorker {
    /// How long the worker may take to leave before it is killed.
    pub timeout_secs: Option<u64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PauseWorker {
    pub reason: String,
    /// Stops its processes too.
    pub freeze: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SendToWorker {
    pub line: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReassignWorker {
    /// A bead of the worker's workspace that is ready.
    pub bead: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerPane {
    pub text: String,
}
