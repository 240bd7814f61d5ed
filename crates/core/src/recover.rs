//! Picking up after a server that stopped or died.
//!
//! Every run that is not `Ended` has an owner after this: living keepers are attended to again, ended ones are
//! settled with their recorded exit, vanished ones are marked failed, starts that never happened are completed.
//! Worktrees that carry our mark but have no row are the remains of a start that was cut off, and are undone.

use std::path::Path;

use forge_git::Owner;
use forge_run::{Exit, Found, Tail};
use forge_types::{Run, RunPhase, RunReason, RunStatus};

use crate::chain::vanished;
use crate::place::Standing;
use crate::site::Site;
use crate::{Error, Forge, Result};

/// The machine's life compared with the last server's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Boot {
    Same,
    Other,
}

impl Forge {
    pub(crate) async fn recover(&self) -> Result<()> {
        let (waiting, living): (Vec<Run>, Vec<Run>) =
            self.0.store.open_runs().await?.into_iter().partition(|run| run.phase == RunPhase::Queued);
        // Lanes first, in order of age: a run that is picked up must find its directory taken by itself.
        let mut found = Vec::new();
        for run in living {
            let site = self.site(run.owner).await?;
            if run.reason != RunReason::DevServer {
                self.0.lanes.enter(&site.place, run.id);
            }
            found.push((run, site));
        }
        for run in waiting {
            let site = self.site(run.owner).await?;
            if self.0.lanes.enter(&site.place, run.id) == crate::lane::Entry::Now {
                self.start_waiting(run.id);
            }
        }
        let boot = self.note_boot().await?;
        for (run, site) in found {
            self.pick_up(run, site, boot).await;
        }
        Ok(())
    }

    /// Whether the machine was started anew since the last server.
    async fn note_boot(&self) -> Result<Boot> {
        const KEY: &str = "boot";
        let now = forge_run::boot_id();
        if self.0.store.meta(KEY).await?.as_deref() == Some(&now) {
            return Ok(Boot::Same);
        }
        let mut tx = self.0.store.begin().await?;
        tx.put_meta(KEY, &now).await?;
        tx.commit().await?;
        Ok(Boot::Other)
    }

    async fn pick_up(&self, run: Run, site: Site, boot: Boot) {
        let dir = self.run_dir(run.id);
        match forge_run::find(&dir).await {
            Found::Live(live) => {
                tracing::info!(run = %run.id, "run re-attached");
                let interrupt = self.interrupt_of(&run.action, &site).await;
                let stop = (run.status == RunStatus::Killed).then(|| (live.clone(), interrupt.clone()));
                self.attend(run, site, live, interrupt);
                if let Some((live, interrupt)) = stop {
                    // The stop was recorded, but the server died before it could carry it out.
                    self.0.tasks.spawn(async move { live.stop(interrupt.as_deref()).await });
                }
            }
            Found::Ended(exit) => self.settle_later(run, site, exit),
            // After a power failure a missing file proves nothing: the agent may have been at work.
            Found::NeverLaunched
                if boot == Boot::Same && run.status == RunStatus::Running && site.place.exists() =>
            {
                tracing::info!(run = %run.id, "completing a start that was cut off");
                self.start_later(run, site);
            }
            Found::NeverLaunched | Found::Vanished => {
                if let Err(error) = forge_run::end_leftovers(&dir).await {
                    tracing::warn!(run = %run.id, %error, "cannot end what a vanished run left behind");
                }
                tracing::warn!(run = %run.id, "run vanished; its end is unknown");
                self.settle_later(run, site, vanished());
            }
        }
    }

    /// Settles a run that ended while no server was there, from what its log says.
    fn settle_later(&self, run: Run, site: Site, exit: Exit) {
        let forge = self.clone();
        self.0.tasks.spawn(async move {
            let tail = Tail::new(&forge.run_dir(run.id), None);
            let outcome = forge.follow(&run, &site, tail).await;
            forge.settle_surely(&run, &site, &exit, outcome).await;
        });
    }

    /// Undoes starts that never got a row, and reports what is not ours.
    pub(crate) async fn sweep_cut_off_starts(&self) -> Result<()> {
        for line in self.worktrees().await?.worktrees {
            match (line.standing, line.attempt_id, line.repo) {
                (Standing::Orphan, _, _) if std::env::var_os("DISABLE_WORKTREE_ORPHAN_CLEANUP").is_some() => {
                    tracing::info!(path = %line.path.display(), "orphaned worktree stays, as asked");
                }
                (Standing::Orphan, Some(id), Some(repo)) => {
                    let owner = Owner::Attempt(id);
                    if let Err(error) =
                        self.undo_cut_off(Path::new(&repo), owner, &line.path, line.branch).await
                    {
                        tracing::warn!(path = %line.path.display(), %error, "orphaned worktree stays");
                    }
                }
                (Standing::Orphan | Standing::Stranger, _, _) => {
                    tracing::info!(path = %line.path.display(), "unknown directory below the worktree base, left alone");
                }
                (Standing::InUse | Standing::OtherForge, _, _) => {}
            }
        }
        Ok(())
    }

    async fn undo_cut_off(
        &self,
        repo: &Path,
        owner: Owner,
        path: &Path,
        branch: Option<String>,
    ) -> Result<()> {
        let repo = self.repo_at(repo).await?;
        let head = repo.head_of(path).await?;
        // A branch that carries commits of its own is work and stays, whatever became of its rows.
        let branch = match branch {
            Some(branch) if self.is_elsewhere(&repo, &branch, &head).await? => branch,
            _ => {
                forge_git::retire(&repo, &self.0.base, owner, path).await?;
                return Ok(());
            }
        };
        forge_git::drop_orphan_claim(&repo, &self.0.base, owner, path, &branch, &head).await?;
        tracing::info!(path = %path.display(), %branch, "start that was cut off is undone");
        Ok::<_, Error>(())
    }

    /// Whether some other branch already holds `commit`.
    async fn is_elsewhere(&self, repo: &forge_git::Repo, branch: &str, commit: &str) -> Result<bool> {
        for other in repo.branches().await? {
            if other.name != branch && forge_git::ahead_behind(repo, commit, &other.name).await?.0 == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
