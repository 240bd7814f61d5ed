//! Actions on workers, one after the other.

use anyhow::{Result, bail};
use forge_types::wire::ListedWorker;
use forge_types::{Worker, WorkerPhase};
use serde_json::{Value, json};

use super::{Several, path};
use crate::client::Client;
use crate::figures;
use crate::json;
use crate::terminal::{self, confirm, say};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge worker stop alpha\n  forge worker stop alpha --timeout 60\n  forge worker stop --all --yes"
)]
pub struct StopFlags {
    /// The ids of the workers
    #[arg(value_name = "WORKER", required_unless_present = "all")]
    workers: Vec<String>,
    /// Stop all of Forge's workers that have not ended
    #[arg(long, conflicts_with = "workers")]
    all: bool,
    /// Do not ask before stopping all
    #[arg(short, long)]
    yes: bool,
    /// Seconds to wait before a worker is killed [default: 10]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge worker pause alpha\n  forge worker pause alpha --reason \"release day\" --freeze"
)]
pub struct PauseFlags {
    /// The worker's id
    worker: String,
    /// The reason, shown in its status
    #[arg(long, default_value = "")]
    reason: String,
    /// Also suspend its processes
    #[arg(long)]
    freeze: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge worker send alpha \"run the tests again\"\n  forge worker send alpha --interrupt"
)]
pub struct SendFlags {
    /// The worker's id
    worker: String,
    /// The line to send
    #[arg(required_unless_present = "interrupt")]
    line: Option<String>,
    /// Send Ctrl-C instead
    #[arg(long, conflicts_with = "line")]
    interrupt: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Applies an action to each worker; reports what was done before a failure.
pub(super) async fn each(client: &Client, several: &Several, verb: &str, done: &str) -> Result<()> {
    post_each(client, &several.workers, verb, &json!({}), done, several.json).await
}

async fn post_each(
    client: &Client,
    workers: &[String],
    verb: &str,
    body: &Value,
    done: &str,
    json: bool,
) -> Result<()> {
    let mut changed = Vec::new();
    for id in workers {
        let worker: Worker = client.post(&path(id, verb)?, body).await?;
        if !json {
            report(done, id);
        }
        changed.push(worker);
    }
    if json {
        json::print(&changed);
    }
    Ok(())
}

pub(super) async fn stop(client: &Client, flags: StopFlags) -> Result<()> {
    let workers = match flags.all {
        false => flags.workers,
        true => {
            let all: Vec<ListedWorker> = client.get("/api/workers").await?;
            let ended = |phase: WorkerPhase| phase.is_over() || phase == WorkerPhase::Failed;
            let stays =
                |listed: &ListedWorker| listed.managed && (listed.has_session || !ended(listed.worker.phase));
            let ids = all.into_iter().filter(stays).map(|listed| listed.worker.id.to_string());
            let chosen: Vec<String> = ids.collect();
            let question = format!("Stop {}?", figures::count(chosen.len(), "worker"));
            if !chosen.is_empty() && !flags.yes && !confirm(&question)? {
                bail!("nothing was stopped");
            }
            chosen
        }
    };
    if workers.is_empty() && !flags.json {
        say(&Line::new(Ink::Plain, "no workers are running"));
    }
    let body = json!({"timeout_secs": flags.timeout});
    post_each(client, &workers, "stop", &body, "stopped", flags.json).await
}

pub(super) async fn pause(client: &Client, flags: &PauseFlags) -> Result<()> {
    let body = json!({"reason": flags.reason, "freeze": flags.freeze});
    post_each(client, std::slice::from_ref(&flags.worker), "pause", &body, "paused", flags.json).await
}

pub(super) async fn delete(client: &Client, several: &Several) -> Result<()> {
    for id in &several.workers {
        client.delete::<Value>(&path(id, "")?).await?;
        if !several.json {
            report("removed", id);
        }
    }
    if several.json {
        terminal::print_json(&json!(several.workers));
    }
    Ok(())
}

pub(super) async fn send(client: &Client, flags: &SendFlags) -> Result<()> {
    let (verb, body) = match &flags.line {
        Some(line) => ("send", json!({"line": line})),
        None => ("interrupt", json!({})),
    };
    client.post::<Value>(&path(&flags.worker, verb)?, &body).await?;
    match flags.json {
        true => terminal::print_json(&json!({"worker_id": flags.worker, "line": flags.line})),
        false => report(if flags.line.is_some() { "sent to" } else { "interrupted" }, &flags.worker),
    }
    Ok(())
}

fn report(done: &str, id: &str) {
    say(&Line::new(Ink::Yellow, &format!("{done} ")).and(Ink::Plain, id));
}
