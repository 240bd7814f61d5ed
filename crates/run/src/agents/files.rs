//! Where each agent program keeps its own configuration, and what it is able to do.
//!
//! Invariant: paths follow the environment of the server (`HOME`, `XDG_CONFIG_HOME`) at the moment of asking.

use std::path::PathBuf;

use forge_types::Executor;

/// The file in which an agent program looks for MCP servers; none for agents that know no MCP.
pub fn config_file(executor: Executor) -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME").filter(|home| !home.is_empty())?);
    let config = match std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from) {
        Some(config) if config.is_absolute() => config,
        _ => home.join(".config"),
    };
    Some(match executor {
        Executor::ClaudeCode => home.join(".claude.json"),
        Executor::Codex => home.join(".codex/config.toml"),
        Executor::Gemini => home.join(".gemini/settings.json"),
        Executor::QwenCode => home.join(".qwen/settings.json"),
        Executor::Amp => home.join(".config/amp/settings.json"),
        Executor::Opencode => {
            let (plain, commented) =
                (config.join("opencode/opencode.json"), config.join("opencode/opencode.jsonc"));
            if commented.exists() && !plain.exists() { commented } else { plain }
        }
        Executor::CursorAgent => home.join(".cursor/mcp.json"),
        Executor::Copilot => home.join(".copilot/mcp-config.json"),
        Executor::Droid => home.join(".factory/mcp.json"),
        Executor::Shell | Executor::Scripted | Executor::Acp => return None,
    })
}

/// What clients may offer for an executor.
pub fn capabilities(executor: Executor) -> &'static [&'static str] {
    match executor {
        Executor::ClaudeCode | Executor::Amp | Executor::Codex | Executor::Gemini | Executor::QwenCode => {
            &["SESSION_FORK"]
        }
        Executor::CursorAgent => &["SETUP_HELPER"],
        Executor::Opencode
        | Executor::Copilot
        | Executor::Droid
        | Executor::Acp
        | Executor::Shell
        | Executor::Scripted => &[],
    }
}
