//! `forge stop`: stops running attempts and keeps their work.

use anyhow::{Result, bail};
use forge_types::{Attempt, AttemptStatus, RunStatus};
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::serve::block_on;
use crate::figures;
use crate::process::Process;
use crate::reference::{self, Deed, Meant, Scope, short};
use crate::terminal::{self, confirm, say};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge stop a1b2\n  forge stop @last\n  forge stop --all --yes")]
pub struct Flags {
    /// Attempts: id or a prefix of it, branch, task, agent or @last
    #[arg(value_name = "ATTEMPT", required_unless_present = "all")]
    attempts: Vec<String>,
    /// Stop every running attempt, of all projects or of the one given with --project
    #[arg(long, conflicts_with = "attempts")]
    all: bool,
    #[command(flatten)]
    scope: Scope,
    /// Do not ask before stopping all
    #[arg(short, long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        let attempts = choose(&client, &flags).await?;
        let mut results = Vec::new();
        for meant in attempts {
            let stopped = stop(&client, &meant.attempt).await?;
            if !flags.json {
                report(&meant, &stopped);
            }
            let Meant { attempt, project } = meant;
            results.push(json!({"attempt_id": attempt.id, "stopped": stopped, "project": project.name}));
        }
        if flags.json {
            terminal::print_json(&Value::Array(results));
        } else if results.is_empty() {
            say(&Line::new(Ink::Plain, "nothing is running"));
        }
        Ok(())
    })
}

/// Everything that is named is found before anything is stopped.
async fn choose(client: &Client, flags: &Flags) -> Result<Vec<Meant>> {
    let mut chosen: Vec<Meant> = Vec::new();
    if flags.all {
        let place = flags.scope.place(client).await?;
        let all = reference::attempts(client).await?.into_iter().map(|row| row.attempt);
        // A pending one is still being prepared.
        let all = all.filter(|one| matches!(one.status, AttemptStatus::Running | AttemptStatus::Pending));
        let all = all.filter(|attempt| place.holds(attempt.project_id));
        chosen = all.map(|attempt| place.meant(attempt)).collect::<Result<_>>()?;
        let question = format!("Stop {}?", figures::count(chosen.len(), "attempt"));
        if !chosen.is_empty() && !flags.yes && !confirm(&question)? {
            bail!("nothing was stopped");
        }
    }
    for named in &flags.attempts {
        let meant = reference::attempt(client, named, &flags.scope, Deed::Change).await?;
        if chosen.iter().all(|known| known.attempt.id != meant.attempt.id) {
            chosen.push(meant);
        }
    }
    Ok(chosen)
}

/// What was running.
async fn stop(client: &Client, attempt: &Attempt) -> Result<Vec<String>> {
    let runs = Process::list(client, attempt.id).await?;
    let running = runs.iter().filter(|run| run.status == RunStatus::Running);
    let names: Vec<String> = running.map(|run| run.name().to_owned()).collect();

    if !names.is_empty() {
        client.post::<Value>(&format!("/api/task-attempts/{}/stop", attempt.id), &json!({})).await?;
    }
    Ok(names)
}

fn report(Meant { attempt, project }: &Meant, stopped: &[String]) {
    let which = format!("{} in {}", short(attempt.id), project.name);
    let line = match stopped {
        [] => Line::new(Ink::Plain, &format!("nothing is running in {which}")),
        names => Line::new(Ink::Yellow, "stopped ")
            .and(Ink::Plain, &format!("the {} of {which}", names.join(" and the "))),
    };
    say(&line.and(Ink::Dim, &format!(" {}", attempt.branch)));
}
