//! Spare worktrees made ahead of time.
//!
//! Owns: how many there are and at which commit. `claim` takes them from the base.
//! Invariant: never more than `size` ready per repository, none made when the disk runs low, and a spare that turns out
//! to contain changes is retired like any worktree. Spares of other installations are not touched.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::base::Spare;
use crate::spare::Hooks;
use crate::{GitError, Owner, Repo, WorktreeBase, is_dirty, mark, retire, spare};

#[derive(Clone)]
pub struct Pool {
    base: WorktreeBase,
    size: usize,
    min_free_bytes: u64,
    /// Two fills at once would make too many.
    filling: Arc<Mutex<()>>,
}

/// What a call of [`Pool::fill`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filled {
    /// Spares ready at the wanted commit.
    pub ready: usize,
    pub made: usize,
    pub moved: usize,
    pub retired: usize,
}

impl Pool {
    pub fn new(base: WorktreeBase, size: usize, min_free_bytes: u64) -> Self {
        Self { base, size, min_free_bytes, filling: Arc::default() }
    }

    /// Brings the repository's spares to `commit` and their number to the pool's size.
    pub async fn fill(&self, repo: &Repo, commit: &str) -> Result<Filled, GitError> {
        let _filling = self.filling.lock().await;
        let mut filled = Filled::default();
        self.adopt(repo, &mut filled).await?;
        while let Some(old) = self.base.take_other_spare(repo, commit) {
            self.refresh(repo, old, commit, &mut filled).await?;
        }
        self.base.make()?;
        filled.ready = self.base.spare_paths(repo).len();
        while filled.ready < self.size && forge_os::free_bytes(self.base.path()) >= self.min_free_bytes {
            let spare = spare::make(repo, &self.base, commit, Hooks::Run).await?;
            self.base.put_spare(repo, spare);
            filled.made += 1;
            filled.ready = self.base.spare_paths(repo).len();
        }
        Ok(filled)
    }

    /// Takes over spares that an earlier server of this installation left; unfinished and changed ones are retired.
    async fn adopt(&self, repo: &Repo, filled: &mut Filled) -> Result<(), GitError> {
        let Ok(dir) = std::fs::canonicalize(self.base.spare_dir()) else { return Ok(()) };
        let known = self.base.spare_paths(repo);
        let entries = std::fs::read_dir(&dir).map_err(GitError::io(&dir))?;
        let left: Vec<PathBuf> = entries
            .flatten()
            .map(|e| e.path())
            .filter(|p| !known.contains(p) && !self.base.is_held(p))
            .collect();
        for path in left {
            let proven = mark::prove(repo, &self.base, Owner::Spare, &path).and_then(|_| repo.tree(&path));
            let Ok(tree) = proven else { continue };
            if self.base.is_held(&path) {
                continue;
            }
            if is_dirty(repo, &path).await? {
                retire(repo, &self.base, Owner::Spare, &path).await?;
                filled.retired += 1;
                continue;
            }
            let commit = repo.head_of(&path).await?;
            self.base.put_spare(repo, Spare { path, git_dir: tree.git_dir().to_owned(), commit });
        }
        Ok(())
    }

    async fn refresh(
        &self,
        repo: &Repo,
        old: Spare,
        commit: &str,
        filled: &mut Filled,
    ) -> Result<(), GitError> {
        let Ok(tree) = repo.tree(&old.path) else {
            self.base.let_go(&old.path);
            return Ok(());
        };
        if is_dirty(repo, &old.path).await? {
            self.base.let_go(&old.path);
            retire(repo, &self.base, Owner::Spare, &old.path).await?;
            filled.retired += 1;
            return Ok(());
        }
        let moved = {
            let _permit = repo.checking_out().await;
            spare::check_out(repo, &tree, None, commit, Hooks::Run).await
        };
        match moved {
            Ok(()) => {
                filled.moved += 1;
                self.base.put_spare(repo, Spare { commit: commit.to_owned(), ..old });
                Ok(())
            }
            Err(error) => {
                self.base.put_spare(repo, old);
                Err(error)
            }
        }
    }
}
