//! Agents as a machine has them: their profiles, their MCP servers, and which of them are installed.

mod acp;
mod mcp;
mod profiles;
mod setup;
mod survey;
