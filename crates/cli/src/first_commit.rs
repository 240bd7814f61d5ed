//! The first commit of an empty repository: worktrees start from a commit, so the server creates an empty one.
//!
//! Invariant: it is never created silently. At a terminal the person is asked first; otherwise it is reported.

use anyhow::{Result, bail};
use forge_git::Repo;

use crate::terminal;

/// Asks the person at the terminal, if any, whether to create the first commit of an empty repository.
pub async fn ask(repo: &Repo) -> Result<()> {
    if !terminal::is_attended() || !repo.is_empty().await? {
        return Ok(());
    }
    let branch = repo.current_branch().await?.unwrap_or_default();
    let place = repo.path().display();
    if terminal::agree(&format!("{place} has no commits yet. Create an empty first commit on {branch}?"))? {
        return Ok(());
    }
    bail!("nothing was done; create a first commit in {place} and try again")
}

/// Reports that a new project got its first commit.
pub fn report(branch: Option<&str>) {
    if let Some(branch) = branch {
        eprintln!("forge: created an empty first commit on {branch}, because the repository had none");
    }
}
