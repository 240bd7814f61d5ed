//! The shell: the prompt is its script.
//!
//! Invariant: the prompt is one whole argument, or the stdin of the profile's own command.

use std::path::Path;

use forge_types::{DEFAULT_VARIANT, Executor};

use super::agent::{Agent, Driver, OwnDriver, Protocol};
use super::foreground::TerminalStart;
use super::{LaunchContext, Options, Plan, PlanError, Request, first_shell, overridden, params};
use crate::StdinPlan;
use crate::fold::Dialect;

pub(super) static AGENT: Agent = Agent {
    executor: Executor::Shell,
    name: "Shell",
    driver: Driver::Own(OwnDriver { protocol: Protocol::Text, dialect: Dialect::Text, plan, script: None }),
    variants: &[(DEFAULT_VARIANT, &[])],
    options: &[],
    foreground: Some(TerminalStart::Unchanged),
    ..Agent::ORDINARY
};

fn plan(options: &Options, request: Request<'_>, place: &LaunchContext<'_>) -> Result<Plan, PlanError> {
    let prompt = request.prompt_with(options);
    if let Some(mut command) = overridden(options, place)? {
        command.args.extend(params(options)?);
        return Ok(command.plan(Vec::new(), StdinPlan::Feed { text: prompt }, None));
    }
    let mut command = first_shell(["bash", "sh"].map(Path::new), place)?;
    command.args.extend(["-c".to_owned(), prompt]);
    let params = params(options)?;
    if !params.is_empty() {
        // The word after the script is its name; the words after that are its parameters.
        command.args.push("agent".to_owned());
        command.args.extend(params);
    }
    Ok(command.plan(Vec::new(), StdinPlan::Closed, None))
}
