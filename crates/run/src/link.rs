//! The messages between keeper and server: JSON lines.
//!
//! Invariant: messages about the journal's length may be skipped (only the newest matters); those about the end and
//! replies to orders may not. The length of a line is bounded on both sides.

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
    /// The keeper itself failed; there is no run.
    Broken {
        reason: String,
        disk_full: bool,
    },
}

/// Server to keeper. An order with an id gets a reply.
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
    /// The agent waits for a person: its silence does not count until it receives input.
    Hold,
    /// Writes a remark into the journal.
    Note {
        text: String,
    },
    Stop {
        interrupt: Option<String>,
        /// The reason; written into the journal first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

/// Keeper to server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeeperMessage {
    /// Bytes in the journal.
    Len(u64),
    Reply {
        id: u64,
        error: Option<String>,
    },
    Exit(Exit),
}

/// A message as one line of the wire.
pub(crate) fn encode_line(message: &impl Serialize) -> Vec<u8> {
    // Serialising fails only for maps whose keys are not strings, which these types do not have.
    let mut bytes = serde_json::to_vec(message).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
