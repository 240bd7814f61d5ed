//! `forge push`: publishes an attempt's branch.

use anyhow::Result;
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::serve::block_on;
use crate::reference;
use crate::terminal::{self, say};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge push @last\n  forge push a1b2 --json")]
pub struct Flags {
    /// The attempt: id or the beginning of it, branch, task, agent or @last
    attempt: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        let attempt = reference::attempt(&client, &flags.attempt).await?;
        client.post::<Value>(&format!("/api/task-attempts/{}/push", attempt.id), &json!({})).await?;
        if flags.json {
            terminal::print_json(&json!({"attempt_id": attempt.id, "branch": attempt.branch}));
            return Ok(());
        }
        say(&Line::new(Ink::Green, "pushed ").and(Ink::Plain, &attempt.branch));
        Ok(())
    })
}
