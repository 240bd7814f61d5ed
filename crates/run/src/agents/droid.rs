//! Droid: its data.

use forge_types::Executor;

use super::acp::Acp;
use super::agent::{Agent, Driver, Software};
use super::mcp::Mcp;

pub(super) static AGENT: Agent = Agent {
    executor: Executor::Droid,
    name: "Droid",
    software: Some(Software {
        program: "droid",
        package: Some("droid@0.215.0"),
        install: "npm install -g droid",
        log_in: &[],
        keys: &["FACTORY_API_KEY"],
        logins: &[".factory/auth.json"],
        moved: None,
    }),
    driver: Driver::Acp(Acp {
        args: &["exec", "--output-format", "acp"],
        env: &[("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false")],
        ..Acp::ORDINARY
    }),
    mcp: Some(Mcp::usual(".factory/mcp.json")),
    ..Agent::ORDINARY
};
