//! `forge worker`: agents in long-lived tmux sessions.

mod act;
mod show;
mod spawn;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::client::Client;
use crate::command::serve::block_on;

#[derive(Subcommand)]
#[command(
    after_help = "Examples:\n  forge worker spawn --launcher claude-code --model sonnet\n  forge worker list\n  forge worker attach alpha"
)]
pub enum Command {
    /// Start a worker, from a definition or from a launcher
    Spawn(spawn::Flags),
    /// List all workers, and other sessions that look like workers
    #[command(after_help = "Examples:\n  forge worker list\n  forge worker list --json")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one worker: its settings and its health
    #[command(after_help = "Examples:\n  forge worker status alpha\n  forge worker status alpha --json")]
    Status(One),
    /// Stop workers, and kill those that do not stop in time
    Stop(act::StopFlags),
    /// Kill workers immediately
    #[command(after_help = "Examples:\n  forge worker kill alpha\n  forge worker kill alpha bravo")]
    Kill(Several),
    /// Restart workers with their original settings
    #[command(after_help = "Examples:\n  forge worker restart alpha\n  forge worker restart alpha bravo")]
    Restart(Several),
    /// Pause a worker: it accepts no new work
    Pause(act::PauseFlags),
    /// Resume paused, parked and recovering workers now
    #[command(after_help = "Examples:\n  forge worker resume alpha\n  forge worker resume alpha bravo")]
    Resume(Several),
    /// Adopt a session that looks like a worker
    #[command(after_help = "Examples:\n  forge worker adopt claude-code-sonnet-alpha")]
    Adopt(One),
    /// Remove ended workers from the list
    #[command(after_help = "Examples:\n  forge worker delete alpha\n  forge worker delete alpha bravo")]
    Delete(Several),
    /// Attach to a worker's session; inside tmux, switch the client to it
    Attach(show::AttachFlags),
    /// Show the last lines of a worker's pane
    Peek(show::PeekFlags),
    /// Send a line or Ctrl-C to a worker's pane
    Send(act::SendFlags),
    /// Print a worker's log, which it writes while unattended
    Logs(show::LogsFlags),
}

#[derive(clap::Args)]
pub struct One {
    /// The worker's id
    worker: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One or more workers.
#[derive(clap::Args)]
pub struct Several {
    /// The ids of the workers
    #[arg(value_name = "WORKER", required = true)]
    workers: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(command: Command) -> Result<ExitCode> {
    block_on(async {
        let client = Client::find()?;
        match command {
            Command::Attach(flags) => return show::attach(&client, &flags).await,
            Command::Spawn(flags) => spawn::run(&client, flags).await?,
            Command::List { json } => show::list(&client, json).await?,
            Command::Status(one) => show::status(&client, &one).await?,
            Command::Stop(flags) => act::stop(&client, flags).await?,
            Command::Kill(several) => act::each(&client, &several, "kill", "killed").await?,
            Command::Restart(several) => act::each(&client, &several, "restart", "restarted").await?,
            Command::Pause(flags) => act::pause(&client, &flags).await?,
            Command::Resume(several) => act::each(&client, &several, "resume", "resumed").await?,
            Command::Adopt(one) => {
                let several = Several { workers: vec![one.worker], json: one.json };
                act::each(&client, &several, "adopt", "adopted").await?;
            }
            Command::Delete(several) => act::delete(&client, &several).await?,
            Command::Peek(flags) => show::peek(&client, &flags).await?,
            Command::Send(flags) => act::send(&client, &flags).await?,
            Command::Logs(flags) => show::logs(&client, &flags).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// The URL path of a worker. Worker ids need no escaping; anything that does is not an id.
fn path(id: &str, verb: &str) -> Result<String> {
    let id: forge_types::WorkerId =
        id.parse().map_err(|error: forge_types::InvalidWorkerId| crate::exit::Misused(error.to_string()))?;
    Ok(match verb {
        "" => format!("/api/workers/{id}"),
        verb => format!("/api/workers/{id}/{verb}"),
    })
}
