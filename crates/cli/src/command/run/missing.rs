//! What an agent's copy of the repository does not have, although the person may expect it.
//!
//! Invariant: read-only, and never fails.

use std::path::Path;

use forge_git::{Repo, linked_worktree};

/// Notes about a copy that starts from `base`, for a person in `dir`.
pub async fn notes(dir: &Path, base: &str) -> Vec<String> {
    look(dir, base).await.unwrap_or_default()
}

async fn look(dir: &Path, base: &str) -> Option<Vec<String>> {
    let repo = Repo::open(dir).await.ok()?;
    let top = linked_worktree(dir).unwrap_or_else(|| repo.path().to_owned());
    let status = forge_git::status(&repo, &top).await.ok()?;
    let mut notes = Vec::new();
    if let Some(branch) = status.branch.filter(|branch| branch != base) {
        notes.push(format!(
            "you are on {branch}, the agent starts from {base}; --base {branch} starts from your branch"
        ));
    }
    if status.changed.len() + status.untracked > 0 {
        notes.push("your uncommitted changes are not in the agent's copy; commit what it needs".to_owned());
    }
    if top.join(".gitmodules").exists() {
        let help = "a setup script of the project can initialize them: git submodule update --init";
        notes.push(format!("submodules are empty in the agent's copy; {help}"));
    }
    Some(notes)
}
