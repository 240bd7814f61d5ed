//! Giving beads to agents, and settling what became of them.
//!
//! Owns the loop and the rule of each project. A bead goes through: leased, claimed in its tracker, started as an attempt,
//! settled. Invariants: rounds and settlements take turns; everything that a server needs to go on after a crash is in the
//! lease, which names an attempt that may not exist yet, and each step can be repeated; a lease ends in the transaction that
//! writes the outcome.

mod catalogue;
mod ending;
mod life;
mod mirror;
mod no_change;
mod notice;
pub(crate) mod prompt;
mod queue;
mod reassign;
mod round;
mod settle;
mod worker;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forge_fleet::beads::News;
use forge_types::{
    BeadsOf, DispatchChange, DispatchMode, DispatchReport, DispatchRequest, DispatchRule, Event, EventRecord,
    Project, ProjectDispatch, ProjectId, Routing, RunPhase,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::background::Bell;
use crate::beads::Tracker;
use crate::events::EventFeed;
use crate::worktree::host::Directory;
use crate::{Error, Forge, Result};

pub(crate) use settle::DONE_IN;

use round::DryRun;

/// For what has no event: free memory, a budget that a new day fills, a tracker that was locked.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

impl Forge {
    /// How the beads of a project are given out.
    pub async fn dispatch_rule(&self, id: ProjectId) -> Result<ProjectDispatch> {
        let project = self.project(id).await?;
        let rule = self.0.store.dispatch_rule(id).await?.unwrap_or_default();
        Ok(ProjectDispatch { rule, has_beads: self.has_beads(&project).await })
    }

    pub async fn change_dispatch_rule(
        &self,
        id: ProjectId,
        change: DispatchChange,
    ) -> Result<ProjectDispatch> {
        let project = self.project(id).await?;
        let mut rule = self.0.store.dispatch_rule(id).await?.unwrap_or_default();
        change.apply(&mut rule);
        self.check_rule(&project, &rule).await?;
        if rule.mirror || (rule.enabled && !rule.tasks) {
            self.tracker(&BeadsOf { project_id: Some(id), workspace: None }).await?;
        }
        let mut tx = self.0.store.begin().await?;
        tx.put_dispatch_rule(id, &rule).await?;
        tx.commit().await?;
        if !rule.enabled {
            // A round that is under way goes by the old rule: off means off only after its end.
            drop(self.0.beads.turn().await?);
        }
        self.0.background.ring(Bell::Beads);
        Ok(ProjectDispatch { rule, has_beads: self.has_beads(&project).await })
    }

    /// One round for a project, whether its switch is on or not.
    pub async fn dispatch(&self, request: DispatchRequest) -> Result<DispatchReport> {
        let project = self.project(request.project_id).await?;
        let mut rule = self.0.store.dispatch_rule(project.id).await?.unwrap_or_default();
        request.change.apply(&mut rule);
        self.check_rule(&project, &rule).await?;
        let dry_run = if request.dry_run { DryRun::Yes } else { DryRun::No };
        let _turn = self.0.beads.turn().await?;
        if rule.mirror && dry_run == DryRun::No {
            let of = BeadsOf { project_id: Some(project.id), workspace: None };
            self.mirror(&project, &*self.tracker(&of).await?).await?;
        }
        self.round(&project, &rule, dry_run).await
    }

    /// Settles what has ended, now.
    pub(crate) async fn settle_beads(&self) -> Result<()> {
        let _turn = self.0.beads.turn().await?;
        self.settle_leases().await
    }

    /// Decisions, newest first.
    pub async fn routings(&self, limit: u32) -> Result<Vec<Routing>> {
        Ok(self.0.store.routings(limit).await?)
    }

    /// Every decision about a bead, newest first.
    pub async fn explain_routing(&self, bead: &str, of: &BeadsOf) -> Result<Vec<Routing>> {
        let tracker = self.tracker(of).await?;
        let decisions = self.0.store.routings_of(tracker.root(), bead).await?;
        if decisions.is_empty() {
            tracker.one(bead).await?;
        }
        Ok(decisions)
    }

    async fn check_rule(&self, project: &Project, rule: &DispatchRule) -> Result<()> {
        if rule.mode == DispatchMode::Worker
            && let Some(profile) = &rule.executor_profile_id
            && catalogue::launcher_of(profile.executor).is_none()
        {
            return Err(Error::invalid(format!(
                "no launcher starts {} in a terminal; allowed: {}, or \
                 name a definition with worker",
                profile.executor,
                catalogue::launched().join(", ")
            ))
            .of_field("executor_profile_id"));
        }
        if rule.max_workers == Some(0) {
            return Err(Error::invalid("0 would start nothing")
                .hint("give at least 1, or switch it off with enabled")
                .of_field("max_workers"));
        }
        if let Some(profile) = &rule.executor_profile_id {
            self.check_profile(profile, project, &Directory::checkout(project)).await?;
        }
        Ok(())
    }

    /// Settles and gives out beads until the server stops.
    pub(crate) async fn dispatch_beads(&self, mut feed: EventFeed) {
        let mut watched = HashMap::new();
        loop {
            if let Err(error) = self.dispatch_all(&mut watched).await {
                tracing::warn!(%error, "beads cannot be given out for now");
            }
            tokio::select! {
                () = self.0.background.closing() => return,
                () = self.until_news(&mut feed) => {}
            }
        }
    }

    /// Everything once: what ended is settled, then every project whose switch is on gets a round.
    async fn dispatch_all(&self, watched: &mut HashMap<PathBuf, DropGuard>) -> Result<()> {
        let _turn = self.0.beads.turn().await?;
        self.settle_leases().await?;
        let rules = self.0.store.dispatch_rules().await?;
        let mut served = Vec::new();
        for (id, rule) in rules.iter().filter(|(_, rule)| rule.enabled || rule.mirror) {
            let project = self.project(*id).await?;
            let tracker = match self.tracker_at(project.git_repo_path.as_ref()).await {
                Ok(Some(tracker)) => {
                    served.push(tracker.root().to_owned());
                    let watch = || self.watch_beads(Arc::clone(&tracker));
                    watched.entry(served[served.len() - 1].clone()).or_insert_with(watch);
                    Some(tracker)
                }
                Ok(None) if rule.tasks => None,
                Ok(None) => continue,
                Err(error) => {
                    tracing::warn!(project = %project.name, %error, "cannot look for beads");
                    continue;
                }
            };
            if rule.mirror
                && let Some(tracker) = &tracker
                && let Err(error) = self.mirror(&project, tracker).await
            {
                tracing::warn!(project = %project.name, %error, "board and beads differ for now");
            }
            if !rule.enabled {
                continue;
            }
            if let Err(error) = self.round(&project, rule, DryRun::No).await {
                tracing::warn!(project = %project.name, %error, "no bead was given out");
            }
        }
        watched.retain(|root, _| served.contains(root));
        self.report_conditions(&rules).await
    }

    /// Rings when beads change, until what is answered is dropped.
    fn watch_beads(&self, tracker: Arc<Tracker>) -> DropGuard {
        let (forge, wanted) = (self.clone(), CancellationToken::new());
        let unwanted = wanted.clone();
        self.0.background.spawn(async move {
            let mut watch = tracker.store.watch();
            loop {
                let news = tokio::select! {
                    () = forge.0.background.closing() => return,
                    () = unwanted.cancelled() => return,
                    news = watch.next() => news,
                };
                match news {
                    Some(News::Changed(_)) => forge.0.background.ring(Bell::Beads),
                    Some(News::Trouble(why)) => {
                        tracing::warn!(workspace = %tracker.root().display(), "beads cannot be read: {why}");
                    }
                    None => return,
                }
            }
        });
        wanted.drop_guard()
    }

    async fn until_news(&self, feed: &mut EventFeed) {
        let news = async {
            loop {
                match feed.next().await {
                    Ok(events) if events.iter().any(|event| concerns(event)) => return,
                    Ok(_) => {}
                    // The log is closed: the server stops, or the next look shows why.
                    Err(_) => std::future::pending().await,
                }
            }
        };
        tokio::select! {
            () = self.0.background.rung(Bell::Beads) => {}
            () = news => {}
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
    }
}

/// Whether a bead may have ended, or one more may begin.
fn concerns(record: &EventRecord) -> bool {
    match &record.event {
        Event::Run { run, .. } => run.phase == RunPhase::Ended,
        // A merge moves its task.
        Event::Worker { worker, .. } => worker.bead.is_some() && !worker.phase.is_live(),
        Event::Task { .. } | Event::TaskRemoved { .. } | Event::AttemptRemoved { .. } => true,
        _ => false,
    }
}
