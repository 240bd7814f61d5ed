//! Gemini CLI: its data.

use forge_types::{DEFAULT_VARIANT, Executor};

use super::acp::{Acp, Choice, Grant};
use super::agent::{Agent, Driver, Software};
use super::foreground::{PromptArg, TerminalStart};
use super::mcp::{Mcp, presets};
use super::profiles::{
    APPROVALS, MODEL,
    OptionValue::{On, Text},
    unasked,
};
use crate::talk::acp::Replay;

pub(super) static AGENT: Agent = Agent {
    executor: Executor::Gemini,
    name: "Gemini CLI",
    software: Some(Software {
        program: "gemini",
        package: Some("@google/gemini-cli@0.61.0"),
        install: "npm install -g @google/gemini-cli",
        log_in: &[],
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        logins: &[".gemini/oauth_creds.json"],
        moved: None,
    }),
    capabilities: &["SESSION_FORK"],
    driver: Driver::Acp(Acp {
        args: &["--acp"],
        // It works without asking only where it trusts the directory, and a worktree is as trusted as its
        // repository.
        env: &[("GEMINI_CLI_TRUST_WORKSPACE", "true")],
        grant: Grant::Option("yolo", "--yolo"),
        model: Choice::Argument("--model"),
        replay: Replay::AfterReply,
        ..Acp::ORDINARY
    }),
    variants: &[
        (DEFAULT_VARIANT, &[("model", Text("default")), ("yolo", On)]),
        ("FLASH", &[("model", Text("flash")), ("yolo", On)]),
        ("APPROVALS", &[("model", Text("default")), ("approvals", On)]),
    ],
    options: &[MODEL, unasked("yolo"), APPROVALS],
    described_with: &[("model", Text("default"))],
    models: &[("flash", "gemini-2.5-flash")],
    mcp: Some(Mcp { adapt: presets::http_url, ..Mcp::usual(".gemini/settings.json") }),
    foreground: Some(TerminalStart::Program {
        prompt: PromptArg::In("--prompt-interactive"),
        grant: "--yolo",
        switches: &[],
    }),
    ..Agent::ORDINARY
};
