//! Worktrees on disk, and what was done with them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AttemptId, Millis};

/// Every directory below the worktree base and what may be done with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeReport {
    pub base: PathBuf,
    pub free_bytes: u64,
    pub used_bytes: u64,
    pub worktrees: Vec<WorktreeLine>,
    /// Warm worktrees, ready to be claimed.
    pub spares: usize,
    pub trash: Vec<TrashLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeLine {
    pub path: PathBuf,
    pub bytes: u64,
    pub standing: Standing,
    pub attempt_id: Option<AttemptId>,
    pub branch: Option<String>,
    pub repo: Option<String>,
}

/// Whose directory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// An attempt or errand of this server uses it, or it is a spare.
    InUse,
    /// Ours by its mark, but no attempt refers to it.
    Orphan,
    /// It carries the mark of another Forge.
    OtherForge,
    /// No mark: never touched.
    Stranger,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrashLine {
    pub path: PathBuf,
    pub bytes: u64,
    pub attempt_id: Option<AttemptId>,
    pub retired_at: Millis,
}

/// Where a retired worktree went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptWorktree {
    pub attempt_id: AttemptId,
    pub reference: String,
    pub commit: String,
    pub trash: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestoredWorktree {
    pub attempt_id: AttemptId,
    pub path: PathBuf,
    pub from: RestoreSource,
    /// Regenerable files that were not part of the snapshot.
    pub missing: Vec<String>,
}

/// Where the files of a restored worktree came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RestoreSource {
    Trash,
    Snapshot,
}

/// Where an attempt works from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdoptedWorktree {
    pub attempt_id: AttemptId,
    pub path: PathBuf,
    /// Where the worktree was.
    pub from: PathBuf,
}

/// An attempt whose branch is free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReleasedWorktree {
    pub attempt_id: AttemptId,
    /// The worktree that was let go, unless it was gone already.
    pub path: Option<PathBuf>,
    pub branch: String,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GarbageRequest {
    /// Trash younger than this stays; default one week.
    pub older_than_h: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GarbageReport {
    pub removed: Vec<PathBuf>,
    pub freed_bytes: u64,
    /// Trash that stays although it is old enough, and why.
    pub kept: Vec<String>,
    pub removed_logs: usize,
}
