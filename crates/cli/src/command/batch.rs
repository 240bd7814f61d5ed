//! `forge batch`: many tasks at once from a file, side by side, and what came of them.
//!
//! Invariant: nothing is started before the whole file is understood and everything that can be checked is checked;
//! leaving leaves what is at work at work, and what was not started is named.

mod board;
mod crew;
mod file;
mod job;

use std::io::Read;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::run::begin::find_project;
use crate::command::run::{read_executor, usual_profile};
use crate::command::serve;
use crate::exit::{Exit, Misused};
use crate::reference;
use crate::table::Table;
use crate::terminal;
use crate::transcript::Ink;
use board::Board;
use crew::{Crew, Over};
use file::Item;
use job::Job;

/// As long as a file of tasks may be.
const MAX_BYTES: u64 = 10 << 20;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  forge batch tasks.md                       # every task of the file, side by side
  forge batch tasks.yaml --jobs 4 -x CODEX   # at most four at work at a time
  forge batch tasks.json --dry-run           # what would be started

A Markdown or text file has tasks between lines of `---`: title first, then the prompt.
JSON, JSON lines and YAML have texts, or objects with title, prompt, executor, variant,
model, base and labels.")]
pub struct Flags {
    /// The file of tasks; `-` reads it from standard input
    file: String,
    /// How many are at work at a time [default: all]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// The agent of tasks that name none [default: the one of the settings]
    #[arg(short = 'x', long, value_name = "EXECUTOR[:VARIANT]")]
    executor: Option<String>,
    /// Branch to begin at and to land on, of tasks that name none [default: the one of the project]
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Print what came of them as JSON
    #[arg(long)]
    json: bool,
    /// Check the file and say what would be started
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
            return tell_plan(&jobs, flags.json).map(|()| ExitCode::SUCCESS);
        }
        let mut notes = Vec::new();
        let project = find_project(&client, None, &mut notes).await?;
        notes.iter().for_each(|note| eprintln!("forge: {note}"));
        let mut board = if flags.json { Board::Silent } else { Board::open() };
        let crew = Crew::new(&client, &project.id, flags.jobs.map_or(usize::MAX, usize::from));
        let over = crew.work(&mut jobs, &mut board).await?;
        tell_end(&jobs, flags.json)?;
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
    taken.map_err(|error| Misused(format!("cannot read {name}: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Misused(format!(
            "{name} is longer than {} MiB, the most that is taken",
            MAX_BYTES >> 20
        ))
        .into());
    }
    let text =
        String::from_utf8(bytes).map_err(|error| Misused(format!("{name} is no UTF-8 text: {error}")))?;
    file::parse(name, &text).map_err(|mistakes| refuse(name, &mistakes))
}

fn refuse(name: &str, mistakes: &[String]) -> anyhow::Error {
    let count =
        if mistakes.len() == 1 { "a mistake".to_owned() } else { format!("{} mistakes", mistakes.len()) };
    Misused(format!("{name} has {count}; nothing was started:\n  {}", mistakes.join("\n  "))).into()
}

/// What the server would refuse one by one, told of all at once.
async fn check(client: &Client, name: &str, jobs: &[Job]) -> Result<()> {
    let project = reference::project_here(client).await?;
    let branches: Option<Vec<Value>> = match &project {
        Some(project) => Some(client.get(&format!("/api/projects/{}/branches", project.id)).await?),
        None => None,
    };
    let query = project.map(|project| format!("?project_id={}", project.id)).unwrap_or_default();
    let profiles: Value = client.get(&format!("/api/profiles{query}")).await?;
    let profiles: Value = match profiles["content"].as_str() {
        Some(content) => serde_json::from_str(content).unwrap_or_default(),
        None => profiles,
    };
    let mistakes: Vec<String> =
        jobs.iter().flat_map(|job| job.mistakes(branches.as_deref(), &profiles["executors"])).collect();
    if mistakes.is_empty() { Ok(()) } else { Err(refuse(name, &mistakes)) }
}

fn tell_plan(jobs: &[Job], json: bool) -> Result<()> {
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

fn tell_end(jobs: &[Job], json: bool) -> Result<()> {
    if json {
        let ends: Vec<Value> = jobs.iter().map(Job::object).collect();
        return terminal::write(&format!("{:#}\n", json!(ends)));
    }
    let mut table = Table::new(&["ID", "HOW", "TIME", "FILES", "COST", "TITLE"]);
    jobs.iter().for_each(|job| table.row(job.row()));
    table.print();
    Ok(())
}

fn leave(jobs: &[Job]) -> Result<ExitCode> {
    let (at_work, waiting): (Vec<&Job>, Vec<&Job>) =
        jobs.iter().filter(|job| !job.is_over()).partition(|job| job.attempt().is_some());
    eprintln!("forge: left; {} at work go on", at_work.len());
    at_work.iter().for_each(|job| eprintln!("  forge view --follow {}", job.short()));
    if !waiting.is_empty() {
        eprintln!("forge: not started:");
        waiting
            .iter()
            .for_each(|job| eprintln!("  {} ({})", crate::transcript::clean(&job.title), job.place));
    }
    Ok(Exit::Stopped.into())
}
