//! `forge hook`: a pre-commit hook that records in SESSION-STATE.md which attempt a commit comes from.

mod link;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use forge_git::{Hook, HookState};
use serde_json::json;

use crate::command::serve;

#[derive(clap::Subcommand)]
#[command(after_help = "Examples:\n  forge hook install\n  forge hook status --json\n  forge hook uninstall")]
pub enum Command {
    /// Install the pre-commit hook in this repository; an existing hook is kept and runs first
    #[command(after_help = "Examples:\n  forge hook install")]
    Install(Flags),
    /// Remove the hook and restore the previous one
    #[command(after_help = "Examples:\n  forge hook uninstall")]
    Uninstall(Flags),
    /// Show whether the hook is installed
    #[command(after_help = "Examples:\n  forge hook status")]
    Status(Flags),
    /// Link the commit in progress, as the hook does
    #[command(hide = true)]
    Run(link::Flags),
}

#[derive(clap::Args)]
pub struct Flags {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Install(flags) => install(&flags)?,
        Command::Uninstall(flags) => uninstall(&flags)?,
        Command::Status(flags) => {
            let hook = find()?;
            let words = match hook.state()? {
                HookState::Installed { .. } => "the pre-commit hook is installed",
                HookState::Foreign => {
                    "there is a pre-commit hook, but not Forge's; `forge hook install` adds it"
                }
                HookState::Absent => "there is no pre-commit hook; `forge hook install` adds one",
            };
            print_state(&hook, &flags, words)?;
        }
        Command::Run(flags) => return link::run(&flags),
    }
    Ok(ExitCode::SUCCESS)
}

fn install(flags: &Flags) -> Result<()> {
    let hook = find()?;
    let program = std::env::current_exe().context("cannot find this program's own path")?;
    let before = hook.install(&program).map_err(|error| match error {
        forge_git::GitError::Exists(kept) => anyhow::anyhow!(
            "{} is from an earlier install and differs from the current hook; nothing was changed. \
             Keep the one you need as {} and remove the other, then install again",
            kept.display(),
            hook.path().display()
        ),
        other => other.into(),
    })?;
    let words = match before {
        HookState::Installed { .. } => "the pre-commit hook was already installed",
        HookState::Foreign => "installed; the existing pre-commit hook is kept and runs first",
        HookState::Absent => "installed",
    };
    if hook.in_checkout {
        let folder = hook.path().parent().map(PathBuf::from).unwrap_or_default();
        eprintln!(
            "forge: hooks are in {}, which is part of this checkout: commit them so that worktrees get them too",
            folder.display()
        );
    }
    print_state(&hook, flags, words)
}

fn uninstall(flags: &Flags) -> Result<()> {
    let hook = find()?;
    let words = match hook.uninstall()? {
        HookState::Installed { before: Some(_) } => "removed; the previous hook is restored",
        HookState::Installed { before: None } => "removed",
        HookState::Foreign => "the pre-commit hook is not Forge's; nothing was changed",
        HookState::Absent => "there is no pre-commit hook; nothing was changed",
    };
    print_state(&hook, flags, words)
}

fn find() -> Result<Hook> {
    let here = std::env::current_dir().context("the current directory does not exist")?;
    serve::block_on(async { Ok(Hook::find(&here).await?) })
}

fn print_state(hook: &Hook, flags: &Flags, words: &str) -> Result<()> {
    if !flags.json {
        println!("{words}: {}", hook.path().display());
        return Ok(());
    }
    let (state, before) = match hook.state()? {
        HookState::Absent => ("absent", None),
        HookState::Foreign => ("foreign", None),
        HookState::Installed { before } => ("installed", before),
    };
    println!("{:#}", json!({"path": hook.path(), "state": state, "before": before}));
    Ok(())
}
