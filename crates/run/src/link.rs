//! What keeper and server say to each other: JSON lines.
//!
//! Invariant: news of the journal's length may be skipped (only the newest matters), news of the end and answers to
//! orders are not. A line's length is bounded on both sides.

use forge_os::process::Identity;
use serde::{Deserialize, Serialize};

use crate::Exit;

/// The longest line either side accepts.
pub(crate) const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// The first and only line on the keeper's stdout.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Handshake {
    Started(Identity),
    /// The agent could not be started; the run has ended.
    Failed {
        reason: String,
        not_found: bool,
    },
    /// The keeper itself could not do its work; there is no run.
    Broken {
        reason: String,
        disk_full: bool,
    },
}

/// Server to keeper. An order with an id is answered.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u64>,
    #[serde(flatten)]
    pub(crate) op: Op,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum Op {
    Stdin {
        data: String,
    },
    CloseStdin,
    /// The agent waits for a person: its silence is no fault until it is told something.
    Hold,
    /// Writes a remark into the journal.
    Note {
        text: String,
    },
    Stop {
        interrupt: Option<String>,
        /// Why; written into the journal first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

/// Keeper to server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum News {
    /// Bytes in the journal.
    Len(u64),
    Reply {
        id: u64,
        error: Option<String>,
    },
    Exit(Exit),
}

/// A message as it goes over the wire.
pub(crate) fn line(message: &impl Serialize) -> Vec<u8> {
    // None of these types has a map with keys that are no strings, the only way this can fail.
    let mut bytes = serde_json::to_vec(message).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
