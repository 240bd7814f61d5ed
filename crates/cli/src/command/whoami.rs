//! `forge whoami`: what a directory belongs to, without a server.

use anyhow::{Context, Result};

use crate::command::serve;
use crate::linkage::Linkage;
use crate::reference::NotFound;
use crate::transcript::clean;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge whoami\n  forge whoami --json | jq -r .task.id")]
pub struct Flags {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(flags: &Flags) -> Result<()> {
    let here = std::env::current_dir().context("the current directory does not exist")?;
    let Some(found) = serve::block_on(Linkage::of(&here))? else {
        let text = format!("{} is not inside a worktree that Forge is using", here.display());
        return Err(NotFound(text).into());
    };
    if flags.json {
        println!("{:#}", found.json());
        return Ok(());
    }
    let row = |name: &str, value: &str| println!("{name:<14}{}", clean(value).replace('\n', " "));
    row(found.kind, &found.id);
    row("branch", &found.branch);
    if let Some(task) = &found.task {
        row("task", &format!("{} {}", task.id, task.title));
    }
    if let Some(wish) = &found.wish {
        row("wish", &wish.slug);
    }
    if let Some(issue) = found.issue {
        row("issue", &format!("#{issue}"));
    }
    row("worktree", &found.worktree.to_string_lossy());
    row("repository", &found.repository.to_string_lossy());
    Ok(())
}
