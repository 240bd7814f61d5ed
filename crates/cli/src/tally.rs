//! What an attempt used and changed, in numbers.

use std::path::Path;

use forge_git::{Counting, Repo, diff_worktree, linked_worktree, merge_base};
use serde_json::Value;

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
    pub async fn count(attempt: &Value) -> Option<Self> {
        let text = |key: &str| attempt[key].as_str();
        let place = Path::new(text("worktree_path")?);
        // Only a linked worktree: a repository that an agent created in its place is ignored.
        let repo = Repo::open(&linked_worktree(place)?).await.ok()?;
        let base = merge_base(&repo, text("branch")?, text("target_branch")?).await.ok()??;
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

impl Tokens {
    /// From the fields of an attempt or of a `/api/usage` total, which differ in one name.
    pub fn read(from: &Value) -> Self {
        let count = |key: &str| from[key].as_u64().unwrap_or(0);
        let written = count("cache_creation_tokens") + count("cache_write_tokens");
        Self {
            input: count("input_tokens") + count("cache_read_tokens") + written,
            output: count("output_tokens"),
        }
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
