//! What an attempt used and changed, in numbers.

use std::path::Path;

use forge_git::{Counting, Repo, diff_worktree, linked_worktree, merge_base};
use forge_types::{Attempt, UsageSum};

use crate::figures;

/// Files and lines that an attempt changed against its target branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub files: usize,
    pub added: u64,
    pub removed: u64,
}

impl Changes {
    /// Counted here if the worktree is on this machine; a remote server does not report these numbers.
    pub async fn count(attempt: &Attempt) -> Option<Self> {
        let place = Path::new(attempt.worktree_path.as_deref()?);
        // Only a linked worktree: a repository that an agent created in its place is ignored.
        let repo = Repo::open(&linked_worktree(place)?).await.ok()?;
        let base = merge_base(&repo, &attempt.branch, &attempt.target_branch).await.ok()??;
        let files = diff_worktree(&repo, place, &base, Counting::Count).await.ok()?;
        let sum = |count: fn(&forge_git::FileDiff) -> Option<u64>| files.iter().filter_map(count).sum();
        Some(Self {
            files: files.len(),
            added: sum(|file| file.additions),
            removed: sum(|file| file.deletions),
        })
    }

    pub fn words(self) -> String {
        figures::changes(self.files, self.added, self.removed)
    }
}

/// Input tokens, including those from a cache, and output tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
}

impl From<&forge_types::Tokens> for Tokens {
    fn from(used: &forge_types::Tokens) -> Self {
        let counts = [used.input_tokens, used.cache_read_tokens, used.cache_creation_tokens];
        Self::new(counts.into_iter().flatten().sum(), used.output_tokens.unwrap_or(0))
    }
}

impl From<&UsageSum> for Tokens {
    fn from(used: &UsageSum) -> Self {
        Self::new(used.input_tokens + used.cache_read_tokens + used.cache_write_tokens, used.output_tokens)
    }
}

impl Tokens {
    fn new(input: i64, output: i64) -> Self {
        Self { input: input.try_into().unwrap_or(0), output: output.try_into().unwrap_or(0) }
    }

    pub fn is_zero(self) -> bool {
        self == Self::default()
    }

    /// `None` if no tokens were used.
    pub fn words(self) -> Option<String> {
        let Self { input, output } = self;
        let words = || format!("{} tokens in, {} out", figures::tokens(input), figures::tokens(output));
        (!self.is_zero()).then(words)
    }
}
