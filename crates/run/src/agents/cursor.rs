//! The Cursor agent: its data, how it is started, and how its program is installed and logged in.
//!
//! Invariants: the prompt goes to stdin, never to the command line. The script is fixed text; no user input becomes
//! part of it. It installs only what is missing, and the installer is downloaded completely before any of it runs.

use forge_types::{DEFAULT_VARIANT, Executor};
use serde_json::{Value, json};

use super::agent::{Agent, Driver, OwnDriver, Protocol, Software};
use super::foreground::{PromptArg, TerminalStart};
use super::mcp::{Mcp, presets};
use super::profiles::{
    MODEL,
    OptionValue::{On, Text},
    unasked,
};
use super::{LaunchContext, Options, Plan, PlanError, Request, params};
use crate::StdinPlan;
use crate::fold::Dialect;

/// The login prints an address to open.
const SETUP: &str = r#"set -e
export PATH="$HOME/.local/bin:$PATH"
if command -v cursor-agent >/dev/null 2>&1; then
  echo "cursor-agent is installed"
else
  echo "installing the Cursor CLI"
  installer=$(mktemp)
  trap 'rm -f "$installer"' EXIT
  curl -fsS --max-time 120 https://cursor.com/install -o "$installer"
  bash "$installer"
fi
NO_OPEN_BROWSER=1 cursor-agent login
"#;

pub(super) static AGENT: Agent = Agent {
    executor: Executor::CursorAgent,
    name: "Cursor Agent",
    software: Some(Software {
        program: "cursor-agent",
        package: None,
        install: "curl https://cursor.com/install -fsS | bash",
        log_in: &["login"],
        keys: &["CURSOR_API_KEY"],
        logins: &[".cursor/cli-config.json"],
        moved: None,
    }),
    capabilities: &["SETUP_HELPER"],
    setup: Some(SETUP),
    driver: Driver::Own(OwnDriver {
        protocol: Protocol::Headless,
        dialect: Dialect::Cursor,
        plan,
        script: None,
    }),
    variants: &[
        (DEFAULT_VARIANT, &[("force", On), ("model", Text("auto"))]),
        ("SONNET_4_5", &[("force", On), ("model", Text("sonnet-4.5"))]),
        ("SONNET_4_5_THINKING", &[("force", On), ("model", Text("sonnet-4.5-thinking"))]),
        ("OPUS_4_1", &[("force", On), ("model", Text("opus-4.1"))]),
        ("GPT_5", &[("force", On), ("model", Text("gpt-5"))]),
        ("GROK", &[("force", On), ("model", Text("grok"))]),
    ],
    options: &[MODEL, unasked("force")],
    mcp: Some(Mcp { adapt, ..Mcp::usual(".cursor/mcp.json") }),
    foreground: Some(TerminalStart::Program { prompt: PromptArg::Last, grant: "--force", switches: &[] }),
    ..Agent::ORDINARY
};

/// It identifies a server with an address by that address alone.
fn adapt(server: Value) -> Option<Value> {
    Some(match presets::is_http(&server) {
        true => json!({"url": server["url"], "headers": server["headers"]}),
        false => server,
    })
}

fn plan(options: &Options, request: Request<'_>, place: &LaunchContext<'_>) -> Result<Plan, PlanError> {
    let mut command = AGENT.base(options, place)?;
    command.args.extend(args(options));
    command.args.extend(params(options)?);
    if let Some(session) = request.session() {
        command.args.extend(["--resume".to_owned(), session.to_owned()]);
    }
    Ok(command.plan(Vec::new(), StdinPlan::Feed { text: request.prompt_with(options) }, None))
}

fn args(options: &Options) -> Vec<String> {
    let mut args = vec!["-p", "--output-format=stream-json"];
    if options.is_on("force") {
        args.push("--force");
    }
    if let Some(model) = options.text("model") {
        args.extend(["--model", model]);
    }
    args.into_iter().map(str::to_owned).collect()
}
