//! What an attempt changed, as it is now: the files with their figures, and the patch.
//!
//! Invariant: the same changes as [`Forge::diff`] tells, but told once and bounded, for readers that do not stay. A
//! worktree that was put away stays so: then its commits are what is told.

use forge_git::{Counting, FileDiff, PatchScope};
use forge_types::{AttemptId, Diff, Merge};

use crate::review::branch::{Ground, tip_of};
use crate::review::diff::is_landed;
use crate::{Forge, Result};

/// In a report, more files than this are only counted.
const REPORTED_FILES: usize = 500;

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

/// The figures of a whole change, and its files as far as they fit.
#[derive(Clone, Debug, Default)]
pub struct ChangeStat {
    /// Without contents.
    pub files: Vec<Diff>,
    pub file_count: usize,
    pub additions: u64,
    pub deletions: u64,
}

/// Where the changes lie.
pub(crate) enum Source {
    Commit(String),
    Tree {
        base: String,
    },
    /// The worktree is away.
    Branch {
        base: String,
        tip: String,
    },
}

impl Forge {
    /// The patch of an attempt against the point where it left its target, or of the commit it landed as.
    pub async fn patch(&self, id: AttemptId, request: PatchRequest<'_>) -> Result<AttemptPatch> {
        let (ground, source) = self.change(id).await?;
        let mut changed = count(&ground, &source).await?;
        if let Some(file) = request.file {
            let is_it = |name: &Option<String>| name.as_deref() == Some(file);
            changed.retain(|changed| is_it(&changed.old_path) || is_it(&changed.new_path));
        }
        // Git sees that a file was renamed only when it is told of both names.
        let names = |file: &FileDiff| [file.old_path.clone(), file.new_path.clone()].into_iter().flatten();
        let scope = PatchScope {
            max_bytes: request.max_bytes,
            context_lines: request.context_lines,
            files: request.file.map(|_| changed.iter().flat_map(names).collect()),
        };
        let patch = match &source {
            Source::Commit(commit) => forge_git::patch_commit(&ground.repo, commit, &scope).await?,
            Source::Tree { base } => {
                forge_git::patch_worktree(&ground.repo, &ground.site.place, base, &scope).await?
            }
            Source::Branch { base, tip } => forge_git::patch_between(&ground.repo, base, tip, &scope).await?,
        };
        let changes = stat(changed, request.max_files);
        let committed_only = matches!(source, Source::Branch { .. });
        Ok(AttemptPatch { changes, text: patch.text, truncated: patch.truncated, committed_only })
    }

    pub(crate) async fn stat(&self, id: AttemptId) -> Result<ChangeStat> {
        let (ground, source) = self.change(id).await?;
        Ok(stat(count(&ground, &source).await?, REPORTED_FILES))
    }

    pub(crate) async fn change(&self, id: AttemptId) -> Result<(Ground, Source)> {
        let ground = self.plot(id).await?;
        let merged = self.0.store.merges(id).await?.into_iter().next();
        if let Some(commit) = merged.as_ref().and_then(Merge::commit)
            && is_landed(&ground, commit).await?
        {
            return Ok((ground, Source::Commit(commit.to_owned())));
        }
        let is_away = ground.is_away();
        let head = ground.head().await?;
        let target = tip_of(&ground.repo, &ground.attempt.target_branch).await?;
        let base = forge_git::merge_base(&ground.repo, &head, &target).await?.unwrap_or_else(|| head.clone());
        let source = if is_away { Source::Branch { base, tip: head } } else { Source::Tree { base } };
        Ok((ground, source))
    }
}

async fn count(ground: &Ground, source: &Source) -> Result<Vec<FileDiff>> {
    let Ground { site, repo, .. } = ground;
    Ok(match source {
        Source::Commit(commit) => forge_git::diff_commit(repo, commit, Counting::Count).await?,
        Source::Tree { base } => forge_git::diff_worktree(repo, &site.place, base, Counting::Count).await?,
        Source::Branch { base, tip } => forge_git::diff_between(repo, base, tip, Counting::Count).await?,
    })
}

fn stat(files: Vec<FileDiff>, max_files: usize) -> ChangeStat {
    let sum = |lines: fn(&FileDiff) -> Option<u64>| files.iter().filter_map(lines).sum();
    ChangeStat {
        file_count: files.len(),
        additions: sum(|file| file.additions),
        deletions: sum(|file| file.deletions),
        files: files.iter().take(max_files).map(FileDiff::outline).collect(),
    }
}
