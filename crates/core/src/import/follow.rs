//! What an import does about things that came with an earlier one.
//!
//! The rule: a row that Forge has not written since it came follows its source; a row that Forge has written since, by a
//! person's hand or by a run, stays as it is, and a note says so. Whether the source changed is known from what it said last time.
//! Invariant: nothing that Forge made itself is ever changed, and no log gets shorter.

use std::path::Path;

use forge_store::{ImportKind, Noted};
use forge_types::{
    Attempt, AttemptId, Landing, Merge, MergeId, Millis, OldAttempt, OldMerge, OldRun, OldTask, PrStatus,
    Run, RunId, RunReason, RunStatus, Task, TaskId, TaskStatus,
};
use uuid::Uuid;

use super::plan::{Plan, PlannedRun, PlannedTask};
use super::planner::{Planner, ended};
use crate::Result;

/// How something that came before stands to its source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The source says what it said before, or it was Forge's before the import.
    Same,
    /// The source says something new, and Forge has not written the row since.
    Follow,
    /// The same for what an earlier version took, which did not note what the source said.
    FollowUnseen,
    /// Both have changed.
    Keep,
}

/// Whether an agent or a script is at work on it in the source.
pub(super) fn is_running(attempt: &OldAttempt) -> bool {
    attempt.runs.iter().any(|run| run.status == RunStatus::Running && run.reason != RunReason::DevServer)
}

/// Where the task stands here: what is at work in the source is taken as stopped, and waits for a person.
pub(super) fn status_here(old: &OldTask) -> TaskStatus {
    match old.status {
        TaskStatus::InProgress if old.attempts.iter().any(is_running) => TaskStatus::InReview,
        status => status,
    }
}

/// What a source says, short enough to be kept.
fn digest(parts: &[&str]) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, parts.join("\0").as_bytes()).to_string()
}

pub(super) fn seen_task(old: &OldTask) -> String {
    let description = old.description.as_deref().unwrap_or_default();
    digest(&[&old.title, description, status_here(old).as_str()])
}

pub(super) fn seen_attempt(old: &OldAttempt) -> String {
    digest(&[if old.is_target_guessed { "" } else { &old.target_branch }])
}

/// Begins with the size of the log, so that a longer one is known.
pub(super) fn seen_run(old: &OldRun) -> String {
    let bytes = old.log.as_ref().map_or(0, |log| log.bytes);
    let word = |text: &Option<String>| text.clone().unwrap_or_default();
    let exit = old.exit_code.map(|code| code.to_string()).unwrap_or_default();
    let parts = [
        old.status.as_str().to_owned(),
        exit,
        old.dropped.to_string(),
        word(&old.session_id),
        word(&old.summary),
        word(&old.before_head),
        word(&old.after_head),
    ];
    format!("{bytes} {}", digest(&parts.each_ref().map(String::as_str)))
}

