//! What an agent's copy of the repository does not have, although the person may expect it there.
//!
//! Invariant: only looks, and what cannot be found out is not worth a failure.

use std::path::Path;

use forge_git::{Repo, linked_worktree};

/// Notes on a copy that begins at `base`, for somebody who is at `dir`.
pub async fn tell(dir: &Path, base: &str) -> Vec<String> {
    look(dir, base).await.unwrap_or_default()
}

async fn look(dir: &Path, base: &str) -> Option<Vec<String>> {
    let repo = Repo::open(dir).await.ok()?;
    let top = linked_worktree(dir).unwrap_or_else(|| repo.path().to_owned());
    let status = forge_git::status(&repo, &top).await.ok()?;
    let mut notes = Vec::new();
    if let Some(branch) = status.branch.filter(|branch| branch != base) {
        notes.push(format!("you are on {branch}, the agent begins at {base}; --base {branch} begins here"));
    }
    if status.changed.len() + status.untracked > 0 {
        notes.push("your uncommitted changes are not in the agent's copy; commit what it needs".to_owned());
    }
    if top.join(".gitmodules").exists() {
        let help = "a setup script of the project can fill them: git submodule update --init";
        notes.push(format!("submodules are empty in the agent's copy; {help}"));
    }
    Some(notes)
}
