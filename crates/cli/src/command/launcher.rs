//! `forge launcher`: the programs that start workers. Needs no server.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Subcommand;
use forge_core::{FaultSeverity, LauncherCheck, list_launchers};
use forge_types::wire::CallStyle;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::command::serve::block_on;
use crate::exit::{Exit, Misused};
use crate::json;
use crate::settings::{self, Env};
use crate::table::Table;
use crate::terminal::{self, say};
use crate::transcript::{Ink, Line};

#[derive(Subcommand)]
#[command(after_help = "Examples:\n  forge launcher list\n  forge launcher check ./my-launcher")]
pub enum Command {
    /// List the launchers that can be used by name
    #[command(after_help = "Examples:\n  forge launcher list\n  forge launcher list --json")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Test a launcher on a separate tmux server, and show what is wrong with it
    #[command(
        after_help = "Examples:\n  forge launcher check ./my-launcher\n  forge launcher check ./old --style flags --json"
    )]
    Check {
        /// The launcher
        path: PathBuf,
        /// How it takes its arguments: positional, flags or model-workspace-session
        #[arg(long, default_value = "positional")]
        style: String,
        /// Time limit in seconds
        #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
        timeout: u64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::List { json } => list(json),
        Command::Check { path, style, timeout, json } => {
            let style = CallStyle::deserialize(Value::from(style.as_str()))
                .map_err(|error| Misused(format!("--style: {error}")))?;
            let check = LauncherCheck::new(path).with_style(style).with_timeout(Duration::from_secs(timeout));
            block_on(check_launcher(check, json))
        }
    }
}

fn list(json: bool) -> Result<ExitCode> {
    let launchers = list_launchers(&settings::home(Env::load())?)?;
    if json {
        json::print(&launchers);
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(&["NAME", "FROM", "PATH"]);
    for launcher in launchers {
        let from = if launcher.shipped { "Forge" } else { "you" };
        let path = launcher.path.display().to_string();
        table.row(vec![(Ink::Bold, launcher.name), (Ink::Dim, from.to_owned()), (Ink::Plain, path)]);
    }
    table.print();
    Ok(ExitCode::SUCCESS)
}

async fn check_launcher(check: LauncherCheck, json: bool) -> Result<ExitCode> {
    let findings = check.run().await?;
    let usable = findings.is_usable();
    let code = if usable { ExitCode::SUCCESS } else { Exit::Failed.into() };
    let word = |severity| match severity {
        FaultSeverity::Error => "error",
        FaultSeverity::Warning => "warning",
    };
    if json {
        let fault = |fault: &forge_core::LauncherFault| json!({"severity": word(fault.severity()), "message": fault.to_string()});
        let faults: Vec<Value> = findings.faults.iter().map(fault).collect();
        let (stdout, stderr) = (&findings.stdout, &findings.stderr);
        terminal::print_json(
            &json!({"usable": usable, "faults": faults, "stdout": stdout, "stderr": stderr}),
        );
        return Ok(code);
    }
    for fault in &findings.faults {
        let ink = if fault.severity() == FaultSeverity::Error { Ink::Red } else { Ink::Yellow };
        let line = Line::new(ink, &format!("{}: ", word(fault.severity())));
        say(&line.and(Ink::Plain, &fault.to_string()).whole());
    }
    if !usable && !findings.stderr.trim().is_empty() {
        say(&Line::new(Ink::Dim, findings.stderr.trim()).whole());
    }
    say(&match usable {
        true => Line::new(Ink::Green, "it can start workers"),
        false => Line::new(Ink::Red, "it cannot start workers"),
    });
    Ok(code)
}