fn log_bytes(seen: &str) -> u64 {
    seen.split(' ').next().and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

impl Planner<'_> {
    /// `written` is when Forge's row was last written, `came` whether it has the source's time of birth.
    fn turn(&self, kind: ImportKind, key: &str, seen: &str, written: Millis, came: bool) -> Turn {
        let Some(Noted { seen: before, at, .. }) = self.identities.trace(kind, key) else {
            return Turn::Same;
        };
        match before.as_deref() {
            Some("") => Turn::Same,
            Some(before) if before == seen => Turn::Same,
            None if !came || written > *at => Turn::Same,
            _ if written > *at => Turn::Keep,
            Some(_) => Turn::Follow,
            None => Turn::FollowUnseen,
        }
    }

    /// A task that came before, with what the source says now and images that are there only now.
    pub(super) async fn follow_task(&mut self, plan: &mut Plan, id: TaskId, old: &mut OldTask) -> Result<()> {
        let Some(here) = self.forge.0.store.task(id).await? else { return Ok(()) };
        let (seen, status) = (seen_task(old), status_here(old));
        let mut description = old.description.clone();
        let images = self.late_images(plan, id, old, &mut description).await?;
        let updated_at = old.updated_at.min(self.at);
        let came = here.created_at == old.created_at;
        let turn = self.turn(ImportKind::Task, &old.key, &seen, here.updated_at, came);
        let task = match turn {
            Turn::Same => here.clone(),
            Turn::Follow => {
                Task { title: old.title.clone(), description, status, updated_at, ..here.clone() }
            }
            Turn::FollowUnseen => Task { status, updated_at, ..here.clone() },
            Turn::Keep => {
                let is_same = (&here.title, &here.description) == (&old.title, &description);
                if !is_same || here.status != status {
                    plan.remark(format!(
                        "Task '{}' changed here and in {} since it was imported: it stays as it is here ('{}', there '{}')",
                        here.title,
                        self.identities.source,
                        here.status.as_str(),
                        status.as_str()
                    ));
                }
                plan.show_late(here, images);
                return Ok(());
            }
        };
        if turn != Turn::Same {
            plan.note(ImportKind::Task, &old.key, id, Some(&seen));
        }
        let is_same = (&task.title, &task.description) == (&here.title, &here.description);
        if is_same && task.status == here.status {
            plan.show_late(here, images);
            return Ok(());
        }
        plan.report.tasks.follow();
        plan.tasks.push(PlannedTask { task, before: Some(here), images, parent_key: None });
        Ok(())
    }

    pub(super) async fn follow_attempt(
        &mut self,
        plan: &mut Plan,
        id: AttemptId,
        name: &str,
        old: &OldAttempt,
    ) -> Result<()> {
        let Some(here) = self.forge.0.store.attempt(id).await? else { return Ok(()) };
        let seen = seen_attempt(old);
        let is_same = old.is_target_guessed || here.target_branch == old.target_branch;
        let came = here.created_at == old.created_at;
        match self.turn(ImportKind::Attempt, &old.key, &seen, here.updated_at, came) {
            Turn::Same | Turn::FollowUnseen => return Ok(()),
            Turn::Keep if !is_same => {
                let (source, target) = (&self.identities.source, &old.target_branch);
                plan.remark(format!(
                    "Attempt '{name}' is aimed at '{}' here and now at '{target}' in {source}: it stays as it is here",
                    here.target_branch
                ));
                return Ok(());
            }
            Turn::Keep => return Ok(()),
            Turn::Follow => {}
        }
        plan.note(ImportKind::Attempt, &old.key, id, Some(&seen));
        if !is_same {
            plan.report.attempts.follow();
            let target_branch = old.target_branch.clone();
            let updated_at = old.updated_at.min(self.at).max(here.created_at);
            plan.changed_attempts.push((here.clone(), Attempt { target_branch, updated_at, ..here }));
        }
        Ok(())
    }

    /// A run that came before: how it ended, and the rest of its log.
    pub(super) async fn follow_run(
        &mut self,
        plan: &mut Plan,
        (id, root): (RunId, Option<&Path>),
        ended_at: Millis,
        old: OldRun,
    ) -> Result<()> {
        let Some(here) = self.forge.0.store.run(id).await? else { return Ok(()) };
        let seen = seen_run(&old);
        let trace = self.identities.trace(ImportKind::Run, &old.key);
        let before = trace.and_then(|noted| noted.seen.clone()).unwrap_or_default();
        let (status, completed_at) = ended(&old, ended_at, self.at);
        let turn =
            self.turn(ImportKind::Run, &old.key, &seen, here.updated_at, here.started_at == old.started_at);
        match turn {
            Turn::Same => return Ok(()),
            Turn::Keep => {
                plan.remark(format!(
                    "A run of {} changed here and in {} since it was imported: it stays as it is here",
                    here.started_at, self.identities.source
                ));
                return Ok(());
            }
            Turn::Follow | Turn::FollowUnseen => {}
        }
        plan.note(ImportKind::Run, &old.key, id, Some(&seen));
        if turn == Turn::FollowUnseen && here.status == status {
            return Ok(());
        }
        let log = old.log.filter(|log| log.bytes >= log_bytes(&before));
        let mut run = Run {
            before_head: old.before_head.or_else(|| here.before_head.clone()),
            after_head: old.after_head.or_else(|| here.after_head.clone()),
            status,
            exit_code: old.exit_code.or(here.exit_code),
            dropped: old.dropped,
            session_id: old.session_id,
            summary: old.summary,
            completed_at,
            updated_at: completed_at.unwrap_or(here.started_at).min(self.at),
            ..here.clone()
        };
        if log.is_none() {
            run.session_id = run.session_id.or_else(|| here.session_id.clone());
            run.summary = run.summary.or_else(|| here.summary.clone());
        }
        plan.report.runs.follow();
        plan.report.log_bytes += log.as_ref().map_or(0, |log| log.bytes);
        plan.runs.push(PlannedRun { run, before: Some(here), log, root: root.map(Path::to_owned) });
        Ok(())
    }

    /// A pull request that was still open here.
    pub(super) async fn follow_merge(
        &mut self,
        plan: &mut Plan,
        (id, attempt): (MergeId, AttemptId),
        old: OldMerge,
    ) -> Result<()> {
        let Landing::Pull(pull) = &old.landing else { return Ok(()) };
        let merges = self.forge.0.store.merges(attempt).await?;
        let open = merges.into_iter().find_map(|merge| match merge {
            Merge::Pr { id: known, task_attempt_id, created_at, target_branch_name, pr_info }
                if known == id && matches!(pr_info.status, PrStatus::Open | PrStatus::Unknown) =>
            {
                Some((task_attempt_id, created_at, target_branch_name))
            }
            _ => None,
        });
        // Forge looks after open pull requests itself: only an end is news.
        if let Some((task_attempt_id, created_at, target_branch_name)) = open
            && matches!(pull.status, PrStatus::Merged | PrStatus::Closed)
        {
            plan.report.merges.follow();
            let pr_info = pull.clone();
            let merge = Merge::Pr { id, task_attempt_id, created_at, target_branch_name, pr_info };
            plan.changed_merges.push(merge);
        }
        Ok(())
    }
}
