//! Spare worktrees made ahead of time.
//!
//! Owns: at which commit they are, and when there is no room for one more. `claim` takes them from the base.
//! Invariant: never more are made than wanted, none when the disk runs low, and a spare that turns out to contain
//! changes is retired like any worktree. Spares of other installations are not touched.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::base::{Spare, blocking, disk_use};
use crate::command::Haste;
use crate::spare::Hooks;
use crate::{GitError, Owner, Repo, WorktreeBase, is_dirty, mark, retire, spare};

/// The spares of one repository take at most this part of what is free.
const SHARE: u64 = 20;

#[derive(Clone)]
pub struct Pool {
    base: WorktreeBase,
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
    pub fn new(base: WorktreeBase, min_free_bytes: u64) -> Self {
        Self { base, min_free_bytes, filling: Arc::default() }
    }

    /// Brings the repository's spares to `commit` and their number to `wanted`, as far as there is room.
    pub async fn fill(&self, repo: &Repo, commit: &str, wanted: usize) -> Result<Filled, GitError> {
        let _filling = self.filling.lock().await;
        let mut filled = Filled::default();
        self.adopt(repo, &mut filled).await?;
        while let Some(old) = self.base.take_other_spare(repo, commit) {
            self.refresh(repo, old, commit, &mut filled).await?;
        }
        self.base.make()?;
        filled.ready = self.base.spare_paths(repo).len();
        while filled.ready < wanted && self.has_room(repo).await? {
            let spare = spare::make(repo, &self.base, commit, Hooks::Run, Haste::Later).await?;
            self.base.put_spare(repo, spare);
            filled.made += 1;
            filled.ready = self.base.spare_paths(repo).len();
        }
        Ok(filled)
    }

    /// Puts away the spares that are more than `wanted`.
    pub async fn trim(&self, repo: &Repo, wanted: usize) -> Result<usize, GitError> {
        let _filling = self.filling.lock().await;
        let mut retired = 0;
        while self.base.spare_paths(repo).len() > wanted
            && let Some(spare) = self.base.take_any_spare(repo)
        {
            self.base.let_go(&spare.path);
            retire(repo, &self.base, Owner::Spare, &spare.path).await?;
            retired += 1;
        }
        Ok(retired)
    }

    async fn has_room(&self, repo: &Repo) -> Result<bool, GitError> {
        let (base, ready) = (self.base.clone(), self.base.spare_paths(repo));
        let min_free_bytes = self.min_free_bytes;
        blocking(move || {
            let free = forge_os::free_bytes(base.path());
            let used = ready.first().map_or(0, |one| disk_use(one).saturating_mul(ready.len() as u64));
            Ok(free >= min_free_bytes && used <= free / SHARE)
        })
        .await
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
            spare::check_out(repo, &tree, None, commit, Hooks::Run, Haste::Later).await
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
