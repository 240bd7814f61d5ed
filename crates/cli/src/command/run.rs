//! `forge run`: give an agent a task and watch it work, from the prompt to what came of it.
//!
//! Everything goes through the API of a server, so a run that is left goes on there. Invariant: the exit code is the
//! run's: 0 completed, 1 failed (or nothing could be started), 130 stopped or left.

mod begin;
mod standalone;
mod summary;

use std::io::Read;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::serve;
use crate::process::Process;
use crate::transcript::{Ink, Line};
use crate::watch::{Consent, Screen, Watch, Watched};
use begin::Begun;
use standalone::Standalone;
use summary::{Landing, Summary};

const MAX_PROMPT_BYTES: u64 = 1 << 20;
/// As a shell tells of a program that Ctrl-C ended.
const STOPPED: u8 = 130;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge run \"Fix the typo in the README\" --agent CLAUDE_CODE")]
pub struct Flags {
    /// What the agent is to do; `-` reads it from standard input
    prompt: String,
    /// The agent and its variant, e.g. CLAUDE_CODE or CODEX:PLAN [default: the one of the settings]
    #[arg(short, long, value_name = "AGENT[:VARIANT]")]
    agent: Option<String>,
    /// Path or id of the project [default: the repository of the present directory]
    #[arg(short, long, value_name = "PATH|ID")]
    project: Option<String>,
    /// Branch to begin at and to land on [default: the one of the project]
    #[arg(short, long, value_name = "BRANCH")]
    base: Option<String>,
    /// Title of the task [default: the first line of the prompt]
    #[arg(short, long)]
    title: Option<String>,
    /// Go on with an attempt (its id, or the beginning of it) instead of starting one
    #[arg(short, long, value_name = "ATTEMPT", conflicts_with_all = ["project", "base", "title"])]
    follow: Option<String>,
    /// Print the entries as JSON lines
    #[arg(long)]
    json: bool,
    /// Allow everything the agent asks for
    #[arg(short, long)]
    yes: bool,
    /// Serve in this process for the time of the run, when no server is running
    #[arg(long)]
    standalone: bool,
}

pub fn run(flags: Flags) -> Result<ExitCode> {
    serve::block_on(async {
        let prompt = read_prompt(&flags.prompt)?;
        if flags.standalone {
            let (server, client) = Standalone::open().await?;
            let code = work(&client, &flags, &prompt, Landing::Git).await;
            server.close().await;
            return code;
        }
        let client = Client::find()?;
        if client.ready().await.is_none() {
            bail!(
                "no Forge answers at {}; start one with `forge serve` in another terminal, or add --standalone to \
                 serve for the time of this run",
                client.base()
            );
        }
        work(&client, &flags, &prompt, Landing::by(&client)).await
    })
}

fn read_prompt(given: &str) -> Result<String> {
    let mut prompt = given.to_owned();
    if given == "-" {
        prompt.clear();
        std::io::stdin()
            .take(MAX_PROMPT_BYTES)
            .read_to_string(&mut prompt)
            .context("cannot read the prompt")?;
    }
    if prompt.trim().is_empty() {
        bail!(
            "the prompt is empty; say what the agent is to do, e.g. forge run \"Fix the typo in the README\""
        );
    }
    Ok(prompt)
}

async fn work(client: &Client, flags: &Flags, prompt: &str, landing: Landing) -> Result<ExitCode> {
    let begun_at = Instant::now();
    let mut screen = if flags.json { Screen::Json } else { Screen::text() };
    let Begun { attempt, run, notes } = begin::begin(client, flags, prompt).await?;
    let id = attempt["id"].as_str().unwrap_or_default().to_owned();
    screen.object(&json!({"type": "attempt", "attempt": attempt}))?;
    greet(&mut screen, &attempt, &notes)?;
    let consent = Consent::of(flags.yes, flags.json);
    let mut watch = Watch::new(client, &id, &mut screen, consent)?;
    let Some(last) = tell_all(client, &id, run, &mut watch).await? else {
        let hint = format!(
            "left; whatever is at work goes on. Look again with: forge run --follow {} \"…\"",
            &id[..8.min(id.len())]
        );
        screen.note(&hint)?;
        return Ok(ExitCode::from(STOPPED));
    };
    let summary = Summary::gather(client, &id, &last, begun_at.elapsed(), landing).await?;
    screen.object(&summary.object())?;
    screen.part(&summary.lines())?;
    Ok(match last.status.as_str() {
        "completed" => ExitCode::SUCCESS,
        "killed" => ExitCode::from(STOPPED),
        _ => ExitCode::FAILURE,
    })
}

fn greet(screen: &mut Screen, attempt: &Value, notes: &[String]) -> Result<()> {
    let field = |key: &str| attempt[key].as_str().unwrap_or_default();
    for note in notes {
        screen.note(note)?;
    }
    let agent =
        Line::new(Ink::Bold, field("executor")).and(Ink::Plain, " on ").and(Ink::Cyan, field("branch"));
    screen.lines(&[agent, Line::new(Ink::Dim, &format!("· {}", field("worktree_path"))).whole()])
}

/// Tells a run and those that follow from it: setup script, agent, cleanup script. Answers the one that counts, or
/// nothing when the person left.
async fn tell_all(
    client: &Client,
    attempt: &str,
    first: Process,
    watch: &mut Watch<'_>,
) -> Result<Option<Process>> {
    let (mut run, mut counted) = (first, None);
    loop {
        if !run.is_agent() {
            let name = if run.run_reason == "setupscript" { "setup script" } else { "cleanup script" };
            watch.screen().script(Line::new(Ink::Cyan, name))?;
        }
        if watch.tell(&run).await? == Watched::Left {
            return Ok(None);
        }
        let ended = Process::settled(client, &run.id).await?;
        if !ended.is_agent() && ended.status == "failed" {
            let code = ended.exit_code.map_or_else(|| "failed".to_owned(), |code| format!("exit {code}"));
            watch.screen().script(Line::new(Ink::Red, &format!("  {code}")))?;
        }
        let next = match ended.status.as_str() {
            "completed" => ended.next(client, attempt).await?,
            _ => None,
        };
        // A cleanup script that fails does not undo what the agent did.
        if counted.is_none() || ended.run_reason != "cleanupscript" {
            counted = Some(ended);
        }
        match next {
            Some(next) => run = next,
            None => return Ok(counted),
        }
    }
}
