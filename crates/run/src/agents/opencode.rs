//! opencode.

use forge_types::Executor;

use super::acp::Acp;
use super::agent::{Agent, Driver, Software};
use super::profiles::{APPROVALS, MODEL, Wanted};

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
    }),
    driver: Driver::Acp(Acp {
        args: &["acp"],
        env: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
        asked_env: &[("OPENCODE_PERMISSION", r#"{"bash":"ask","edit":"ask","webfetch":"ask"}"#)],
        mode: Some("agent"),
        ..Acp::ORDINARY
    }),
    options: &[MODEL, ("agent", Wanted::Text), APPROVALS],
    ..Agent::ORDINARY
};
