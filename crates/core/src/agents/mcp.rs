//! The MCP servers of agent programs: read from and written to the user's own files.

use forge_run::agents::{self, Counts, Servers};
use forge_types::Executor;
use forge_types::wire::McpAnswer;

use crate::{Error, Forge, Result};

impl Forge {
    pub async fn mcp_config(&self, executor: Executor) -> Result<McpAnswer> {
        let read = tokio::task::spawn_blocking(move || agents::read_mcp(executor)).await;
        let read = read.map_err(|cause| Error::internal("cannot read the MCP servers", cause))?;
        let (mcp_config, config_path) = read.map_err(|error| Error::refused(error.to_string()))?;
        Ok(McpAnswer { mcp_config, config_path })
    }

    /// Makes these the servers of an agent program; returns what that changed, in words.
    pub async fn save_mcp_config(&self, executor: Executor, servers: Servers) -> Result<String> {
        let forge = self.clone();
        let write = move || {
            // Two at once would each undo what the other did.
            let _turn = forge.0.agents.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            agents::write_mcp(executor, &servers)
        };
        let written = tokio::task::spawn_blocking(write).await;
        let written = written.map_err(|cause| Error::internal("cannot write the MCP servers", cause))?;
        Ok(describe(written.map_err(|error| Error::refused(error.to_string()))?))
    }
}

/// Clients show, and some look for, exactly these words.
fn describe(counts: Counts) -> String {
    match counts {
        Counts { before: 0, after: 0 } => "No MCP servers configured".to_owned(),
        Counts { before: 0, after } => format!("Added {after} MCP server(s)"),
        Counts { before, after } if before == after => {
            format!("Updated MCP server configuration ({after} server(s))")
        }
        Counts { before, after } => format!("Updated MCP server configuration (was {before}, now {after})"),
    }
}
