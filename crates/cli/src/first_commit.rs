//! The first commit of a repository that has none: worktrees begin at a commit, so the server makes an empty one.
//!
//! Invariant: it is never made without a word. Who sits at a terminal is asked before; everybody else is told after.

use anyhow::{Result, bail};
use forge_git::Repo;

use crate::terminal;

/// Asks whether an empty repository may get its first commit, where somebody is there to be asked.
pub async fn ask(repo: &Repo) -> Result<()> {
    if !terminal::is_attended() || !repo.is_empty().await? {
        return Ok(());
    }
    let branch = repo.current_branch().await?.unwrap_or_default();
    let place = repo.path().display();
    if terminal::agree(&format!("{place} has no commit yet. Make an empty first one on {branch}?"))? {
        return Ok(());
    }
    bail!("nothing was done; make a first commit in {place} and try again")
}

/// Tells that a project which was just made got one.
pub fn tell(branch: Option<&str>) {
    if let Some(branch) = branch {
        eprintln!("forge: made an empty first commit on {branch}, because the repository had none");
    }
}
