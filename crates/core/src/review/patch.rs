//! What an attempt changed, as it is now: the files with their figures, and the patch.
//!
//! Invariant: the same changes as [`Forge::diff`], but returned once and bounded, for readers that do not stay. A
//! worktree that was put away stays so: then its commits are returned.

use forge_git::{FileDiff, PatchScope};
use forge_types::AttemptId;

use crate::worktree::changes::{ChangeStat, Source, count, patch, sum_up};
use crate::{Forge, Result};

/// How much of a patch is wanted.
#[derive(Clone, Copy, Debug)]
pub struct PatchRequest<'a> {
    pub max_bytes: u64,
    /// More files than this are only counted.
    pub max_files: usize,
    /// Only this file, by its new or its old name.
    pub file: Option<&'a str>,
    /// Unchanged lines around each change, where the reader wants more or fewer than usual.
    pub context_lines: Option<u32>,
}

impl PatchRequest<'_> {
    /// All files.
    pub fn whole(max_bytes: u64, max_files: usize) -> Self {
        Self { max_bytes, max_files, file: None, context_lines: None }
    }
}

#[derive(Clone, Debug)]
pub struct AttemptPatch {
    pub changes: ChangeStat,
    pub text: String,
    /// There is more of it than the reader wanted.
    pub truncated: bool,
    /// The worktree was put away, and what was not committed went with it.
    pub committed_only: bool,
}

impl Forge {
    /// The patch of an attempt against the point where it left its target, or of the commit it landed as.
    pub async fn patch(&self, id: AttemptId, request: PatchRequest<'_>) -> Result<AttemptPatch> {
        let (attempt_repo, source) = self.change(id).await?;
        let mut changed = count(&attempt_repo, &source).await?;
        if let Some(file) = request.file {
            let is_it = |name: &Option<String>| name.as_deref() == Some(file);
            changed.retain(|changed| is_it(&changed.old_path) || is_it(&changed.new_path));
        }
        // Git sees that a file was renamed only when it is given both names.
        let names = |file: &FileDiff| [file.old_path.clone(), file.new_path.clone()].into_iter().flatten();
        let scope = PatchScope {
            max_bytes: request.max_bytes,
            context_lines: request.context_lines,
            files: request.file.map(|_| changed.iter().flat_map(names).collect()),
        };
        let patch = patch(&attempt_repo, &source, scope).await?;
        let changes = sum_up(changed, request.max_files);
        let committed_only = matches!(source, Source::Branch { .. });
        Ok(AttemptPatch { changes, text: patch.text, truncated: patch.truncated, committed_only })
    }
}
