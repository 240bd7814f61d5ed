//! `forge worktree`: lists, retires, restores, adopts and releases worktrees.

use anyhow::Result;
use clap::Subcommand;
use forge_types::wire::{
    AdoptedWorktree, GarbageReport, GarbageRequest, KeptWorktree, ReleasedWorktree, WorktreeReport,
};
use serde_json::json;

use crate::client::Client;
use crate::command::restore;
use crate::command::serve::block_on;
use crate::figures;
use crate::json::{self, OfProject};
use crate::reference::{self, Deed, Meant, Scope, short};

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
                let body = json!(GarbageRequest { older_than_h });
                let report: GarbageReport = client.post("/api/worktrees/gc", &body).await?;
                if json {
                    json::print(&report);
                    return Ok(());
                }
                println!("{} removed, {} freed", report.removed.len(), figures::size(report.freed_bytes));
                report.kept.iter().for_each(|kept| println!("kept  {kept}"));
                Ok(())
            }
        }
    })
}

async fn retire(client: &Client, named: &str, scope: &Scope, json: bool) -> Result<()> {
    let Meant { attempt, project } = reference::attempt(client, named, scope, Deed::Change).await?;
    let kept: KeptWorktree =
        client.post(&format!("/api/worktrees/{}/retire", attempt.id), &json!({})).await?;
    if json {
        json::print(&OfProject { data: kept, project: project.name });
        return Ok(());
    }
    println!("retired {} of {}; saved as {}", short(attempt.id), project.name, kept.reference);
    println!("restore it with: forge restore {}", short(attempt.id));
    Ok(())
}

async fn adopt(client: &Client, named: &str, scope: &Scope, json: bool) -> Result<()> {
    let Meant { attempt, project } = reference::attempt(client, named, scope, Deed::Change).await?;
    let done: AdoptedWorktree =
        client.post(&format!("/api/worktrees/{}/adopt", attempt.id), &json!({})).await?;
    if json {
        json::print(&OfProject { data: done, project: project.name });
        return Ok(());
    }
    let (path, from) = (done.path.display(), done.from.display());
    match done.path == done.from {
        true => println!("adopted {} of {}; it stays at {path}", short(attempt.id), project.name),
        false => println!("adopted {} of {}; moved from {from} to {path}", short(attempt.id), project.name),
    }
    Ok(())
}

async fn release(client: &Client, named: &str, scope: &Scope, json: bool) -> Result<()> {
    let Meant { attempt, project } = reference::attempt(client, named, scope, Deed::Change).await?;
    let done: ReleasedWorktree =
        client.post(&format!("/api/worktrees/{}/release", attempt.id), &json!({})).await?;
    if json {
        json::print(&OfProject { data: done, project: project.name });
        return Ok(());
    }
    match &done.path {
        Some(path) => {
            println!("{} stays, but no longer has the branch {} checked out", path.display(), done.branch)
        }
        None => println!("the old worktree is gone"),
    }
    println!("the next run of {} gets a worktree of its own", short(attempt.id));
    Ok(())
}

async fn list(client: &Client, json: bool) -> Result<()> {
    let report: WorktreeReport = client.get("/api/worktrees").await?;
    if json {
        json::print(&report);
        return Ok(());
    }
    println!(
        "{}  {} used, {} free, {} spare",
        report.base.display(),
        figures::size(report.used_bytes),
        figures::size(report.free_bytes),
        report.spares
    );
    let worktrees = report.worktrees.iter();
    let worktrees =
        worktrees.map(|line| (json::word(&line.standing), line.bytes, &line.path, line.attempt_id));
    let trash = report.trash.iter().map(|line| ("trash".to_owned(), line.bytes, &line.path, line.attempt_id));
    for (standing, bytes, path, attempt) in worktrees.chain(trash) {
        let owner = attempt.map_or_else(|| "-".to_owned(), |id| id.to_string());
        println!("{standing:11} {:>9}  {}  {owner}", figures::size(bytes), path.display());
    }
    Ok(())
}
