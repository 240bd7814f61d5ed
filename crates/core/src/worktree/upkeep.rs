//! Worktrees over time: brought back when needed, retired by policy, listed for people.
//!
//! Invariant: nothing here deletes a directory that may hold work. Forge's own worktrees are retired (saved, verified,
//! moved to the trash) and can be restored; everything else is only reported. The user's checkout is never a subject.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use forge_git::{GitError, Owner};
use forge_run::DirectoryOwner;
use forge_store::Page;
use forge_types::wire::{
    KeptWorktree, RestoreSource, RestoredWorktree, Standing, TrashLine, WorktreeLine, WorktreeReport,
};
use forge_types::{AttemptId, ErrorCode, Millis, TaskId};

use crate::background::Bell;
use crate::worktree::hold::Hold;
use crate::worktree::host::{
    Directory, Ensure, Exists, FreeBytes, IsStrangers, IsThere, List, Measure, Restore, Retire, Trash, Whose,
};
use crate::worktree::workplace::Workplace;
use crate::worktree::workplace::marked;
use crate::{Error, Forge, Result};

/// A directory below the worktree base, and what its mark says.
#[derive(Clone, Debug)]
pub(crate) struct FoundDirectory {
    pub(crate) line: WorktreeLine,
    pub(crate) owner: Option<Owner>,
}

impl FoundDirectory {
    pub(crate) fn directory(&self, repo: &str) -> Directory {
        Directory::new(repo, &self.line.path)
    }
}

impl Forge {
    /// Makes sure that the attempt's directory is there, for callers without a hold on it.
    pub(crate) async fn restore_directory(&self, workplace: &mut Workplace) -> Result<()> {
        let Some(attempt) = &workplace.attempt else { return Ok(()) };
        if self.ask(IsThere { at: workplace.directory.clone() }).await? {
            return Ok(());
        }
        let _hold = self.hold(attempt.id, &workplace.directory).await?;
        self.ensure_directory(workplace).await
    }

    /// Makes sure that the attempt's directory is there, from the trash, the snapshot or the branch, in that order.
    /// The caller has a hold on it, or is the run whose turn it is.
    pub(crate) async fn ensure_directory(&self, workplace: &mut Workplace) -> Result<()> {
        let Workplace { attempt, directory, project, task, .. } = workplace;
        let Some(attempt) = attempt.as_mut().filter(|attempt| attempt.use_worktree) else {
            return Ok(());
        };
        let at = || directory.clone();
        if self.ask(IsThere { at: at() }).await? {
            return self.refuse_others(attempt.id, directory).await;
        }
        self.refuse_gone_elsewhere(attempt.id, directory)?;
        let owner = Owner::Attempt(attempt.id);
        match self.ask(Restore { at: at(), owner }).await {
            Ok(_) => {}
            // What another installation kept of it is that one's; the branch is everybody's.
            Err(GitError::NothingKept(_) | GitError::NotForges { .. }) => {
                let (task, branch) = (task.as_ref().map(marked), attempt.branch.clone());
                let checkout = Path::new(&project.git_repo_path);
                let ensured = self.ask(Ensure { at: at(), owner, branch, task }).await;
                ensured.map_err(|error| not_checked_out(checkout, attempt.id, error))?;
            }
            Err(error) => return Err(error.into()),
        }
        attempt.worktree_deleted = false;
        self.set_deleted(attempt.id, false).await
    }

    /// Refuses a worktree that another installation made: a home that was restored from a backup knows the attempts of
    /// the home that the backup was made of, and that one goes on working in them. Refuses one that another program made
    /// and that nobody has adopted.
    pub(crate) async fn refuse_others(&self, id: AttemptId, at: &Directory) -> Result<()> {
        // One without a `.git`, or with a broken one, is reported by whoever works in it.
        let found = match self.ask(IsThere { at: at.clone() }).await? {
            true => self.ask(Whose { at: at.clone() }).await.ok().flatten(),
            false => None,
        };
        if found.is_some_and(|found| found.mark.installation != self.0.worktrees.host.installation()) {
            let message = format!(
                "{at} is a worktree of another Forge home, which may be working in it, so it is left as it is"
            );
            return Err(Error::conflict(message).code(ErrorCode::NotAWorktree).hint(
                "retire it there (`forge worktree retire`) and try again: it is checked out here from its branch then",
            ));
        }
        if self.ask(IsStrangers { at: at.clone(), owner: Owner::Attempt(id) }).await? {
            let why = format!("{at} was made by another program and is not Forge's");
            return Err(Error::conflict(why).code(ErrorCode::NotAWorktree).hint(what_to_do(id)));
        }
        Ok(())
    }

