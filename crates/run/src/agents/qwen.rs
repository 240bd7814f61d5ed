//! Qwen Code: its data.

use forge_types::{DEFAULT_VARIANT, Executor};

use super::acp::{Acp, Choice, Grant};
use super::agent::{Agent, Driver, Software};
use super::foreground::{PromptArg, TerminalStart};
use super::mcp::{Mcp, presets};
use super::profiles::{APPROVALS, MODEL, OptionValue::On, unasked};

pub(super) static AGENT: Agent = Agent {
    executor: Executor::QwenCode,
    name: "Qwen Code",
    software: Some(Software {
        program: "qwen",
        package: Some("@qwen-code/qwen-code@0.15.10"),
        install: "npm install -g @qwen-code/qwen-code",
        log_in: &[],
        keys: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
        logins: &[".qwen/oauth_creds.json"],
        moved: None,
    }),
    capabilities: &["SESSION_FORK"],
    driver: Driver::Acp(Acp {
        args: &["--acp"],
        grant: Grant::Option("yolo", "--yolo"),
        model: Choice::Argument("--model"),
        ..Acp::ORDINARY
    }),
    variants: &[(DEFAULT_VARIANT, &[("yolo", On)]), ("APPROVALS", &[("approvals", On)])],
    options: &[MODEL, unasked("yolo"), APPROVALS],
    mcp: Some(Mcp { adapt: presets::http_url, ..Mcp::usual(".qwen/settings.json") }),
    foreground: Some(TerminalStart::Program {
        prompt: PromptArg::In("--prompt-interactive"),
        grant: "--yolo",
        switches: &[],
    }),
    ..Agent::ORDINARY
};
