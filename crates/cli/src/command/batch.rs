//! `forge batch`: runs many tasks from a file in parallel, and shows their results.
//!
//! Invariant: nothing starts before the whole file is parsed and everything that can be checked is checked;
//! Ctrl-C leaves running tasks running, and lists those that were not started.

mod board;
mod crew;
mod file;
mod job;

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use forge_types::{BranchInfo, RegisteredProject};
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::run::begin::find_project;
use crate::command::run::{known_profiles, read_executor, usual_profile};
use crate::command::serve;
use crate::exit::{self, Exit, Misused};
use crate::reference;
use crate::table::Table;
use crate::terminal;
use crate::transcript::Ink;
use board::Board;
use crew::{Crew, Over};
use file::Item;
use job::Job;

/// The maximum size of a task file.
const MAX_BYTES: u64 = 10 << 20;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  forge batch tasks.md                       # every task of the file, in parallel
  forge batch tasks.yaml --jobs 4 -x CODEX   # at most four at a time
  forge batch tasks.json --dry-run           # show what would start

A Markdown or text file has tasks between lines of `---`: title first, then the prompt.
JSON, JSON lines and YAML have texts, or objects with title, prompt, executor, variant,
model, base and labels.")]
pub struct Flags {
    /// The task file; `-` reads standard input
    file: String,
    /// How many run at a time [default: all]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// The agent for tasks that name none [default: from the settings]
    #[arg(short = 'x', long, value_name = "EXECUTOR[:VARIANT]")]
    executor: Option<String>,
    /// Branch to start from and to land on, for tasks that name none [default: the project's]
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    /// Check the file and show what would start
    #[arg(long)]
    dry_run: bool,
}

pub fn run(flags: Flags) -> Result<ExitCode> {
    let items = read(&flags.file)?;
    terminal::until_closed(serve::block_on(async {
        let client = Client::find()?;
        let usual = match &flags.executor {
            Some(named) => read_executor(named)?,
            None => usual_profile(&client).await?,
        };
        let mut jobs: Vec<Job> =
            items.into_iter().map(|item| Job::of(item, &usual, flags.base.as_deref())).collect();
        check(&client, &flags.file, &jobs).await?;
        if flags.dry_run {
            return print_plan(&jobs, flags.json).map(|()| ExitCode::SUCCESS);
        }
        let mut notes = Vec::new();
        let RegisteredProject { project, .. } = find_project(&client, None, &mut notes).await?;
        notes.iter().for_each(|note| eprintln!("forge: {note}"));
        let mut board = if flags.json { Board::Silent } else { Board::open() };
        let crew = Crew::new(&client, project.id, flags.jobs.map_or(usize::MAX, usize::from));
        let over = crew.work(&mut jobs, &mut board).await?;
        print_results(&jobs, flags.json)?;
        if over == Over::Left {
            return leave(&jobs);
        }
        Ok(if jobs.iter().all(Job::is_completed) { ExitCode::SUCCESS } else { Exit::Failed.into() })
    }))
}

fn read(name: &str) -> Result<Vec<Item>> {
    let mut bytes = Vec::new();
    let taken = match name {
        "-" => std::io::stdin().take(MAX_BYTES + 1).read_to_end(&mut bytes),
        path => std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)),
    };
    taken.map_err(|cause| exit::unreadable("", Path::new(name), &cause))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Misused(format!("{name} is larger than the limit of {} MiB", MAX_BYTES >> 20)).into());
    }
    let text =
        String::from_utf8(bytes).map_err(|error| Misused(format!("{name} is not UTF-8 text: {error}")))?;
    file::parse(name, &text).map_err(|mistakes| refuse(name, &mistakes))
}

fn refuse(name: &str, mistakes: &[String]) -> anyhow::Error {
    let count =
        if mistakes.len() == 1 { "a mistake".to_owned() } else { format!("{} mistakes", mistakes.len()) };
    Misused(format!("{name} has {count}; nothing was started:\n  {}", mistakes.join("\n  "))).into()
}

/// Reports everything the server would refuse one by one, all at once.
async fn check(client: &Client, name: &str, jobs: &[Job]) -> Result<()> {
    let project = reference::project_here(client).await?;
    let branches: Option<Vec<BranchInfo>> = match &project {
        Some(project) => Some(client.get(&format!("/api/projects/{}/branches", project.id)).await?),
        None => None,
    };
    let profiles = known_profiles(client, project.map(|project| project.id)).await?;
    let mistakes: Vec<String> =
        jobs.iter().flat_map(|job| job.mistakes(branches.as_deref(), &profiles)).collect();
    if mistakes.is_empty() { Ok(()) } else { Err(refuse(name, &mistakes)) }
}

fn print_plan(jobs: &[Job], json: bool) -> Result<()> {
    if json {
        let plan: Vec<Value> = jobs.iter().map(Job::plan).collect();
        return terminal::write(&format!("{:#}\n", json!(plan)));
    }
    let mut table = Table::new(&["AGENT", "BASE", "TITLE"]);
    for job in jobs {
        let base = job.base.clone().unwrap_or_else(|| "-".to_owned());
        table.row(vec![
            (Ink::Plain, job.profile.to_string()),
            (Ink::Plain, base),
            (Ink::Plain, job.title.clone()),
        ]);
    }
    table.print();
    Ok(())
}

fn print_results(jobs: &[Job], json: bool) -> Result<()> {
    if json {
        let ends: Vec<Value> = jobs.iter().map(Job::object).collect();
        return terminal::write(&format!("{:#}\n", json!(ends)));
    }
    let mut table = Table::new(&["ID", "STATUS", "TIME", "FILES", "COST", "TITLE"]);
    jobs.iter().for_each(|job| table.row(job.row()));
    table.print();
    Ok(())
}

fn leave(jobs: &[Job]) -> Result<ExitCode> {
    let (running, waiting): (Vec<&Job>, Vec<&Job>) =
        jobs.iter().filter(|job| !job.is_over()).partition(|job| job.attempt().is_some());
    eprintln!("forge: left; {} still running", running.len());
    running.iter().for_each(|job| eprintln!("  forge view --follow {}", job.short()));
    if !waiting.is_empty() {
        eprintln!("forge: not started:");
        waiting
            .iter()
            .for_each(|job| eprintln!("  {} ({})", crate::transcript::clean(&job.title), job.place));
    }
    Ok(Exit::Stopped.into())
}
