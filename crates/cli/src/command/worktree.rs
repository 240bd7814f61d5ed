//! `forge worktree`: lists, retires, restores, adopts and releases worktrees.

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::restore;
use crate::command::serve::block_on;
use crate::figures;
use crate::reference::{self, Deed, Meant, Scope};
use crate::terminal;

#[derive(Subcommand)]
#[command(after_help = "Examples:\n  forge worktree list\n  forge worktree retire @last")]
pub enum Command {
    /// List every directory below the worktree base, its owner and its size
    #[command(after_help = "Examples:\n  forge worktree list\n  forge worktree list --json")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Save an attempt's worktree, then move it to the trash
    #[command(after_help = "Examples:\n  forge worktree retire a1b2\n  forge worktree retire @last")]
    Retire {
        /// The attempt: id or a prefix of it, branch, task, agent or @last
        attempt: String,
        #[command(flatten)]
        scope: Scope,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Restore a retired worktree as it was
    #[command(after_help = "Examples:\n  forge worktree restore a1b2\n  forge worktree restore @last --json")]
    Restore {
        /// The attempt: id or a prefix of it, branch, task, agent or @last
        attempt: String,
        #[command(flatten)]
        scope: Scope,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Adopt an attempt's worktree that another program created, with all its contents
    #[command(after_help = "Examples:\n  forge worktree adopt a1b2\n  forge worktree adopt @last --json")]
    Adopt {
        /// The attempt: id or a prefix of it, branch, task, agent or @last
        attempt: String,
        #[command(flatten)]
        scope: Scope,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Release an attempt's branch from a worktree that another program created, if everything in it is committed
    #[command(after_help = "Examples:\n  forge worktree release a1b2\n  forge worktree release @last --json")]
    Release {
        /// The attempt: id or a prefix of it, branch, task, agent or @last
        attempt: String,
        #[command(flatten)]
        scope: Scope,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Empty the trash of worktrees that are saved in the repository
    #[command(after_help = "Examples:\n  forge worktree gc\n  forge worktree gc --older-than-h 24")]
    Gc {
        /// Only what was retired at least this many hours ago [default: 168]
        #[arg(long, value_name = "H")]
        older_than_h: Option<u64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(command: Command) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        match command {
            Command::List { json } => list(&client, json).await,
            Command::Retire { attempt, scope, json } => retire(&client, &attempt, &scope, json).await,
            Command::Restore { attempt, scope, json } => {
                restore::restore(&client, &attempt, &scope, json).await
            }
            Command::Adopt { attempt, scope, json } => adopt(&client, &attempt, &scope, json).await,
            Command::Release { attempt, scope, json } => release(&client, &attempt, &scope, json).await,
            Command::Gc { older_than_h, json } => {
                let body = json!({ "older_than_h": older_than_h });
                let report: Value = client.post("/api/worktrees/gc", &body).await?;
                if json {
                    terminal::print_json(&report);
                    return Ok(());
                }
                let removed = report["removed"].as_array().map_or(0, Vec::len);
                println!("{removed} removed, {} freed", size(&report["freed_bytes"]));
                for kept in report["kept"].as_array().into_iter().flatten() {
                    println!("kept  {}", text(kept));
                }
                Ok(())
            }
        }
    })
}

async fn retire(client: &Client, named: &str, scope: &Scope, json: bool) -> Result<()> {
    let Meant { attempt, project } = reference::attempt(client, named, scope, Deed::Change).await?;
    let mut kept: Value = client.post(&format!("/api/worktrees/{}/retire", attempt.id), &json!({})).await?;
    if json {
        kept["project"] = json!(project.name);
        terminal::print_json(&kept);
        return Ok(());
    }
    println!("retired {} of {}; saved as {}", attempt.short(), project.name, text(&kept["reference"]));
    println!("restore it with: forge restore {}", attempt.short());
    Ok(())
}

async fn adopt(client: &Client, named: &str, scope: &Scope, json: bool) -> Result<()> {
    let Meant { attempt, project } = reference::attempt(client, named, scope, Deed::Change).await?;
    let mut done: Value = client.post(&format!("/api/worktrees/{}/adopt", attempt.id), &json!({})).await?;
    if json {
        done["project"] = json!(project.name);
        terminal::print_json(&done);
        return Ok(());
    }
    let (path, from) = (text(&done["path"]), text(&done["from"]));
    match path == from {
        true => println!("adopted {} of {}; it stays at {path}", attempt.short(), project.name),
        false => println!("adopted {} of {}; moved from {from} to {path}", attempt.short(), project.name),
    }
    Ok(())
}

async fn release(client: &Client, named: &str, scope: &Scope, json: bool) -> Result<()> {
    let Meant { attempt, project } = reference::attempt(client, named, scope, Deed::Change).await?;
    let mut done: Value = client.post(&format!("/api/worktrees/{}/release", attempt.id), &json!({})).await?;
    if json {
        done["project"] = json!(project.name);
        terminal::print_json(&done);
        return Ok(());
    }
    match done["path"].as_str() {
        Some(path) => {
            println!("{path} stays, but no longer has the branch {} checked out", text(&done["branch"]))
        }
        None => println!("the old worktree is gone"),
    }
    println!("the next run of {} gets a worktree of its own", attempt.short());
    Ok(())
}

async fn list(client: &Client, json: bool) -> Result<()> {
    let report: Value = client.get("/api/worktrees").await?;
    if json {
        println!("{report:#}");
        return Ok(());
    }
    println!(
        "{}  {} used, {} free, {} spare",
        text(&report["base"]),
        size(&report["used_bytes"]),
        size(&report["free_bytes"]),
        report["spares"]
    );
    for line in report["worktrees"].as_array().into_iter().flatten() {
        let owner = line["attempt_id"].as_str().unwrap_or("-");
        println!(
            "{:11} {:>9}  {}  {owner}",
            text(&line["standing"]),
            size(&line["bytes"]),
            text(&line["path"])
        );
    }
    for line in report["trash"].as_array().into_iter().flatten() {
        let owner = line["attempt_id"].as_str().unwrap_or("-");
        println!("{:11} {:>9}  {}  {owner}", "trash", size(&line["bytes"]), text(&line["path"]));
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn size(bytes: &Value) -> String {
    figures::size(bytes.as_u64().unwrap_or(0))
}
