//! `forge backup`: writes everything Forge stores into one file, and restores it.
//!
//! A backup needs no server and disturbs none; a restore needs exclusive use of the home.

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

A backup contains the database, settings, profiles, prices, images, worker definitions and the
logs of all runs. It can be made while a server and its agents are running. Forge reads it back
and verifies it before giving it its name. Only its owner can read it: it may contain keys of
code hosts. It does not contain repositories, worktrees, the token, server logs or older copies
of the database."
)]
pub struct Flags {
    #[command(subcommand)]
    command: Option<Command>,
    /// The file to write, or a folder for it [default: forge-backup-<date>.tar.zst in the current directory]
    file: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Restore a backup, or a copy of the database from `backups` in Forge's home
    #[command(after_help = "Examples:
  forge backup restore forge-backup-2026-01-31T120000.tar.zst
  forge backup restore --replace ~/.forge/backups/db-before-0015-2026-01-31T120000.000Z.sqlite

No server may be using the home, and no agent may be running. Forge unpacks and verifies
everything, and opens the database, before it changes anything. Existing data is moved to
`before-restore-<time>` in the home and never deleted. Repositories, worktrees and the token stay
as they are.")]
    Restore(Restore),
}

#[derive(Args)]
struct Restore {
    /// The backup
    file: PathBuf,
    /// Move existing data aside and put the backup in its place
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
            Some(Command::Restore(restore)) => restore_home(restore).await,
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
    println!(
        "Forge read it back and verified every file. Keep it private: it may contain keys of code hosts."
    );
    for one in left_out {
        println!("  left out  {one}");
    }
    println!("Not included: {NOT_IN_BACKUPS}.");
    println!("Next: forge backup restore {}", file.display());
    Ok(())
}

async fn restore_home(flags: Restore) -> Result<()> {
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
        println!("The previous data is in {}", aside.display());
    }
    if let Some(other) = other_home {
        println!(
            "{} also exists, so this home is another installation. The worktrees of its attempts stay with that one: \
             once they are retired there, a follow-up here creates a new one from the branch.",
            other.display()
        );
    }
    println!("Not included: {NOT_IN_BACKUPS}; those are unchanged.");
    println!("Next: forge serve");
    Ok(())
}
