//! `forge restore`: lists retired worktrees, or restores one.

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::list;
use crate::command::serve::block_on;
use crate::figures;
use crate::reference::{self, Attempt, Deed, Meant, Scope};
use crate::terminal::{self, say};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge restore\n  forge restore a1b2")]
pub struct Flags {
    /// The attempt: id or a prefix of it, branch, task, agent or @last [default: list what can be restored]
    attempt: Option<String>,
    #[command(flatten)]
    scope: Scope,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        match &flags.attempt {
            Some(named) => restore(&client, named, &flags.scope, flags.json).await,
            None => list_retired(&client, flags.json).await,
        }
    })
}

/// Attempts with retired worktrees; their contents are saved in their repositories.
async fn list_retired(client: &Client, json: bool) -> Result<()> {
    let mut rows: Vec<Value> = client.get("/api/task-attempts").await?;
    rows.retain(|row| row["worktree_deleted"] == true && row["use_worktree"] != false);
    if json {
        terminal::print_json(&Value::Array(rows));
        return Ok(());
    }
    if rows.is_empty() {
        say(&Line::new(Ink::Plain, "there are no retired worktrees"));
        return Ok(());
    }
    let attempts = rows.iter().map(Attempt::deserialize).collect::<Result<Vec<_>, _>>()?;
    list::print_attempts(&attempts, &list::names(client).await?);
    Ok(())
}

/// Restores a retired worktree and prints from where.
pub async fn restore(client: &Client, named: &str, scope: &Scope, json: bool) -> Result<()> {
    let Meant { attempt, project } = reference::attempt(client, named, scope, Deed::Change).await?;
    let mut back: Value = client.post(&format!("/api/worktrees/{}/restore", attempt.id), &json!({})).await?;
    if json {
        back["project"] = json!(project.name);
        terminal::print_json(&back);
        return Ok(());
    }
    let text = |key: &str| back[key].as_str().unwrap_or_default();
    let line = Line::new(Ink::Green, "restored ").and(
        Ink::Plain,
        &format!("{} of {} from the {} to {}", attempt.short(), project.name, text("from"), text("path")),
    );
    say(&line.whole());
    let missing = back["missing"].as_array().map_or(0, Vec::len);
    if missing > 0 {
        let folders = figures::count(missing, "regenerable folder");
        say(&Line::new(Ink::Plain, &format!("not kept: {folders} (caches, dependencies)")));
    }
    Ok(())
}
