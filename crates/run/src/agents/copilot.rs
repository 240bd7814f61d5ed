//! GitHub Copilot: all that is particular about it.

use forge_types::{DEFAULT_VARIANT, Executor};
use serde_json::{Value, json};

use super::acp::{Acp, Choice, Grant};
use super::agent::{Agent, Driver, Software};
use super::foreground::{Form, Put};
use super::mcp::Mcp;
use super::profiles::{
    APPROVALS,
    Given::{On, Text},
    MODEL, Wanted,
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
        ("allow_all_tools", Wanted::Flag),
        APPROVALS,
        ("allow_tool", Wanted::Text),
        ("deny_tool", Wanted::Text),
        ("add_dir", Wanted::Texts),
        ("disable_mcp_server", Wanted::Texts),
    ],
    mcp: Some(Mcp { adapt, ..Mcp::usual(".copilot/mcp-config.json") }),
    foreground: Some(Form::Program {
        prompt: Put::In("--interactive"),
        grant: "--allow-all-tools",
        switches: &[],
    }),
    ..Agent::ORDINARY
};

fn adapt(mut server: Value) -> Option<Value> {
    server["tools"] = json!(["*"]);
    Some(server)
}
