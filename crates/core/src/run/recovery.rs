//! Picking up after a server that stopped or died.
//!
//! Every run that is not `Ended` has an owner after this: living keepers are attended to again, ended ones are
//! settled with their recorded exit, those whose keeper vanished are ended and marked failed, starts that never happened are completed.
//! Worktrees that carry our mark but have no row are the remains of a start that was cut off, and are undone.

use std::path::Path;
use std::time::Duration;

use forge_git::Repo;
use forge_run::{Exit, ExitReason, Found, Tail, View};
use forge_types::wire::Standing;
use forge_types::{Run, RunPhase, RunReason, RunStatus};

use crate::run::lifecycle::vanished;
use crate::worktree::host::{DropClaim, Exists, Head, RetireCutOff, TakeOver};
use crate::worktree::upkeep::FoundDirectory;
use crate::worktree::workplace::Workplace;
use crate::{Forge, Result};

/// How long to wait after each try to undo a start that was cut off.
const UNDO_PAUSES: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(3), Duration::from_secs(15)];

/// The machine's life compared with the last server's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Boot {
    Same,
    Other,
}

impl Forge {
    pub(crate) async fn recover(&self) -> Result<()> {
        // Before anything runs: from then on an agent's own word does not count.
        if let Err(error) = self.ask(TakeOver {}).await {
            tracing::warn!(%error, "the owners of worktrees of an earlier version are not all written down");
        }
        let (waiting, living): (Vec<Run>, Vec<Run>) =
            self.0.store.open_runs().await?.into_iter().partition(|run| run.phase == RunPhase::Queued);
        // Lanes first, in order of age: a run that is picked up must find its directory taken by itself.
        let mut found = Vec::new();
        for run in living {
            let workplace = self.workplace(run.owner).await?;
            if run.reason != RunReason::DevServer {
                self.enter(&workplace.directory, run.id);
            }
            found.push((run, workplace));
        }
        let mut free = Vec::new();
        for run in waiting {
            let workplace = self.workplace(run.owner).await?;
            if self.enter(&workplace.directory, run.id) == crate::worktree::queue::Entry::Now {
                free.push(run.id);
            }
        }
        let boot = self.note_boot().await?;
        for (run, workplace) in found {
            self.pick_up(run, workplace, boot).await;
        }
        // What vanished runs had left in their directories is gone by now.
        free.into_iter().for_each(|run| self.start_waiting(run));
        Ok(())
    }

    /// Whether the machine was restarted since the last server.
    async fn note_boot(&self) -> Result<Boot> {
        const KEY: &str = "boot";
        let now = self.0.worktrees.host().boot();
        if self.0.store.meta(KEY).await?.as_deref() == Some(&now) {
            return Ok(Boot::Same);
        }
        let mut tx = self.0.store.begin().await?;
        tx.put_meta(KEY, &now).await?;
        tx.commit().await?;
        Ok(Boot::Other)
    }

    async fn pick_up(&self, run: Run, workplace: Workplace, boot: Boot) {
        match self.0.worktrees.host().find_run(run.id).await {
            Found::Live(live) => {
                tracing::info!(run = %run.id, "run re-attached");
                let script = self.script_of(&run.action, &workplace).await;
                let stop = (run.status == RunStatus::Killed).then(|| live.clone());
                self.attend(run, workplace, live, script);
                if let Some(live) = stop {
                    // The stop was recorded, but the server died before it could carry it out.
                    self.0.background.spawn(async move { live.stop(None).await });
                }
            }
            Found::Ended(exit) => {
                if exit.reason == ExitReason::Vanished {
                    tracing::warn!(run = %run.id, "the run's keeper vanished; its log says what was done about it");
                }
                self.settle_later(run, workplace, exit);
            }
            // After a power failure a missing file proves nothing: the agent may have been running.
            Found::NeverLaunched => {
                let at = workplace.directory.clone();
                let was_cut_off = boot == Boot::Same && run.status == RunStatus::Running;
                if was_cut_off && matches!(self.ask(Exists { at }).await, Ok(true)) {
                    tracing::info!(run = %run.id, "completing a start that was cut off");
                    return self.start_later(run, workplace);
                }
                tracing::warn!(run = %run.id, "run vanished; its end is unknown");
                self.settle_later(run, workplace, vanished());
            }
        }
    }

