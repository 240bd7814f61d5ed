//! Which attempts would conflict with their target or with each other.
//!
//! Invariant: at most [`ATTEMPTS_MAX`] attempts are looked at.

use std::collections::{HashMap, HashSet};

use forge_git::{Pair, Repo};
use forge_types::{Attempt, ConflictReport, Millis, PairConflict, ProjectId, TargetConflict};

use crate::{Forge, Result};

/// The newest attempts are looked at: with each other that makes not quite a thousand pairs.
const ATTEMPTS_MAX: usize = 40;

/// An attempt with commits that its target lacks.
struct Contender {
    attempt: Attempt,
    tip: String,
    target: String,
}

impl Forge {
    /// The conflicts between the newest attempts of each task, judged by what they have committed.
    pub async fn conflicts(&self, id: ProjectId) -> Result<ConflictReport> {
        let report = self.find_conflicts(id).await?;
        self.show_conflicts(id, &report);
        Ok(report)
    }

    pub(crate) async fn find_conflicts(&self, id: ProjectId) -> Result<ConflictReport> {
        let project = self.project(id).await?;
        let repo = self.repo(&project).await?;
        let mut attempts: Vec<Attempt> = self.0.store.latest_attempts(id).await?.into_values().collect();
        attempts.retain(|attempt| attempt.use_worktree && !attempt.worktree_deleted);
        attempts.sort_by(|a, b| (b.created_at.0, a.id.to_string()).cmp(&(a.created_at.0, b.id.to_string())));
        let mut contenders = contenders(&repo, attempts).await?;
        let skipped = contenders.len().saturating_sub(ATTEMPTS_MAX);
        contenders.truncate(ATTEMPTS_MAX);

        let mut report = ConflictReport {
            target: Vec::new(),
            pairs: Vec::new(),
            checked_at: Millis::now(),
            checked: contenders.len(),
            skipped,
        };
        let targets: Vec<Pair> = contenders.iter().map(|one| pair(&one.tip, &one.target)).collect();
        let rivals = rivals(&contenders);
        let between: Vec<Pair> = rivals.iter().map(|(a, b)| pair(&a.tip, &b.tip)).collect();
        let all: Vec<Pair> = targets.iter().chain(&between).cloned().collect();
        let mut found = forge_git::conflicts_of(&repo, &all).await?.into_iter();
        for (one, files) in contenders.iter().zip(found.by_ref()).filter(|(_, files)| !files.is_empty()) {
            report.target.push(TargetConflict {
                attempt_id: one.attempt.id,
                branch: one.attempt.branch.clone(),
                target_branch: one.attempt.target_branch.clone(),
                files: files.to_vec(),
            });
        }
        for ((a, b), files) in rivals.iter().zip(found).filter(|(_, files)| !files.is_empty()) {
            report.pairs.push(PairConflict {
                attempts: [a.attempt.id, b.attempt.id],
                branches: [a.attempt.branch.clone(), b.attempt.branch.clone()],
                files: files.to_vec(),
            });
        }
        Ok(report)
    }
}

/// Where a target branch is and which branches it holds already.
struct Target {
    commit: String,
    landed: HashSet<String>,
}

/// The attempts whose branch exists and is not part of its target.
async fn contenders(repo: &Repo, attempts: Vec<Attempt>) -> Result<Vec<Contender>> {
    let names: HashSet<&str> = attempts.iter().map(|attempt| attempt.target_branch.as_str()).collect();
    let mut targets = HashMap::new();
    for name in names {
        if let Some(tip) = repo.resolve_branch(name).await? {
            let landed = repo.branches_in(&tip.commit).await?;
            targets.insert(name.to_owned(), Target { commit: tip.commit, landed });
        }
    }
    let mut found = Vec::new();
    for attempt in attempts {
        let Some(target) = targets.get(&attempt.target_branch) else { continue };
        if target.landed.contains(&attempt.branch) {
            continue;
        }
        if let Some(tip) = repo.resolve_branch(&attempt.branch).await? {
            found.push(Contender { tip: tip.commit, target: target.commit.clone(), attempt });
        }
    }
    Ok(found)
}

/// Every two that go to the same target.
fn rivals(contenders: &[Contender]) -> Vec<(&Contender, &Contender)> {
    let with_later = contenders
        .iter()
        .enumerate()
        .flat_map(|(at, one)| contenders[at + 1..].iter().map(move |other| (one, other)));
    with_later.filter(|(a, b)| a.attempt.target_branch == b.attempt.target_branch).collect()
}

/// Conflicts are the same both ways, so a pair has one order.
fn pair(a: &str, b: &str) -> Pair {
    let (first, second) = if a <= b { (a, b) } else { (b, a) };
    Pair(first.to_owned(), second.to_owned())
}
