//! `forge view`: the work of an attempt as a transcript, as raw logs or as changes.
//!
//! Invariant: read-only; Ctrl-C leaves the agent running. With `--follow` the exit code is the
//! attempt's, as in `forge run`.

mod changes;
mod reader;

use std::process::ExitCode;

use anyhow::{Context, Result};
use forge_types::wire::TaskAttemptDetail;
use forge_types::{Attempt, RunStatus};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::client::Client;
use crate::command::list::ink;
use crate::command::{diff, serve};
use crate::exit::Exit;
use crate::json;
use crate::process::Process;
use crate::reference::{self, Deed, Scope, short};
use crate::terminal;
use crate::transcript::{Ink, Line};
use crate::watch::Screen;
pub use reader::{Form, Reader, Reading};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  forge view                  # what the newest attempt of this repository did
  forge view a1b2 --follow    # follow it until it ends
  forge view a1b2 --raw       # what the agent wrote, byte for byte")]
pub struct Flags {
    /// The attempt: id or a prefix of it, branch, task, agent or @last
    #[arg(default_value = "@last")]
    attempt: String,
    /// Follow until the attempt ends; Ctrl-C leaves it running
    #[arg(short = 'F', long)]
    follow: bool,
    /// Show the raw standard output and error
    #[arg(long)]
    raw: bool,
    /// Show the changes instead of the transcript; with --follow, a line for each file as it changes
    #[arg(long, conflicts_with = "raw")]
    diff: bool,
    /// Print JSON lines
    #[arg(long, conflicts_with = "raw")]
    json: bool,
}

pub fn run(flags: Flags) -> Result<ExitCode> {
    terminal::until_closed(serve::block_on(async {
        let client = Client::find()?;
        let attempt =
            reference::attempt(&client, &flags.attempt, &Scope::default(), Deed::Look).await?.attempt;
        match (flags.diff, flags.follow) {
            (true, false) => {
                let form = if flags.json { diff::Form::Json } else { diff::Form::Patch };
                diff::show(&client, &attempt, form).await.map(|()| ExitCode::SUCCESS)
            }
            (true, true) => follow(&attempt, changes::follow(&client, &attempt, flags.json)).await,
            (false, _) => show(&client, &attempt, &flags).await,
        }
    }))
}

async fn show(client: &Client, attempt: &Attempt, flags: &Flags) -> Result<ExitCode> {
    let form = match (flags.raw, flags.json) {
        (true, _) => Form::Raw(terminal::Log::new()),
        (_, true) => Form::Transcript(Screen::Json),
        _ => Form::Transcript(Screen::text()),
    };
    let reading = if flags.follow { Reading::ToTheEnd } else { Reading::SoFar };
    let mut reader = Reader::new(client, attempt.id, form, reading);
    if let Form::Transcript(screen) = reader.form() {
        greet(client, attempt, screen).await?;
    }
    if flags.follow {
        return follow(attempt, reader.show_all()).await;
    }
    reader.show_all().await?;
    if Process::list(client, attempt.id).await?.iter().any(Process::is_running) {
        eprintln!("forge: it is still running; follow it with: forge view --follow {}", short(attempt.id));
    }
    Ok(ExitCode::SUCCESS)
}

async fn greet(client: &Client, attempt: &Attempt, screen: &mut Screen) -> Result<()> {
    let known: TaskAttemptDetail = client.get(&format!("/api/task-attempts/{}", attempt.id)).await?;
    let title = &known.task.title;
    screen.object(&json!({"type": "attempt", "attempt": json::complete(&known), "title": title}))?;
    let status = json::word(&known.attempt.status);
    let board = reference::page(client, attempt);
    let agent = Line::new(Ink::Plain, &known.attempt.executor)
        .and(Ink::Plain, " on ")
        .and(Ink::Cyan, &attempt.branch);
    screen.lines(&[
        Line::new(Ink::Bold, title),
        agent.and(Ink::Plain, " · ").and(ink(&status), &status),
        Line::new(Ink::Dim, &format!("· {board}")).whole(),
    ])
}

/// Follows an attempt until it ends or the person leaves.
pub async fn follow(
    attempt: &Attempt,
    showing: impl Future<Output = Result<Option<Process>>>,
) -> Result<ExitCode> {
    let mut interrupts = signal(SignalKind::interrupt()).context("cannot listen for Ctrl-C")?;
    let last = tokio::select! {
        last = showing => last?,
        _ = interrupts.recv() => {
            let id = short(attempt.id);
            eprintln!("\nforge: left; the agent continues. Follow it again with: forge view --follow {id}");
            return Ok(Exit::Stopped.into());
        }
    };
    Ok(match last.as_ref().map(|run| run.status) {
        None | Some(RunStatus::Completed) => ExitCode::SUCCESS,
        Some(RunStatus::Killed) => Exit::Stopped.into(),
        Some(_) => Exit::Failed.into(),
    })
}
