//! `forge sessions`: imports Genie's sessions, and exports attempts to Genie.

mod export;
mod lock;
pub mod notice;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use forge_types::ImportReport;
use serde_json::json;

use crate::client::Client;
use crate::command::serve;
use crate::reference::short;
use crate::table::Table;
use crate::terminal;
use crate::transcript::{Ink, clean};

#[derive(clap::Subcommand)]
#[command(
    after_help = "Examples:\n  forge sessions import --dry-run\n  forge sessions import ~/work/shop\n  forge sessions export > tasks.json\n  forge sessions export --write"
)]
pub enum Command {
    /// Import the sessions of Genie's stores and SESSION-STATE.md, each as a task with a finished attempt
    #[command(
        after_help = "Examples:\n  forge sessions import --dry-run\n  forge sessions import ~/work/shop"
    )]
    Import(Flags),
    /// Export the attempts of a project as a Genie session store
    #[command(
        after_help = "Examples:\n  forge sessions export > tasks.json\n  forge sessions export --write"
    )]
    Export(export::Flags),
}

#[derive(clap::Args)]
pub struct Flags {
    /// A repository, or the file of a store [default: the repository of the current directory]
    path: Option<PathBuf>,
    /// Show what would happen and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(command: Command) -> Result<()> {
    serve::block_on(async {
        match command {
            Command::Import(flags) => {
                let report = import(flags.path.as_deref(), flags.dry_run).await?;
                match flags.json {
                    true => terminal::print_json(&json!(report)),
                    false => print(&report),
                }
                Ok(())
            }
            Command::Export(flags) => export::run(&flags).await,
        }
    })
}

/// Asks the server to read the stores, which are on its machine too.
async fn import(path: Option<&Path>, dry_run: bool) -> Result<ImportReport> {
    let path = match path {
        Some(path) => std::path::absolute(path)?,
        None => std::env::current_dir().context("the current directory does not exist")?,
    };
    let body = json!({"kind": "genie", "path": path, "dry_run": dry_run});
    let report = Client::find()?.post("/api/import", &body).await?;
    if !dry_run {
        notice::mark_imported(&path);
    }
    Ok(report)
}

fn print(report: &ImportReport) {
    let mut table = Table::new(&["ATTEMPT", "SESSION"]);
    for link in &report.attempts {
        let session = link.key.split_once('#').map_or(link.key.as_str(), |(_, key)| key);
        table.row(vec![(Ink::Cyan, short(link.attempt_id)), (Ink::Plain, session.to_owned())]);
    }
    if !report.attempts.is_empty() {
        table.print();
    }
    for project in &report.projects {
        let (new, known) = (project.attempts.new, project.attempts.known);
        let changed = match project.tasks.changed.max(project.runs.changed) {
            0 => String::new(),
            changed => format!(", {changed} changed"),
        };
        let verb = if report.dry_run { "would be new" } else { "new" };
        let skipped = match project.attempts.skipped {
            0 => String::new(),
            skipped => format!(", {skipped} skipped"),
        };
        println!("{}: {new} {verb}, {known} already imported{changed}{skipped}", clean(&project.name));
    }
    print_remarks(report);
}

/// Prints notes for people on standard error.
fn print_remarks(report: &ImportReport) {
    let skipped =
        report.skipped.iter().map(|skipped| format!("{} {}: {}", skipped.kind, skipped.name, skipped.reason));
    for line in skipped.chain(report.notes.iter().cloned()) {
        eprintln!("forge: {}", clean(&line).replace('\n', " "));
    }
}
