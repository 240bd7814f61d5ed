//! opencode: its data.

use forge_types::{AgentOption, Executor};
use serde_json::{Value, json};

use super::acp::Acp;
use super::agent::{Agent, Driver, Software};
use super::foreground::{PromptArg, TerminalStart};
use super::mcp::{ConfigFile, Format, Mcp, presets};
use super::profiles::{APPROVALS, MODEL};

pub(super) static AGENT: Agent = Agent {
    executor: Executor::Opencode,
    name: "opencode",
    software: Some(Software {
        program: "opencode",
        package: Some("opencode-ai@1.18.33"),
        install: "npm install -g opencode-ai",
        log_in: &["auth", "login"],
        keys: &["OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
        logins: &[".local/share/opencode/auth.json"],
        moved: None,
    }),
    launchers: &["opencode"],
    driver: Driver::Acp(Acp {
        args: &["acp"],
        env: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
        asked_env: &[("OPENCODE_PERMISSION", r#"{"bash":"ask","edit":"ask","webfetch":"ask"}"#)],
        mode: Some("agent"),
        ..Acp::ORDINARY
    }),
    options: &[MODEL, AgentOption::text("agent", "Agent").hint("One of opencode's own agents."), APPROVALS],
    mcp: Some(Mcp {
        file: ConfigFile::Config { plain: "opencode/opencode.json", commented: "opencode/opencode.jsonc" },
        format: Format::Json,
        key: "mcp",
        schema: Some("https://opencode.ai/config.json"),
        adapt,
    }),
    foreground: Some(TerminalStart::Program {
        prompt: PromptArg::In("--prompt"),
        grant: "--auto",
        switches: &[],
    }),
    ..Agent::ORDINARY
};

fn adapt(server: Value) -> Option<Value> {
    if presets::is_http(&server) {
        let (url, headers) = (&server["url"], &server["headers"]);
        return Some(json!({"type": "remote", "url": url, "headers": headers, "enabled": true}));
    }
    let words = [&server["command"]].into_iter().chain(server["args"].as_array().into_iter().flatten());
    Some(json!({"type": "local", "command": words.collect::<Vec<_>>(), "enabled": true}))
}
