//! `forge worker spawn`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use forge_types::Worker;
use forge_types::wire::WorkerDefinitions;
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::exit::Misused;
use crate::json;
use crate::terminal::say;
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge worker spawn alpha\n  forge worker spawn --launcher claude-code --model sonnet --id bravo\n  forge worker spawn --launcher codex --workspace ~/src/app --env RUST_LOG=debug"
)]
pub struct Flags {
    /// A worker from workers.yaml, or a type from the workers folder
    #[arg(value_name = "DEFINITION", required_unless_present = "launcher")]
    definition: Option<String>,
    /// Its name [default: as defined, or a new name]
    #[arg(long)]
    id: Option<String>,
    /// A launcher, by name or path
    #[arg(long, value_name = "NAME|PATH")]
    launcher: Option<String>,
    /// The model the agent uses
    #[arg(long)]
    model: Option<String>,
    /// Cost tier of the model: premium, standard, budget or free
    #[arg(long)]
    tier: Option<String>,
    /// Where it works [default: as defined, or the current directory]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The bead it works on
    #[arg(long, value_name = "ID")]
    bead: Option<String>,
    /// An additional variable for the launcher and the agent; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Time limit of the launcher in seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: Option<u64>,
    /// How the launcher takes its arguments: positional, flags or model-workspace-session
    #[arg(long)]
    style: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(client: &Client, flags: Flags) -> Result<()> {
    if flags.definition.is_some() {
        let defined: WorkerDefinitions = client.get("/api/worker-definitions").await?;
        defined.problems.iter().for_each(|problem| eprintln!("{problem}"));
    }
    let worker: Worker = client.post("/api/workers", &body(&flags)?).await?;
    if flags.json {
        json::print(&worker);
        return Ok(());
    }
    let line = Line::new(Ink::Green, "started ").and(Ink::Bold, worker.id.as_str());
    say(&line.and(Ink::Dim, &format!(" in the session {}", worker.session)));
    Ok(())
}

fn body(flags: &Flags) -> Result<Value> {
    let workspace = flags.workspace.as_ref().map(std::path::absolute).transpose()?;
    let here = match &workspace {
        Some(_) => None,
        // The definition may override it.
        None => Some(std::env::current_dir().context("the current directory does not exist")?),
    };
    let launcher = match &flags.launcher {
        Some(path) if path.contains('/') => Some(std::path::absolute(path)?.display().to_string()),
        name => name.clone(),
    };
    let mut env = Map::new();
    for pair in &flags.env {
        let Some((name, value)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Misused(format!("--env: '{pair}' is not NAME=VALUE")).into());
        };
        env.insert(name.to_owned(), value.into());
    }
    Ok(json!({
        "definition": flags.definition, "id": flags.id, "launcher": launcher, "model": flags.model,
        "tier": flags.tier, "workspace": workspace, "default_workspace": here, "bead": flags.bead, "env": env,
        "timeout_secs": flags.timeout, "style": flags.style,
    }))
}
