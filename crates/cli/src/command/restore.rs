//! `forge restore`: lists retired worktrees, or restores one.

use anyhow::Result;
use forge_types::wire::RestoredWorktree;
use serde_json::json;

use crate::client::Client;
use crate::command::list;
use crate::command::serve::block_on;
use crate::figures;
use crate::json::{self, OfProject};
use crate::reference::{self, Deed, Meant, Scope, short};
use crate::terminal::say;
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
    let mut rows = reference::attempts(client).await?;
    rows.retain(|row| row.attempt.worktree_deleted && row.attempt.use_worktree);
    if json {
        json::print(&rows);
        return Ok(());
    }
    if rows.is_empty() {
        say(&Line::new(Ink::Plain, "there are no retired worktrees"));
        return Ok(());
    }
    list::print_attempts(&rows, &list::names(client).await?);
    Ok(())
}

/// Restores a retired worktree and prints from where.
pub async fn restore(client: &Client, named: &str, scope: &Scope, json: bool) -> Result<()> {
    let Meant { attempt, project } = reference::attempt(client, named, scope, Deed::Change).await?;
    let back: RestoredWorktree =
        client.post(&format!("/api/worktrees/{}/restore", attempt.id), &json!({})).await?;
    if json {
        json::print(&OfProject { data: back, project: project.name });
        return Ok(());
    }
    let (from, path) = (json::word(&back.from), back.path.display());
    let line = Line::new(Ink::Green, "restored ")
        .and(Ink::Plain, &format!("{} of {} from the {from} to {path}", short(attempt.id), project.name));
    say(&line.whole());
    if !back.missing.is_empty() {
        let folders = figures::count(back.missing.len(), "regenerable folder");
        say(&Line::new(Ink::Plain, &format!("not kept: {folders} (caches, dependencies)")));
    }
    Ok(())
}
