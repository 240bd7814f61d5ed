//! One file of an attempt, before and after.
//!
//! Invariant: the sides are those of the diff that [`Forge::patch`] returns: the files of the worktree as they are now and the
//! point where the attempt left its target; of a worktree that was put away its branch; of landed work the commit and the one before.

use forge_types::AttemptId;

use crate::worktree::attempt_repo::AttemptRepo;
use crate::worktree::changes::Source;
use crate::worktree::host::ReadFile;
use crate::{Forge, Result};

/// The largest file that is handed out.
const MAX_BYTES: u64 = 16 << 20;

/// Which side of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Old,
    New,
}

impl Forge {
    pub async fn file(&self, id: AttemptId, path: &str, side: Side) -> Result<Vec<u8>> {
        let (attempt_repo, source) = self.change(id).await?;
        let commit = match (source, side) {
            (Source::Tree { .. }, Side::New) => {
                let AttemptRepo { workplace, host, .. } = attempt_repo;
                let (at, file) = (workplace.directory, path.to_owned());
                return Ok(host.ask(ReadFile { at, file, max_bytes: MAX_BYTES }).await?);
            }
            (Source::Tree { base } | Source::Branch { base, .. }, Side::Old) => base,
            (Source::Branch { tip, .. }, Side::New) => tip,
            (Source::Commit(commit), Side::New) => commit,
            (Source::Commit(commit), Side::Old) => format!("{commit}^"),
        };
        Ok(forge_git::read_committed_file(&attempt_repo.repo, &commit, path, MAX_BYTES).await?)
    }
}
