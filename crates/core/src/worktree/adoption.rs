//! Worktrees of other programs that attempts came with: taken over, or left to themselves.
//!
//! Invariant: either is somebody's explicit wish. Nothing in the worktree changes, and what is uncommitted there is never
//! left behind unseen.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use forge_git::{GitError, Owner};
use forge_types::wire::{AdoptedWorktree, ReleasedWorktree};
use forge_types::{AttemptId, Millis, RunOwner};

use crate::worktree::host::{Adopt, Directory, FindStranger, Release};
use crate::worktree::workplace::Workplace;
use crate::worktree::workplace::marked;
use crate::{Error, Forge, Result};

impl Forge {
    /// Makes the worktree that another program made for the attempt Forge's own.
    pub async fn adopt_worktree(&self, id: AttemptId) -> Result<AdoptedWorktree> {
        let workplace = self.imported_site(id).await?;
        let (Some(attempt), Some(task)) = (&workplace.attempt, &workplace.task) else {
            return Err(Error::no_attempt(id));
        };
        let repo = Path::new(&workplace.project.git_repo_path);
        let place = workplace.directory.local_path();
        let found = self
            .find_stranger(repo, &attempt.branch, attempt.container_ref.as_deref().map(Path::new))
            .await?;
        let from = found.ok_or_else(|| {
            Error::conflict(format!(
                "attempt {id} has no worktree of another program: none is on its branch '{}'",
                attempt.branch
            ))
        })?;
        let to = match self.is_below_base(place) && place != from {
            true => place.to_owned(),
            false => self.free_place(id, &task.title, &from, &HashSet::new()).await?,
        };
        let at = Directory::new(repo, from.clone());
        let _old = self.hold(id, &at).await?;
        let _new = self.take_lane(&Directory::new(repo, to.clone()))?;
        self.refuse_living(&at).await?;
        let (owner, task, branch) = (Owner::Attempt(id), Some(marked(task)), attempt.branch.clone());
        let path = self.ask(Adopt { at, owner, task, branch, to }).await?;
        self.settle_place(id, &path, false).await?;
        tracing::info!(attempt = %id, from = %from.display(), path = %path.display(), "worktree adopted");
        Ok(AdoptedWorktree { attempt_id: id, path, from })
    }

    /// Lets go of the worktree that another program made for the attempt. The next run has one of Forge's own.
    pub async fn release_worktree(&self, id: AttemptId) -> Result<ReleasedWorktree> {
        let workplace = self.imported_site(id).await?;
        let (Some(attempt), Some(task)) = (&workplace.attempt, &workplace.task) else {
            return Err(Error::no_attempt(id));
        };
        let repo = Path::new(&workplace.project.git_repo_path);
        let place = workplace.directory.local_path();
        let found = self
            .find_stranger(repo, &attempt.branch, attempt.container_ref.as_deref().map(Path::new))
            .await?;
        let is_away = !self.is_below_base(place);
        if found.is_none() && !is_away {
            return Err(Error::conflict(format!(
                "attempt {id} has no worktree of another program to let go"
            )));
        }
        let at = Directory::new(repo, found.as_deref().unwrap_or(place));
        let _hold = self.hold(id, &at).await?;
        if found.is_some() {
            self.refuse_living(&at).await?;
            match self.ask(Release { at, branch: attempt.branch.clone() }).await {
                // It has let go of the branch already.
                Ok(()) | Err(GitError::OffBranch { .. }) => {}
                Err(error @ GitError::Dirty { .. }) => {
                    let usual = error.hint().unwrap_or_default();
                    return Err(Error::from(error).hint(format!(
                        "{usual}; or `forge worktree adopt {id}` takes it over with all of that"
                    )));
                }
                Err(other) => return Err(other.into()),
            }
        }
        if is_away || found.as_deref() == Some(place) {
            let place = self.free_place(id, &task.title, Path::new(""), &HashSet::new()).await?;
            self.settle_place(id, &place, true).await?;
        }
        Ok(ReleasedWorktree { attempt_id: id, path: found, branch: attempt.branch.clone() })
    }

    async fn imported_site(&self, id: AttemptId) -> Result<Workplace> {
        let workplace = self.workplace(RunOwner::Attempt(id)).await?;
        if workplace.attempt.as_ref().is_none_or(|attempt| !attempt.use_worktree) {
            return Err(Error::conflict(format!(
                "attempt {id} works in the main checkout, which is the user's"
            )));
        }
        self.refuse_while_running(id).await?;
        Ok(workplace)
    }

    /// The worktree of another program that is near a path, or else on the branch.
    pub(crate) async fn find_stranger(
        &self,
        repo: &Path,
        branch: &str,
        near: Option<&Path>,
    ) -> Result<Option<PathBuf>> {
        let (repo, near) = (repo.to_owned(), near.map(Path::to_owned));
        Ok(self.ask(FindStranger { repo, branch: branch.to_owned(), near }).await?)
    }

    async fn settle_place(&self, id: AttemptId, place: &Path, deleted: bool) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        if let Some(mut attempt) = tx.attempt(id).await? {
            attempt.container_ref = Some(place.to_string_lossy().into_owned());
            attempt.worktree_deleted = deleted;
            attempt.updated_at = Millis::now();
            tx.update_attempt(&attempt).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Where a worktree for the attempt can be: under the name of `old` when that is free here. `given` are not.
    pub(crate) async fn free_place(
        &self,
        id: AttemptId,
        title: &str,
        old: &Path,
        given: &HashSet<PathBuf>,
    ) -> Result<PathBuf> {
        let old_name = old.file_name().map(|name| name.to_string_lossy().into_owned());
        let hex = id.hex();
        let names = old_name
            .into_iter()
            .chain((4..=hex.len()).map(|digits| forge_types::name_for(&hex, digits, title)));
        let mut place = PathBuf::new();
        for name in names {
            place = self.0.worktrees.host.base().join(name);
            let taken = self.0.store.attempt_by_path(&place.to_string_lossy()).await?;
            let free = !given.contains(&place) && place.symlink_metadata().is_err();
            if free && taken.is_none_or(|attempt| attempt.id == id) {
                break;
            }
        }
        Ok(place)
    }

    fn is_below_base(&self, place: &Path) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let base = self.0.worktrees.host.base();
        place.starts_with(base)
            || place.parent().and_then(real).is_some_and(|above| real(base) == Some(above))
    }

    /// A worktree of another program that is gone is not made again where that program had it.
    pub(crate) fn refuse_gone_elsewhere(&self, id: AttemptId, at: &Directory) -> Result<()> {
        if self.is_below_base(at.local_path()) {
            return Ok(());
        }
        Err(Error::conflict(format!(
            "{at}, where attempt {id} worked, is not there. When it is not to come back, `forge worktree release {id}` has \
             the next run check the branch out below {}",
            self.0.worktrees.host.base().display()
        )))
    }
}
