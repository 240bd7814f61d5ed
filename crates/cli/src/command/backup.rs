//! `forge backup`: everything that Forge keeps in one file, and back.
//!
//! Making one needs no server and disturbs none; bringing one back needs the home for itself.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use forge_core::{BackupReport, Config, NOT_IN_BACKUPS, RestoreReport};

use crate::command::serve;
use crate::figures::{count, size};
use crate::home;
use crate::settings::{self, Env};
use crate::terminal;

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  forge backup
  forge backup /media/disk/forge.tar.zst
  forge backup restore forge-backup-2026-01-31T120000.tar.zst

A backup holds the database, settings, profiles, prices, images, definitions of workers and the
logs of all runs, also while a server and its agents are at work. It is read back and compared
before it gets its name. Only its owner can read it: it may hold keys of code hosts.
Not in it are the repositories and worktrees, the token, server logs and older copies of the
database."
)]
pub struct Flags {
    #[command(subcommand)]
    command: Option<Command>,
    /// The file to write, or a folder for it [default: forge-backup-<date>.tar.zst here]
    file: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Bring a backup back, or a copy of the database from `backups` in Forge's home
    #[command(after_help = "Examples:
  forge backup restore forge-backup-2026-01-31T120000.tar.zst
  forge backup restore --replace ~/.forge/backups/db-before-0015-2026-01-31T120000.000Z.sqlite

No server may be running on the home, and no agent may be at work. Everything is unpacked and
compared, and the database opened, before anything changes. What was there is moved to
`before-restore-<time>` in the home and never deleted. Repositories and worktrees are left as they
are; the token stays.")]
    Restore(Restore),
}

#[derive(Args)]
struct Restore {
    /// The backup
    file: PathBuf,
    /// Move what is there aside and put the backup in its place
    #[arg(long)]
    replace: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(flags: Flags) -> Result<()> {
    serve::block_on(async {
        match flags.command {
            None => make(flags.file.as_deref().unwrap_or(Path::new(".")), flags.json).await,
            Some(Command::Restore(restore)) => bring_back(restore).await,
        }
    })
}

fn config() -> Result<Config> {
    let env = Env::load();
    settings::config(&serve::Flags::default(), env, settings::home(env)?)
}

async fn make(file: &Path, json: bool) -> Result<()> {
    let file = std::path::absolute(file).context("cannot resolve FILE")?;
    let report = forge_core::make_backup(&config()?, &file).await?;
    if json {
        terminal::print_json(&serde_json::to_value(&report)?);
        return Ok(());
    }
    let BackupReport { file, bytes, files, content_bytes, left_out, .. } = report;
    println!(
        "Backed up {} ({}) to {}, {}",
        count(files, "file"),
        size(content_bytes),
        file.display(),
        size(bytes)
    );
    println!("It was read back, and every file agrees. Keep it private: it may hold keys of code hosts.");
    for one in left_out {
        println!("  left out  {one}");
    }
    println!("Not in it: {NOT_IN_BACKUPS}.");
    println!("Next: forge backup restore {}", file.display());
    Ok(())
}

async fn bring_back(flags: Restore) -> Result<()> {
    let file = std::path::absolute(&flags.file).context("cannot resolve FILE")?;
    let config = config()?;
    let _lock = home::take(&config.home).await?;
    let report = forge_core::restore_backup(&config, &file, flags.replace).await?;
    if flags.json {
        terminal::print_json(&serde_json::to_value(&report)?);
        return Ok(());
    }
    let RestoreReport { home, files, made_at, moved_aside, other_home, .. } = report;
    let made = made_at.map(|at| format!(", made at {at}")).unwrap_or_default();
    println!("Restored {} to {} from {}{made}", count(files, "file"), home.display(), file.display());
    for aside in moved_aside {
        println!("What was there is in {}", aside.display());
    }
    if let Some(other) = other_home {
        println!(
            "{} is there too, so this home is another installation. The worktrees of its attempts stay with that one: \
             once they are retired there, a follow-up here makes a new one from the branch.",
            other.display()
        );
    }
    println!("Not in it: {NOT_IN_BACKUPS}; those are as they were.");
    println!("Next: forge serve");
    Ok(())
}
