//! Amp: its data, and how it is started.
//!
//! Invariant: the prompt goes to stdin, never to the command line.

use forge_types::{DEFAULT_VARIANT, Executor};

use super::agent::{Agent, Driver, OwnDriver, Protocol, Software};
use super::mcp::Mcp;
use super::profiles::{MODEL, OptionValue::On, unasked};
use super::{LaunchContext, Options, Plan, PlanError, Request, params};
use crate::StdinPlan;
use crate::fold::Dialect;

pub(super) static AGENT: Agent = Agent {
    executor: Executor::Amp,
    name: "Amp",
    software: Some(Software {
        program: "amp",
        package: Some("@sourcegraph/amp@0.0.1769314944-g5070a1"),
        install: "npm install -g @sourcegraph/amp",
        log_in: &["login"],
        keys: &["AMP_API_KEY"],
        logins: &[".local/share/amp/secrets.json"],
        moved: None,
    }),
    capabilities: &["SESSION_FORK"],
    driver: Driver::Own(OwnDriver {
        protocol: Protocol::Headless,
        dialect: Dialect::Amp,
        plan,
        script: None,
    }),
    variants: &[(DEFAULT_VARIANT, &[("dangerously_allow_all", On)])],
    options: &[MODEL, unasked("dangerously_allow_all")],
    mcp: Some(Mcp { key: "amp.mcpServers", ..Mcp::usual(".config/amp/settings.json") }),
    ..Agent::ORDINARY
};

fn plan(options: &Options, request: Request<'_>, place: &LaunchContext<'_>) -> Result<Plan, PlanError> {
    let mut command = AGENT.base(options, place)?;
    command.args.extend(args(options, request));
    command.args.extend(params(options)?);
    Ok(command.plan(Vec::new(), StdinPlan::Feed { text: request.prompt_with(options) }, None))
}

/// Continuing a conversation has its own subcommand.
fn args(options: &Options, request: Request<'_>) -> Vec<String> {
    let mut args = match request.session() {
        Some(session) => vec!["threads", "continue", session],
        None => Vec::new(),
    };
    args.extend(["--execute", "--stream-json"]);
    if options.is_on("dangerously_allow_all") {
        args.push("--dangerously-allow-all");
    }
    args.into_iter().map(str::to_owned).collect()
}
