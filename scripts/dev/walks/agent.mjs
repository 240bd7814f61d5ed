// An agent that speaks the Agent Client Protocol.

const AGENT = `//! Walker: all that is particular about it.

use forge_types::Executor;

use super::acp::Acp;
use super::agent::{Agent, Driver, Software};
use super::mcp::Mcp;

pub(super) static AGENT: Agent = Agent {
    executor: Executor::Walker,
    name: "Walker",
    software: Some(Software {
        program: "walker",
        package: None,
        install: "npm install -g walker",
        log_in: &[],
        keys: &[],
        logins: &[".walker/auth.json"],
        moved: None,
    }),
    driver: Driver::Acp(Acp { args: &["--acp"], ..Acp::ORDINARY }),
    mcp: Some(Mcp::usual(".walker/mcp.json")),
    ..Agent::ORDINARY
};
`;

export default {
  title: "an agent",
  goal: "2 to 4 files",
  edits: [
    { file: "crates/types/src/executor.rs", after: 'Droid = "DROID",', text: '    Walker = "WALKER",' },
    { file: "crates/run/src/agents/walker.rs", create: AGENT },
    { file: "crates/run/src/agents.rs", after: "mod survey;", text: "mod walker;" },
    { file: "crates/run/src/agents.rs", after: "    &droid::AGENT,", text: "    &walker::AGENT," },
  ],
};
