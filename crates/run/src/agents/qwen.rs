//! Qwen Code.

use forge_types::Executor;

use super::acp::{Acp, Choice, Grant};
use super::agent::{Agent, Driver, Software};

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
    router: None,
};
