//! Showing workers.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use anyhow::{Context, Result};
use forge_types::Millis;
use forge_types::wire::{ListedWorker, WorkerPane};
use serde_json::json;

use super::{One, path};
use crate::client::Client;
use crate::exit::Misused;
use crate::figures;
use crate::json;
use crate::reference::NotFound;
use crate::table::Table;
use crate::terminal::{self, say, say_fact};
use crate::transcript::{Ink, Line, clean};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge worker attach alpha\n  forge worker attach alpha --print")]
pub struct AttachFlags {
    /// The worker's id
    worker: String,
    /// Print the command instead of running it
    #[arg(long)]
    print: bool,
    /// Print the command as JSON instead of running it
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge worker peek alpha\n  forge worker peek alpha --lines 200")]
pub struct PeekFlags {
    /// The worker's id
    worker: String,
    /// Number of lines
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    lines: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge worker logs alpha\n  tail -f \"$(forge worker logs alpha --path)\""
)]
pub struct LogsFlags {
    /// The worker's id
    worker: String,
    /// Print the path of the log instead of its text
    #[arg(long)]
    path: bool,
    /// Print path and text as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn list(client: &Client, json: bool) -> Result<()> {
    if json {
        json::print(&client.get::<Vec<ListedWorker>>("/api/workers").await?);
        return Ok(());
    }
    let workers: Vec<ListedWorker> = client.get("/api/workers").await?;
    if workers.is_empty() {
        say(&Line::new(Ink::Plain, "no workers; `forge worker spawn` starts one"));
        return Ok(());
    }
    let head = ["ID", "PHASE", "HEALTH", "MODEL", "AGE", "MEMORY", "TASK", "NOTE"];
    let mut table = Table::new(&head).flexible(&["TASK", "NOTE"]).right(&["AGE", "MEMORY"]);
    let (now, has_signs) = (Millis::now(), terminal::draws_emoji());
    for worker in workers {
        let ListedWorker { worker: facts, managed, .. } = worker;
        if has_signs {
            table.sign(if managed { facts.indication().emoji() } else { "" });
        }
        let age = facts.started_at.map(|at| figures::age(at, now)).unwrap_or_default();
        let memory = facts.health.memory_mb.map(|mb| figures::size(mb << 20)).unwrap_or_default();
        let phase = if managed { json::word(&facts.phase) } else { "unmanaged".to_owned() };
        let health =
            facts.fares().filter(|_| managed).map_or_else(|| "-".to_owned(), |level| json::word(&level));
        let task = facts.task();
        table.row(vec![
            (Ink::Bold, facts.id.to_string()),
            (ink(&phase), phase),
            (ink(&health), health),
            (Ink::Plain, facts.model),
            (Ink::Dim, age),
            (Ink::Dim, memory),
            (Ink::Plain, task),
            (Ink::Dim, facts.note.unwrap_or_default()),
        ]);
    }
    table.print();
    Ok(())
}

fn ink(word: &str) -> Ink {
    match word {
        "running" | "healthy" | "finished" => Ink::Green,
        "critical" | "failed" => Ink::Red,
        "degraded" | "recovering" | "parked" | "paused" => Ink::Yellow,
        "starting" => Ink::Cyan,
        _ => Ink::Dim,
    }
}

async fn find(client: &Client, id: &str) -> Result<ListedWorker> {
    client.get(&path(id, "")?).await
}

pub(super) async fn status(client: &Client, one: &One) -> Result<()> {
    if one.json {
        json::print(&client.get::<ListedWorker>(&path(&one.worker, "")?).await?);
        return Ok(());
    }
    let ListedWorker { worker: facts, managed, has_session, attached, log, .. } =
        find(client, &one.worker).await?;
    let phase = if managed { json::word(&facts.phase) } else { "unmanaged".to_owned() };
    say(&Line::new(Ink::Bold, facts.id.as_str()).and(ink(&phase), &format!(" {phase}")));
    let findings: Vec<String> = facts.health.findings.iter().map(json::word).collect();
    let health = match (facts.fares().filter(|_| managed), findings.is_empty()) {
        (None, _) => String::new(),
        (Some(level), true) => json::word(&level),
        (Some(level), false) => format!("{}: {}", json::word(&level), findings.join(", ")),
    };
    let looked_at = if attached { " (attached)" } else { "" };
    let session = if has_session { looked_at } else { " (gone)" };
    let task = facts.task();
    let facts = [
        ("health", health),
        ("note", facts.note.unwrap_or_default()),
        ("until", facts.parked_until.map(|at| at.to_string()).unwrap_or_default()),
        ("task", task),
        ("model", format!("{} ({})", facts.model, facts.tier)),
        ("launcher", facts.answer.and_then(|answer| answer.message).unwrap_or_default()),
        ("workspace", facts.workspace.display().to_string()),
        ("session", format!("{}{session}", facts.session)),
        ("memory", facts.health.memory_mb.map(|mb| figures::size(mb << 20)).unwrap_or_default()),
        ("log", log.display().to_string()),
    ];
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        say_fact(name, value);
    }
    Ok(())
}

pub(super) async fn attach(client: &Client, flags: &AttachFlags) -> Result<ExitCode> {
    let worker = find(client, &flags.worker).await?;
    if !worker.has_session {
        return Err(NotFound(format!("worker '{}' no longer has a session", worker.worker.id)).into());
    }
    let inside = std::env::var("TMUX").ok();
    let mut command = forge_core::attach_command(&worker.socket, &worker.worker.session, inside.as_deref())?;
    if flags.json || flags.print {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        match flags.json {
            true => terminal::print_json(&json!({"command": words})),
            false => say(&Line::new(Ink::Plain, &shlex::try_join(words.iter().map(String::as_str))?).whole()),
        }
        return Ok(ExitCode::SUCCESS);
    }
    if !terminal::is_attended() {
        let text = "there is no terminal to attach; `forge worker peek` shows the pane";
        return Err(Misused(text.to_owned()).into());
    }
    let error = command.exec();
    Err(error).context("cannot start tmux; it must be on the PATH")
}

pub(super) async fn peek(client: &Client, flags: &PeekFlags) -> Result<()> {
    let pane: WorkerPane =
        client.get(&format!("{}?lines={}", path(&flags.worker, "peek")?, flags.lines)).await?;
    match flags.json {
        true => json::print(&pane),
        false => terminal::print(&(clean(&pane.text) + "\n")),
    }
    Ok(())
}

pub(super) async fn logs(client: &Client, flags: &LogsFlags) -> Result<()> {
    let worker = find(client, &flags.worker).await?;
    if flags.path {
        say(&Line::new(Ink::Plain, &worker.log.display().to_string()).whole());
        return Ok(());
    }
    let text = forge_core::read_worker_log(&worker.log).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            NotFound(format!("{error}; an attended worker writes no log, `forge worker peek` shows its pane"))
        }
        _ => NotFound(format!("{error}; `forge worker logs --path` shows where it is")),
    })?;
    match flags.json {
        true => terminal::print_json(&json!({"path": worker.log, "text": text})),
        false => terminal::print(&clean(&text)),
    }
    Ok(())
}
