//! `forge whoami`: which attempt a directory belongs to, from the marks in git alone.

use anyhow::{Result, bail};
use forge_git::Owner;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge whoami\n  forge whoami --json")]
pub struct Flags {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn print(flags: &Flags) -> Result<()> {
    let here = std::env::current_dir()?;
    let Some(found) = forge_git::whoami(&here)? else {
        bail!("{} is not inside a worktree of Forge", here.display());
    };
    let (kind, id) = match found.mark.owner {
        Owner::Attempt(id) => ("attempt", id.to_string()),
        Owner::Errand(id) => ("execution run", id.to_string()),
        Owner::Spare => bail!("{} is a spare worktree; no attempt uses it yet", here.display()),
    };
    if flags.json {
        let json = serde_json::json!({
            "kind": kind, "id": id, "branch": found.mark.branch, "worktree": found.worktree,
            "repository": found.mark.repo, "installation": found.mark.installation,
        });
        println!("{json:#}");
        return Ok(());
    }
    println!("{kind}     {id}");
    println!("branch      {}", found.mark.branch.unwrap_or_default());
    println!("worktree    {}", found.worktree.display());
    println!("repository  {}", found.mark.repo);
    Ok(())
}
