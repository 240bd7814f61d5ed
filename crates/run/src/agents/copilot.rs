//! GitHub Copilot: its data.

use forge_types::{AgentOption, DEFAULT_VARIANT, Executor};
use serde_json::{Value, json};

use super::acp::{Acp, Choice, Grant};
use super::agent::{Agent, Driver, Software};
use super::foreground::{PromptArg, TerminalStart};
use super::mcp::Mcp;
use super::profiles::{
    APPROVALS, MODEL,
    OptionValue::{On, Text},
};

pub(super) static AGENT: Agent = Agent {
    executor: Executor::Copilot,
    name: "GitHub Copilot",
    software: Some(Software {
        program: "copilot",
        package: Some("@github/copilot@1.0.102"),
        install: "npm install -g @github/copilot",
        log_in: &["login"],
        keys: &["COPILOT_PROVIDER_API_KEY", "COPILOT_GITHUB_TOKEN"],
        logins: &[".copilot/config.json"],
        moved: None,
    }),
    driver: Driver::Acp(Acp {
        args: &["--acp", "--no-auto-update"],
        grant: Grant::Option("allow_all_tools", "--allow-all-tools"),
        model: Choice::Argument("--model"),
        flags: &[
            ("allow_tool", "--allow-tool"),
            ("deny_tool", "--deny-tool"),
            ("add_dir", "--add-dir"),
            ("disable_mcp_server", "--disable-mcp-server"),
        ],
        ..Acp::ORDINARY
    }),
    variants: &[
        (DEFAULT_VARIANT, &[("allow_all_tools", On)]),
        ("GPT_5", &[("allow_all_tools", On), ("model", Text("gpt-5"))]),
        ("CLAUDE_SONNET_4_5", &[("allow_all_tools", On), ("model", Text("claude-sonnet-4.5"))]),
        ("CLAUDE_SONNET_4", &[("allow_all_tools", On), ("model", Text("claude-sonnet-4"))]),
        ("APPROVALS", &[("approvals", On)]),
    ],
    options: &[
        MODEL,
        AgentOption::flag("allow_all_tools", "Allow all tools"),
        APPROVALS,
        AgentOption::text("allow_tool", "Allow tool"),
        AgentOption::text("deny_tool", "Deny tool"),
        AgentOption::lines("add_dir", "Additional folders"),
        AgentOption::lines("disable_mcp_server", "MCP servers to switch off"),
    ],
    mcp: Some(Mcp { adapt, ..Mcp::usual(".copilot/mcp-config.json") }),
    foreground: Some(TerminalStart::Program {
        prompt: PromptArg::In("--interactive"),
        grant: "--allow-all-tools",
        switches: &[],
    }),
    ..Agent::ORDINARY
};

fn adapt(mut server: Value) -> Option<Value> {
    server["tools"] = json!(["*"]);
    Some(server)
}
