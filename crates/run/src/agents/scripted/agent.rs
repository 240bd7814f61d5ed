//! The scripted agent's data, and how it is started: it is a subcommand of Forge itself.

use forge_types::{DEFAULT_VARIANT, Executor};

use crate::StdinPlan;
use crate::agents::agent::{Agent, Driver, OwnDriver, Protocol};
use crate::agents::foreground::TerminalStart;
use crate::agents::program::Program;
use crate::agents::{Command, LaunchContext, Options, Plan, PlanError, Request};
use crate::fold::Dialect;

pub(in crate::agents) static AGENT: Agent = Agent {
    executor: Executor::Scripted,
    name: "Scripted agent",
    driver: Driver::Own(OwnDriver {
        protocol: Protocol::StreamJson,
        dialect: Dialect::Claude,
        plan,
        script: None,
    }),
    variants: &[(DEFAULT_VARIANT, &[])],
    options: &[],
    foreground: Some(TerminalStart::Unchanged),
    ..Agent::ORDINARY
};

fn plan(options: &Options, request: Request<'_>, place: &LaunchContext<'_>) -> Result<Plan, PlanError> {
    let program = Program { file: place.forge_exe.to_owned(), path_env: None };
    let command = Command { program, args: vec!["scripted-agent".to_owned()] };
    Ok(command.plan(Vec::new(), StdinPlan::Feed { text: request.prompt_with(options) }, None))
}
