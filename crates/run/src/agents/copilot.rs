//! GitHub Copilot.

use forge_types::Executor;

use super::acp::{Acp, Choice, Grant};
use super::agent::{Agent, Driver, Software};

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
    router: None,
};
