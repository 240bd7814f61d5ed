//! `forge import`: imports another system's data through the server.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use forge_types::{ImportReport, ImportRequest, ImportStanding, ImportedProject, OldWorktrees, Tally};

use crate::client::Client;
use crate::command::serve::block_on;
use crate::figures::size;
use crate::json;
use crate::table::Table;
use crate::terminal;
use crate::transcript::{Ink, Line};

/// How many are printed; `--json` has all.
const SHOWN: usize = 20;

#[derive(Args)]
#[command(after_help = "Examples:
  forge import vibe-kanban --dry-run
  forge import vibe-kanban
  forge import automagik-forge ~/backup/db.sqlite --project website
  forge import automagik-forge --worktrees adopt")]
pub struct Flags {
    /// The system to import from
    system: System,
    /// Its database, or the folder that contains it [default: the system's own location]
    path: Option<PathBuf>,
    /// Show what would be imported and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Import only the project with this name
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// What to do with existing worktrees of the other system: leave them, or make them Forge's as they are
    #[arg(long, value_name = "WHAT", default_value = "leave")]
    worktrees: Worktrees,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum System {
    VibeKanban,
    AutomagikForge,
}

#[derive(Clone, Copy, ValueEnum)]
enum Worktrees {
    Leave,
    Adopt,
}

impl System {
    fn as_str(self) -> &'static str {
        match self {
            System::VibeKanban => "vibe-kanban",
            System::AutomagikForge => "automagik-forge",
        }
    }
}

pub fn run(flags: Flags) -> Result<()> {
    let path = flags.path.as_deref().map(std::path::absolute).transpose().context("cannot resolve PATH")?;
    let request = ImportRequest {
        kind: flags.system.as_str().to_owned(),
        path: path.map(|path| path.to_string_lossy().into_owned()),
        dry_run: flags.dry_run,
        project: flags.project,
        worktrees: match flags.worktrees {
            Worktrees::Leave => OldWorktrees::Leave,
            Worktrees::Adopt => OldWorktrees::Adopt,
        },
    };
    block_on(async {
        let client = Client::find()?;
        let report: ImportReport = client.post("/api/import", &serde_json::to_value(&request)?).await?;
        if flags.json {
            json::print(&report);
            return Ok(());
        }
        print(&report);
        Ok(())
    })
}

fn print(report: &ImportReport) {
    let head = ["PROJECT", "TASKS", "ATTEMPTS", "RUNS", "LOGS", "IMAGES", "MERGES", "", "REPOSITORY"];
    let mut table = Table::new(&head);
    for project in &report.projects {
        table.row(cells(project));
    }
    table.print();
    let mut lines = Vec::new();
    for (name, tally) in [("tags", report.tags), ("templates", report.templates)] {
        if tally != Tally::default() {
            lines.push(Line::new(Ink::Plain, &format!("{name}: {}", count(tally))));
        }
    }
    for note in report.notes.iter().take(SHOWN) {
        lines.push(Line::new(Ink::Yellow, "note  ").and(Ink::Plain, note));
    }
    for skipped in report.skipped.iter().take(SHOWN) {
        let text = format!("{} '{}': {}", skipped.kind, skipped.name, skipped.reason);
        lines.push(Line::new(Ink::Yellow, "left out  ").and(Ink::Plain, &text));
    }
    let more = report.notes.len().saturating_sub(SHOWN) + report.skipped.len().saturating_sub(SHOWN);
    if more > 0 {
        lines.push(Line::new(Ink::Dim, &format!("and {more} more; --json shows all")));
    }
    lines.push(Line::new(Ink::Bold, ending(report)));
    let mut out = String::new();
    for line in lines {
        line.put(terminal::page(), &mut out);
    }
    terminal::print(&out);
}

fn ending(report: &ImportReport) -> &'static str {
    match (report.has_news(), report.dry_run) {
        (true, true) => "Nothing was changed: this was a dry run",
        (true, false) => "Imported; the source was not modified",
        (false, _) => "Nothing new: Forge already has all of it",
    }
}

fn cells(project: &ImportedProject) -> Vec<(Ink, String)> {
    let standing = match project.standing {
        ImportStanding::New => "new",
        ImportStanding::Merged => "added to an existing project",
        ImportStanding::Known => "known",
    };
    let tallies = [project.tasks, project.attempts, project.runs].map(count);
    let mut cells = vec![(Ink::Bold, project.name.clone())];
    cells.extend(tallies.map(|text| (Ink::Plain, text)));
    cells.push((Ink::Plain, size(project.log_bytes)));
    cells.extend([project.images, project.merges].map(|tally| (Ink::Plain, count(tally))));
    cells.push((Ink::Dim, standing.to_owned()));
    cells.push((Ink::Dim, project.git_repo_path.clone()));
    cells
}

/// What is new, and in parentheses what is not.
fn count(tally: Tally) -> String {
    let mut rest = Vec::new();
    if tally.changed > 0 {
        rest.push(format!("{} changed", tally.changed));
    }
    if tally.known > 0 {
        rest.push(format!("{} known", tally.known));
    }
    if tally.skipped > 0 {
        rest.push(format!("{} left out", tally.skipped));
    }
    match rest.is_empty() {
        true => tally.new.to_string(),
        false => format!("{} ({})", tally.new, rest.join(", ")),
    }
}