    pub(crate) async fn set_deleted(&self, id: AttemptId, deleted: bool) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        if let Some(mut attempt) = tx.attempt(id).await?.filter(|known| known.worktree_deleted != deleted) {
            attempt.worktree_deleted = deleted;
            attempt.updated_at = Millis::now();
            tx.update_attempt(&attempt).await?;
            tx.commit().await?;
            self.0.background.ring(Bell::Branches);
        }
        Ok(())
    }

    pub async fn retire_worktree(&self, id: AttemptId) -> Result<KeptWorktree> {
        let attempt = self.attempt(id).await?;
        if !attempt.use_worktree {
            return Err(Error::conflict(format!(
                "attempt {id} works in the main checkout, which is never retired"
            )));
        }
        self.refuse_while_running(id).await?;
        let hold = self.hold(id, &self.directory_of(&attempt).await?).await?;
        // What was started while the directory was not held yet, a dev server for example.
        self.refuse_while_running(id).await?;
        self.refuse_leftovers_in(hold.directory(), DirectoryOwner::Forge).await?;
        self.retire(id, &hold).await
    }

    async fn retire(&self, id: AttemptId, hold: &Hold) -> Result<KeptWorktree> {
        let at = hold.directory();
        if !self.ask(Exists { at: at.clone() }).await? {
            return Err(Error::conflict(format!("{at} does not exist; there is nothing to retire")));
        }
        self.refuse_living(at).await?;
        let kept = self.ask(Retire { at: at.clone(), owner: Owner::Attempt(id) }).await?;
        self.set_deleted(id, true).await?;
        tracing::info!(attempt = %id, reference = %kept.reference, "worktree retired");
        Ok(KeptWorktree { attempt_id: id, reference: kept.reference, commit: kept.commit, trash: kept.trash })
    }

    pub async fn restore_worktree(&self, id: AttemptId) -> Result<RestoredWorktree> {
        let attempt = self.attempt(id).await?;
        let at = self.directory_of(&attempt).await?;
        let there = || Error::conflict(format!("{at} is there already; nothing was restored"));
        if !attempt.use_worktree || self.ask(Exists { at: at.clone() }).await? {
            return Err(there());
        }
        let _hold = self.hold(id, &at).await?;
        if self.ask(Exists { at: at.clone() }).await? {
            return Err(there());
        }
        let restored = self.ask(Restore { at, owner: Owner::Attempt(id) }).await?;
        self.set_deleted(id, false).await?;
        let from = match restored.source {
            forge_git::Source::Trash => RestoreSource::Trash,
            forge_git::Source::Keep => RestoreSource::Snapshot,
        };
        Ok(RestoredWorktree { attempt_id: id, path: restored.path, from, missing: restored.missing })
    }

    /// Retires worktrees whose rows are gone. The mark in each directory still says whose it is. What cannot be retired
    /// now is found and retired by the next start.
    pub(crate) fn retire_later(&self, held: Vec<(Owner, Hold)>) {
        let forge = self.clone();
        self.0.background.spawn(async move {
            for (owner, hold) in held {
                if let Ok(true) = forge.ask(Exists { at: hold.directory().clone() }).await {
                    forge.retire_ownerless(owner, &hold).await;
                }
            }
        });
    }

    pub(crate) async fn retire_ownerless(&self, owner: Owner, hold: &Hold) {
        let at = hold.directory();
        let retired = async {
            self.wait_for_git(at).await?;
            self.refuse_living(at).await?;
            Ok::<_, Error>(self.ask(Retire { at: at.clone(), owner }).await?)
        };
        match retired.await {
            Ok(kept) => tracing::info!(path = %at, reference = %kept.reference, "worktree retired"),
            Err(error) => tracing::warn!(path = %at, %error, "worktree stays: it cannot be retired"),
        }
    }

    /// Retires the worktrees of an archived task in the background.
    pub(crate) fn retire_task_worktrees(&self, task: TaskId) {
        let forge = self.clone();
        self.0.background.spawn(async move {
            let attempts = match forge.0.store.attempts(Some(task), Page::default()).await {
                Ok(attempts) => attempts,
                Err(error) => return tracing::warn!(%task, %error, "cannot list an archived task's attempts"),
            };
            for attempt in attempts {
                if let Err(error) = forge.retire_worktree(attempt.id).await {
                    tracing::info!(attempt = %attempt.id, %error, "archived task keeps a worktree");
                }
            }
        });
    }

    pub async fn worktrees(&self) -> Result<WorktreeReport> {
        let mut report = WorktreeReport {
            base: self.0.worktrees.host.base().to_owned(),
            free_bytes: self.ask(FreeBytes {}).await?,
            used_bytes: 0,
            worktrees: Vec::new(),
            spares: 0,
            trash: Vec::new(),
        };
        let listed = self.classify_worktrees().await?;
        let paths = listed.iter().map(|found| found.line.path.clone()).collect();
        let sizes = self.ask(Measure { paths }).await?;
        for (FoundDirectory { line, owner }, bytes) in listed.into_iter().zip(sizes) {
            report.used_bytes += bytes;
            match owner {
                Some(Owner::Spare) if line.standing != Standing::OtherForge => report.spares += 1,
                _ => report.worktrees.push(WorktreeLine { bytes, ..line }),
            }
        }
        for item in self.ask(Trash {}).await? {
            report.used_bytes += item.bytes;
            let attempt_id = match item.owner {
                Owner::Attempt(id) => Some(id),
                _ => None,
            };
            report.trash.push(TrashLine {
                path: item.path,
                bytes: item.bytes,
                attempt_id,
                retired_at: item.retired_at,
            });
        }
        Ok(report)
    }

    /// Every directory below the worktree base and whose it is; sizes are not measured.
    ///
    /// Rows are read after the directories, so that a start which is being recorded is not taken for an orphan.
    pub(crate) async fn classify_worktrees(&self) -> Result<Vec<FoundDirectory>> {
        let listed = self.ask(List {}).await?;
        let attempts = self.0.store.attempt_ids().await?;
        let errands = self.0.store.errands(None).await?;
        let attempts = attempts.into_iter().map(Owner::Attempt);
        let known: HashSet<Owner> =
            attempts.chain(errands.into_iter().map(|errand| Owner::Errand(errand.id))).collect();
        let lines = listed.into_iter().map(|forge_git::Listed { path, mark }| {
            let standing = match &mark {
                None => Standing::Stranger,
                Some(mark) if mark.installation != self.0.worktrees.host.installation() => {
                    Standing::OtherForge
                }
                Some(mark) if mark.owner == Owner::Spare || known.contains(&mark.owner) => Standing::InUse,
                Some(_) => Standing::Orphan,
            };
            let owner = mark.as_ref().map(|mark| mark.owner);
            let attempt_id = owner.and_then(|owner| match owner {
                Owner::Attempt(id) => Some(id),
                Owner::Errand(_) | Owner::Spare => None,
            });
            let (branch, repo) = mark.map_or((None, None), |mark| (mark.branch, Some(mark.repo)));
            let line = WorktreeLine { path, bytes: 0, standing, attempt_id, branch, repo };
            FoundDirectory { line, owner }
        });
        Ok(lines.collect())
    }

    /// Looks for expired and vanished worktrees.
    pub(crate) async fn keep_up_worktrees(&self) -> Result<()> {
        // An unmounted disk is not a thousand deleted worktrees.
        if !self.0.worktrees.host.base().is_dir() {
            return Ok(());
        }
        let now = Millis::now();
        let expiry_ms = (self.0.config.expiry_h as i64).saturating_mul(3_600_000);
        let found = self.classify_worktrees().await?;
        self.compare_with_disk(&found).await?;
        self.look_after_spares(&found).await?;
        for attempt in self.0.store.idle_attempts(Millis(now.0.saturating_sub(expiry_ms))).await? {
            // Another program's worktree has no end here.
            let at = self.directory_of(&attempt).await?;
            if self.ask(IsStrangers { at, owner: Owner::Attempt(attempt.id) }).await? {
                continue;
            }
            if let Err(error) = self.retire_worktree(attempt.id).await {
                tracing::warn!(attempt = %attempt.id, %error, "expired worktree stays");
            }
        }
        Ok(())
    }

    /// Says in the rows whether the worktrees are there, where the two differ: somebody removed one, or a server died
    /// between moving one and writing that down. One that is in use is left to whoever uses it.
    async fn compare_with_disk(&self, found: &[FoundDirectory]) -> Result<()> {
        let marked: HashSet<AttemptId> = found.iter().filter_map(|found| found.line.attempt_id).collect();
        let projects = self.0.store.projects().await?;
        let projects: HashMap<_, _> = projects.iter().map(|project| (project.id, project)).collect();
        for attempt in self.0.store.attempts(None, Page::default()).await? {
            let Some(project) = projects.get(&attempt.project_id) else { continue };
            let at = Directory::of_attempt(project, &attempt);
            let differs = async || {
                Ok::<_, Error>(match attempt.worktree_deleted {
                    true => marked.contains(&attempt.id) && self.ask(IsThere { at: at.clone() }).await?,
                    false => !self.ask(Exists { at: at.clone() }).await?,
                })
            };
            if attempt.use_worktree
                && differs().await?
                && let Ok(_hold) = self.hold(attempt.id, &at).await
                && differs().await?
            {
                self.set_deleted(attempt.id, !attempt.worktree_deleted).await?;
            }
        }
        Ok(())
    }
}

/// Why the branch could not be checked out, with what helps.
fn not_checked_out(checkout: &Path, id: AttemptId, error: GitError) -> Error {
    match error {
        GitError::CheckedOut { path, branch } if path != checkout => {
            let what = format!("'{branch}' is checked out at {}, which is not Forge's", path.display());
            Error::conflict(what).code(ErrorCode::BranchInUse).hint(what_to_do(id))
        }
        GitError::BranchMissing(branch) => {
            let what = format!("Branch not found: {branch}. Without it attempt {id} cannot go on");
            Error::not_found(what).code(ErrorCode::BranchNotFound).hint(format!(
                "bring it back (`git branch {branch} <commit>`, or fetch it), or start a new attempt of the task"
            ))
        }
        other => other.into(),
    }
}

/// How a worktree of another program stops being in the way.
pub(crate) fn what_to_do(id: AttemptId) -> String {
    format!(
        "`forge worktree adopt {id}` takes it over as it is, uncommitted work included; `forge worktree release {id}` \
         leaves it there without the branch, if nothing in it is uncommitted"
    )
}
