//! What changed in a worktree, file by file, and the branches of a repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One changed file. Contents are omitted for large and binary files and when only figures are requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    pub change: DiffChange,
    pub old_path: Option<String>,
    pub new_path: Option<String>,
    pub old_content: Option<String>,
    pub new_content: Option<String>,
    pub content_omitted: bool,
    pub additions: Option<u64>,
    pub deletions: Option<u64>,
    /// Written by a package manager, not by a person.
    #[serde(default)]
    pub lock_file: bool,
}

/// Whether a path is that of a package manager's lock file, which reviewers usually fold away.
pub fn is_lock_file(path: &str) -> bool {
    const NAMES: [&str; 19] = [
        "Cargo.lock",
        "Gemfile.lock",
        "Package.resolved",
        "Pipfile.lock",
        "Podfile.lock",
        "bun.lock",
        "bun.lockb",
        "composer.lock",
        "deno.lock",
        "flake.lock",
        "go.sum",
        "mix.lock",
        "npm-shrinkwrap.json",
        "package-lock.json",
        "pnpm-lock.yaml",
        "poetry.lock",
        "pubspec.lock",
        "uv.lock",
        "yarn.lock",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    NAMES.contains(&name)
}

impl Diff {
    /// The path under which clients keep this file.
    pub fn key(&self) -> &str {
        self.new_path.as_deref().or(self.old_path.as_deref()).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DiffChange {
    Added,
    Deleted,
    Modified,
    Renamed,
    Copied,
    PermissionChange,
}

/// A local or remote-tracking branch (the wire calls it a git branch).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GitBranch")]
pub struct BranchInfo {
    pub name: String,
    pub is_current: bool,
    pub is_remote: bool,
    pub last_commit_date: crate::Millis,
}
