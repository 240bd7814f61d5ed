//! Agents as this machine has them: their profiles, their MCP servers and which of them are installed.
//!
//! Owns `profiles.json` and the last survey. Invariant: an agent's own files change only when the user says so.

pub(crate) mod mcp;
pub(crate) mod profile;
pub(crate) mod survey;
