//! Branches and conflicts as they change, for whoever looks at them.
//!
//! Invariant: nothing is looked at unless somebody listens and asked for it before; what did not change is not sent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use forge_types::wire::{BranchChange, ConflictsChange};
use forge_types::{AttemptId, BranchStatus, ConflictReport, ProjectId};

use crate::background::Bell;
use crate::events::Sign;
use crate::{Forge, Kind, Result};

/// How soon a commit that was made by somebody else is noticed.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The branches of a project's repository as they were.
type Refs = HashMap<ProjectId, String>;

impl Forge {
    pub(crate) async fn watch_branches(self) {
        let signs = &self.0.background.signs;
        let mut refs = Refs::new();
        loop {
            let rung = self.0.background.rung(Bell::Branches);
            let by_forge = tokio::time::timeout(LOOK_EVERY, rung).await.is_ok();
            if !signs.is_heard() {
                refs.clear();
                signs.forget_shown();
            }
            for (project, attempts) in self.shown_projects() {
                let looked = async {
                    let moved = self.have_refs_moved(project, &mut refs).await?;
                    match moved || by_forge {
                        true => self.show_changes(project, &attempts).await,
                        false => Ok(()),
                    }
                };
                if let Err(error) = looked.await {
                    tracing::debug!(%project, %error, "cannot look at the branches of a project");
                }
            }
        }
    }

    /// The projects that somebody looks at, with the attempts whose branches were shown.
    fn shown_projects(&self) -> HashMap<ProjectId, Vec<AttemptId>> {
        let shown = self.0.background.signs.shown();
        let mut projects: HashMap<ProjectId, Vec<AttemptId>> =
            shown.conflicts.keys().map(|project| (*project, Vec::new())).collect();
        for change in &shown.branches {
            projects.entry(change.project_id).or_default().push(change.attempt_id);
        }
        projects
    }

    async fn have_refs_moved(&self, id: ProjectId, refs: &mut Refs) -> Result<bool> {
        let repo = self.repo(&self.project(id).await?).await?;
        let now = repo.tips().await?;
        let before = refs.insert(id, now);
        Ok(before.is_none_or(|before| Some(&before) != refs.get(&id)))
    }

    async fn show_changes(&self, project: ProjectId, attempts: &[AttemptId]) -> Result<()> {
        for &attempt in attempts {
            match self.look_at_branch(attempt).await {
                Ok(status) => self.show_branch(project, attempt, &status),
                Err(error) if error.kind() == Kind::NotFound => {
                    self.0.background.signs.forget_branch(attempt);
                }
                // It may be that something is just being moved; the next look shows it.
                Err(error) => tracing::debug!(%attempt, %error, "cannot look at a branch"),
            }
        }
        if self.0.background.signs.shown().conflicts.contains_key(&project) {
            self.show_conflicts(project, &self.find_conflicts(project).await?);
        }
        Ok(())
    }

    /// Sends what a branch looks like to whoever was shown something else.
    pub(super) fn show_branch(&self, project_id: ProjectId, attempt_id: AttemptId, status: &BranchStatus) {
        let change = BranchChange { attempt_id, project_id, status: status.clone() };
        let signs = &self.0.background.signs;
        if signs.is_heard() && signs.shown().put_branch(change.clone()) {
            signs.send(Sign::Branch(Arc::new(change)));
        }
    }

    pub(super) fn show_conflicts(&self, project_id: ProjectId, report: &ConflictReport) {
        let signs = &self.0.background.signs;
        if signs.is_heard() && signs.shown().put_conflicts(project_id, report) {
            let change = ConflictsChange { project_id, report: report.clone() };
            signs.send(Sign::Conflicts(Arc::new(change)));
        }
    }
}
