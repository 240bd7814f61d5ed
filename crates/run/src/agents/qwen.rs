//! Qwen Code.

use forge_types::{DEFAULT_VARIANT, Executor};

use super::acp::{Acp, Choice, Grant};
use super::agent::{Agent, Driver, Software};
use super::profiles::{APPROVALS, Given, MODEL, YOLO};

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
    }),
    driver: Driver::Acp(Acp {
        args: &["--acp"],
        grant: Grant::Option("yolo", "--yolo"),
        model: Choice::Argument("--model"),
        ..Acp::ORDINARY
    }),
    variants: &[(DEFAULT_VARIANT, &[("yolo", Given::On)]), ("APPROVALS", &[("approvals", Given::On)])],
    options: &[MODEL, YOLO, APPROVALS],
    ..Agent::ORDINARY
};
