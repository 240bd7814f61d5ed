//! `forge worktree`: what lies below the worktree base, and moving it out of the way and back.

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::serve::block_on;

#[derive(Subcommand)]
pub enum Command {
    /// Every directory below the worktree base, whose it is and how much space it takes
    List {
        #[arg(long)]
        json: bool,
    },
    /// Save an attempt's worktree, then move it to the trash
    Retire { attempt: uuid::Uuid },
    /// Bring a retired worktree back as it was
    Restore { attempt: uuid::Uuid },
    /// Empty the trash of what is safely kept in the repository
    Gc {
        /// Only what was retired at least this many hours ago [default: 168]
        #[arg(long, value_name = "H")]
        older_than_h: Option<u64>,
    },
}

pub fn run(command: Command) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        match command {
            Command::List { json } => list(&client, json).await,
            Command::Retire { attempt } => {
                let kept: Value =
                    client.post(&format!("/api/worktrees/{attempt}/retire"), &json!({})).await?;
                println!("retired; kept as {}", text(&kept["reference"]));
                println!("bring it back with: forge worktree restore {attempt}");
                Ok(())
            }
            Command::Restore { attempt } => {
                let back: Value =
                    client.post(&format!("/api/worktrees/{attempt}/restore"), &json!({})).await?;
                println!("restored from the {} to {}", text(&back["from"]), text(&back["path"]));
                let missing = back["missing"].as_array().map_or(0, Vec::len);
                if missing > 0 {
                    println!("{missing} regenerable folders (caches, dependencies) were not kept");
                }
                Ok(())
            }
            Command::Gc { older_than_h } => {
                let body = json!({ "older_than_h": older_than_h });
                let report: Value = client.post("/api/worktrees/gc", &body).await?;
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

async fn list(client: &Client, json: bool) -> Result<()> {
    let report: Value = client.get("/api/worktrees").await?;
    if json {
        println!("{report:#}");
        return Ok(());
    }
    println!(
        "{}  {} used, {} free, {} warm",
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
    let bytes = bytes.as_u64().unwrap_or(0) as f64;
    match bytes {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} kB", b / 1e3),
    }
}