    /// Settles a run that ended while no server was there, from what its log says.
    fn settle_later(&self, run: Run, workplace: Workplace, exit: Exit) {
        let forge = self.clone();
        self.0.background.spawn(async move {
            let tail = Tail::new(&forge.run_dir(run.id), View::Exact, None);
            let outcome = forge.follow(&run, &workplace, tail, None).await;
            if let Err(error) = forge.wait_for_git(&workplace.directory).await {
                tracing::warn!(run = %run.id, %error, "git still works where the run ended");
            }
            forge.settle_surely(&run, &workplace, &exit, outcome).await;
        });
    }

    /// What starts that never got a row left behind; what is not ours is only reported.
    ///
    /// Called before the first request: later, the worktree of a start that is under way would look the same.
    pub(crate) async fn find_cut_off_starts(&self) -> Result<Vec<FoundDirectory>> {
        let kept = std::env::var_os("DISABLE_WORKTREE_ORPHAN_CLEANUP").is_some();
        let mut found = self.classify_worktrees().await?;
        found.retain(|FoundDirectory { line, .. }| match line.standing {
            Standing::Orphan if kept => {
                tracing::info!(path = %line.path.display(), "orphaned worktree stays, as asked");
                false
            }
            Standing::Orphan => true,
            Standing::Stranger => {
                tracing::info!(path = %line.path.display(), "unknown directory below the worktree base, left alone");
                false
            }
            Standing::InUse | Standing::OtherForge => false,
        });
        Ok(found)
    }

    /// Undoes what [`Self::find_cut_off_starts`] found. A git process of the server that died may still be at work in
    /// one of them, so each is tried more than once, and what it does too late is undone in the end.
    pub(crate) async fn undo_cut_off_starts(&self, mut found: Vec<FoundDirectory>) {
        let mut undone = Vec::new();
        for pause in UNDO_PAUSES {
            let mut left = Vec::new();
            for one in found {
                match self.undo_cut_off(&one).await {
                    Ok(claim) => undone.extend(claim),
                    Err(error) => {
                        tracing::warn!(path = %one.line.path.display(), %error, "orphaned worktree stays for now");
                        left.push(one);
                    }
                }
            }
            found = left;
            if found.is_empty() && undone.is_empty() {
                return;
            }
            tokio::select! {
                () = self.0.background.closing() => return,
                () = tokio::time::sleep(pause) => {}
            }
            for (repo, branch, commit) in std::mem::take(&mut undone) {
                if let Err(error) = forge_git::drop_late_branch(&repo, &branch, &commit).await {
                    tracing::warn!(branch, %error, "cannot see whether a cut-off start made its branch later");
                }
            }
        }
    }

    /// Returns the branch that a claim without one may still get, and where it would be.
    async fn undo_cut_off(&self, found: &FoundDirectory) -> Result<Option<(Repo, String, String)>> {
        let line = &found.line;
        let (Some(owner), Some(repo)) = (found.owner, &line.repo) else { return Ok(None) };
        // A home that was copied as files is the same installation, and its agents may be running there.
        let at = found.directory(repo);
        self.refuse_living_now(&at).await?;
        let repo = self.repo_at(Path::new(repo)).await?;
        let head = self.ask(Head { at: at.clone() }).await?;
        let mut may_come = None;
        match &line.branch {
            Some(branch) if self.is_elsewhere(&repo, branch, &head).await? => {
                if repo.resolve_branch(branch).await?.is_none() {
                    may_come = Some((repo.clone(), branch.clone(), head.clone()));
                }
                let (branch, commit) = (branch.clone(), head);
                self.ask(DropClaim { at, owner, branch, commit }).await?;
            }
            // A branch that carries commits of its own is work and stays, whatever became of its rows.
            _ => {
                self.ask(RetireCutOff { at, owner }).await?;
            }
        }
        tracing::info!(path = %line.path.display(), branch = ?line.branch, "start that was cut off is undone");
        Ok(may_come)
    }

    /// Whether some other branch already holds `commit`.
    async fn is_elsewhere(&self, repo: &Repo, branch: &str, commit: &str) -> Result<bool> {
        for other in repo.branches().await? {
            if other.name != branch && forge_git::ahead_behind(repo, commit, &other.name).await?.0 == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
