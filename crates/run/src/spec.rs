//! What a run should be and how it ended.
//!
//! Owns: [`Spec`], written once by the server and read once by the keeper, and [`Exit`], written once by the keeper.
//! Invariant: a spec contains environment values, so it exists only in a file of mode 600 that the keeper deletes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Everything a keeper needs to start an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    pub program: PathBuf,
    pub args: Vec<String>,
    pub cwd: PathBuf,
    /// Added to the inherited environment, after `env_remove`.
    pub env: Vec<(String, String)>,
    /// Variables that neither the keeper nor the agent inherits.
    pub env_remove: Vec<String>,
    pub stdin: StdinPlan,
    /// The run is stopped this long after its start.
    pub time_limit_ms: Option<u64>,
    /// The run is stopped after this long without output or input.
    pub silence_limit_ms: Option<u64>,
}

/// The agent's stdin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StdinPlan {
    Closed,
    /// The text, then end of file.
    Feed {
        text: String,
    },
    /// The lines, then whatever is sent later; end of file after the first stdout line that matches `close_on`, so
    /// that the agent finishes even when no server runs.
    Duplex {
        first: Vec<String>,
        close_on: Option<Cue>,
    },
}

/// A line by which an agent reports that it is done: a JSON object with this content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cue {
    Type(String),
    /// This method, about the thread that the first reply named: an agent with sub-agents reports their ends too.
    /// Both fields are JSON pointers.
    Method {
        method: String,
        named_at: String,
        // The name on the wire: a server and a keeper may be of different versions.
        #[serde(rename = "told_at")]
        subject_at: String,
    },
    /// The reply to the request with this id.
    Reply(u64),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub reason: ExitReason,
    pub at_ms: i64,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// On its own.
    Exited,
    /// It was stopped.
    Stopped,
    TimeLimit,
    Silence,
    NeverStarted {
        message: String,
        /// The program itself does not exist.
        not_found: bool,
    },
    /// The keeper is gone without a record of the end.
    Vanished,
}
