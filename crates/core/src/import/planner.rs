//! Deciding what becomes of each thing of a source.
//!
//! Invariant: it only reads, so a dry run is a plan that nobody carries out. Attempts get a worktree path of Forge's own
//! that does not exist yet: the other system's worktrees are never Forge's, and the first run that needs one makes it from
//! the branch.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use forge_store::{ImportKind, TemplateScope};
use forge_types::{
    Attempt, AttemptId, AttemptLink, AttemptStatus, Draft, DraftKind, ImportStanding, Landing, Merge,
    MergeId, Millis, OldAttempt, OldMerge, OldProject, OldRun, OldTask, OldTemplate, ProfileId, Project,
    ProjectId, Run, RunId, RunOwner, RunPhase, RunStatus, Task, TaskId, Tokens,
};

use super::action::{profile_of_runs, read_action, read_profile};
use super::desk::{Unread, read_template};
use super::identity::{Identities, Identity, Seen};
use super::plan::{Plan, PlannedTask};
use crate::{Forge, Result};

/// Makes plans; what it has given away in one plan it does not give again in the next.
pub(super) struct Planner<'f> {
    forge: &'f Forge,
    identities: Identities,
    /// Where attempts of the source are, for tasks that they spawned.
    attempts: HashMap<String, AttemptId>,
    /// Projects of this import by their path.
    projects: HashMap<String, Project>,
    places: HashSet<String>,
}

impl<'f> Planner<'f> {
    pub(super) fn new(forge: &'f Forge, identities: Identities) -> Self {
        Self { forge, identities, attempts: HashMap::new(), projects: HashMap::new(), places: HashSet::new() }
    }

    pub(super) async fn plan(&mut self, old: OldProject) -> Result<Plan> {
        let mut notes = Vec::new();
        let (project, standing) = self.find_project(&old, &mut notes).await?;
        let mut plan = Plan::new(project, standing, notes);
        if self.identities.noted::<ProjectId>(ImportKind::Project, &old.key).is_none() {
            plan.note(ImportKind::Project, &old.key, plan.project.id);
        }
        for task in old.tasks {
            self.plan_task(&mut plan, task).await?;
        }
        self.find_parents(&mut plan);
        self.plan_templates(&mut plan, old.templates).await?;
        Ok(plan)
    }

    async fn find_project(
        &mut self,
        old: &OldProject,
        notes: &mut Vec<String>,
    ) -> Result<(Project, ImportStanding)> {
        let store = &self.forge.0.store;
        let given = Path::new(&old.git_repo_path);
        let repo = self.forge.repo_at(given).await.ok();
        let path = repo.as_ref().map_or(given, |repo| repo.path()).to_string_lossy().into_owned();
        let look =
            |id: ProjectId| async move { Ok(store.project(id).await?.map_or(Seen::Nothing, |_| Seen::Same)) };
        let known = self.identities.noted(ImportKind::Project, &old.key).or(old.id);
        if let Some(id) = known
            && let Some(project) = store.project(id).await?
        {
            return Ok((project, ImportStanding::Known));
        }
        if let Some(project) = self.projects.get(&path) {
            return Ok((project.clone(), ImportStanding::Merged));
        }
        if let Some(project) = store.project_by_path(&path).await? {
            return Ok((project, ImportStanding::Merged));
        }
        let id = match self.identities.decide(ImportKind::Project, &old.key, old.id, look).await? {
            Identity::New(id) => id,
            Identity::Linked(id) | Identity::Known(id) => {
                return Ok((self.forge.project(id).await?, ImportStanding::Known));
            }
            Identity::Deleted | Identity::Repeated => ProjectId::random(),
        };
        let default_base_branch = match (&old.default_base_branch, &repo) {
            (Some(branch), _) => Some(branch.clone()),
            (None, Some(repo)) => repo.current_branch().await?,
            (None, None) => {
                notes.push(format!(
                    "Project '{}': no git repository at {path}; its history is imported, new work needs the repository back",
                    old.name
                ));
                None
            }
        };
        let project = Project {
            id,
            name: old.name.clone(),
            git_repo_path: path.clone(),
            setup_script: filled(&old.setup_script),
            dev_script: filled(&old.dev_script),
            cleanup_script: filled(&old.cleanup_script),
            copy_files: filled(&old.copy_files),
            commit_prompt: None,
            default_base_branch,
            max_cost_usd: None,
            created_at: old.created_at,
            updated_at: old.updated_at,
        };
        self.projects.insert(path, project.clone());
        Ok((project, ImportStanding::New))
    }

    async fn plan_task(&mut self, plan: &mut Plan, old: OldTask) -> Result<()> {
        let store = &self.forge.0.store;
        let project = plan.project.id;
        let look = |id: TaskId| async move {
            let found = store.task(id).await?;
            Ok(found.map_or(Seen::Nothing, |task| same(task.project_id == project)))
        };
        let identity = self.identities.decide(ImportKind::Task, &old.key, old.id, look).await?;
        let id = match plan.take(ImportKind::Task, &old.key, &old.title, identity, |report| &mut report.tasks)
        {
            Some(id) => id,
            None => {
                plan.report.attempts.skipped += old.attempts.len() as u64;
                plan.report.runs.skipped +=
                    old.attempts.iter().map(|attempt| attempt.runs.len() as u64).sum::<u64>();
                return Ok(());
            }
        };
        let title = old.title.clone();
        if identity == Identity::New(id) {
            let images = plan.check_images(&old.title, old.images);
            let task = Task {
                id,
                project_id: project,
                title: old.title,
                description: old.description,
                status: old.status,
                parent_task_attempt: None,
                dev_server_id: None,
                created_at: old.created_at,
                updated_at: old.updated_at,
                labels: Vec::new(),
            };
            plan.tasks.push(PlannedTask { task, images, parent_key: old.parent_attempt_key });
        } else {
            plan.report.images.known += old.images.len() as u64;
        }
        for attempt in old.attempts {
            self.plan_attempt(plan, id, &title, attempt).await?;
        }
        Ok(())
    }

    async fn plan_attempt(
        &mut self,
        plan: &mut Plan,
        task: TaskId,
        title: &str,
        old: OldAttempt,
    ) -> Result<()> {
        let store = &self.forge.0.store;
        let look = |id: AttemptId| async move {
            let found = store.attempt(id).await?;
            Ok(found.map_or(Seen::Nothing, |attempt| same(attempt.task_id == task)))
        };
        let identity = self.identities.decide(ImportKind::Attempt, &old.key, old.id, look).await?;
        let name = format!("{title} ({})", old.branch);
        let taken = plan.take(ImportKind::Attempt, &old.key, &name, identity, |report| &mut report.attempts);
        let Some(id) = taken else {
            plan.report.runs.skipped += old.runs.len() as u64;
            return Ok(());
        };
        self.attempts.insert(old.key.clone(), id);
        plan.links.push(AttemptLink {
            key: old.key.clone(),
            attempt_id: id,
            task_id: task,
            project_id: plan.project.id,
        });
        let profile = self.find_profile(plan, &old);
        let is_new = identity == Identity::New(id);
        if is_new {
            let attempt = self.new_attempt(plan, (id, task, title), &old, profile.clone()).await?;
            plan.attempts.push(attempt);
            plan.drafts.extend(old.draft.as_deref().filter(|text| !text.trim().is_empty()).map(|text| {
                Draft { prompt: text.to_owned(), ..Draft::blank(id, DraftKind::FollowUp, old.updated_at) }
            }));
        }
        let ended_at = old.updated_at;
        for run in old.runs {
            self.plan_run(plan, id, &profile, ended_at, run).await?;
        }
        for merge in old.merges {
            self.plan_merge(plan, id, merge).await?;
        }
        Ok(())
    }

    fn find_profile(&self, plan: &mut Plan, old: &OldAttempt) -> ProfileId {
        if let Some(profile) = profile_of_runs(&old.runs).or_else(|| read_profile(&old.executor)) {
            return profile;
        }
        let profile = self.forge.settings().executor_profile.clone();
        if !old.executor.trim().is_empty() {
            plan.remark(format!(
                "Agent '{}' is not known here; attempts of it are shown as {profile}, which would answer follow-ups",
                old.executor
            ));
        }
        profile
    }

    async fn new_attempt(
        &mut self,
        plan: &Plan,
        (id, task, title): (AttemptId, TaskId, &str),
        old: &OldAttempt,
        profile: ProfileId,
    ) -> Result<Attempt> {
        let place = match old.in_place {
            true => plan.project.git_repo_path.clone(),
            false => self.free_place(id, title, old).await?,
        };
        Ok(Attempt {
            id,
            task_id: task,
            container_ref: Some(place.clone()),
            branch: old.branch.clone(),
            target_branch: old.target_branch.clone(),
            executor: profile.to_string(),
            worktree_deleted: !old.in_place,
            setup_completed_at: None,
            tokens: Tokens::default(),
            created_at: old.created_at,
            updated_at: old.updated_at,
            status: AttemptStatus::Completed,
            project_id: plan.project.id,
            executor_profile_id: profile,
            worktree_path: Some(place),
            use_worktree: !old.in_place,
            auto_pr: None,
            cost_usd: None,
            max_cost_usd: None,
        })
    }

    /// Where a worktree for the attempt can be made: under its old name when that is free here.
    async fn free_place(&mut self, id: AttemptId, title: &str, old: &OldAttempt) -> Result<String> {
        let old_name =
            old.worktree.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let hex = id.hex();
        let names = old_name
            .into_iter()
            .chain((4..=hex.len()).map(|digits| forge_types::name_for(&hex, digits, title)));
        let mut place = String::new();
        for name in names {
            let path = self.forge.0.base.path().join(name);
            place = path.to_string_lossy().into_owned();
            let free = !self.places.contains(&place)
                && path.symlink_metadata().is_err()
                && self.forge.0.store.attempt_by_path(&place).await?.is_none();
            if free {
                break;
            }
        }
        self.places.insert(place.clone());
        Ok(place)
    }

    async fn plan_run(
        &mut self,
        plan: &mut Plan,
        attempt: AttemptId,
        profile: &ProfileId,
        ended_at: Millis,
        old: OldRun,
    ) -> Result<()> {
        let store = &self.forge.0.store;
        let look = |id: RunId| async move {
            let found = store.run(id).await?;
            Ok(found.map_or(Seen::Nothing, |run| same(run.owner == RunOwner::Attempt(attempt))))
        };
        let identity = self.identities.decide(ImportKind::Run, &old.key, old.id, look).await?;
        let name = old.reason.as_str();
        let taken = plan.take(ImportKind::Run, &old.key, name, identity, |report| &mut report.runs);
        let Some(id) = taken.filter(|id| identity == Identity::New(*id)) else { return Ok(()) };
        plan.report.log_bytes += old.log.as_ref().map_or(0, |log| log.bytes);
        let action = read_action(&old, profile);
        let (status, completed_at) = match old.status {
            RunStatus::Running => {
                (RunStatus::Killed, old.completed_at.or(Some(ended_at.max(old.started_at))))
            }
            status => (status, old.completed_at),
        };
        let run = Run {
            id,
            owner: RunOwner::Attempt(attempt),
            reason: old.reason,
            action,
            before_head: old.before_head,
            after_head: old.after_head,
            status,
            phase: RunPhase::Ended,
            exit_code: old.exit_code,
            dropped: old.dropped,
            session_id: old.session_id,
            summary: old.summary,
            parked_until: None,
            unverified: false,
            commit_error: None,
            setup_required: false,
            open_conflicts: Vec::new(),
            started_at: old.started_at,
            completed_at,
            created_at: old.started_at,
            updated_at: completed_at.unwrap_or(old.started_at),
        };
        plan.runs.push((run, old.log));
        Ok(())
    }

    async fn plan_merge(&mut self, plan: &mut Plan, attempt: AttemptId, old: OldMerge) -> Result<()> {
        let store = &self.forge.0.store;
        let look = |id: MergeId| async move {
            Ok(if store.has_merge(id).await? { Seen::Same } else { Seen::Nothing })
        };
        let identity = self.identities.decide(ImportKind::Merge, &old.key, old.id, look).await?;
        let name = old.target_branch.as_str();
        let taken = plan.take(ImportKind::Merge, &old.key, name, identity, |report| &mut report.merges);
        let Some(id) = taken.filter(|id| identity == Identity::New(*id)) else { return Ok(()) };
        let (task_attempt_id, target_branch_name, created_at) = (attempt, old.target_branch, old.created_at);
        plan.merges.push(match old.landing {
            Landing::Direct { merge_commit } => {
                Merge::Direct { id, task_attempt_id, merge_commit, target_branch_name, created_at }
            }
            Landing::Pull(pr_info) => {
                Merge::Pr { id, task_attempt_id, created_at, target_branch_name, pr_info }
            }
        });
        Ok(())
    }

    /// Attempts may spawn tasks that come before them.
    fn find_parents(&self, plan: &mut Plan) {
        let mut lost = Vec::new();
        for planned in &mut plan.tasks {
            let Some(key) = &planned.parent_key else { continue };
            let noted = || self.identities.noted(ImportKind::Attempt, key);
            planned.task.parent_task_attempt = self.attempts.get(key).copied().or_else(noted);
            if planned.task.parent_task_attempt.is_none() {
                lost.push(format!(
                    "Task '{}': the attempt that it came from is not in the source",
                    planned.task.title
                ));
            }
        }
        plan.notes.extend(lost);
    }

    async fn plan_templates(&mut self, plan: &mut Plan, old: Vec<OldTemplate>) -> Result<()> {
        let known = self.forge.0.store.templates(TemplateScope::All).await?;
        for old in old {
            match read_template(&known, Some(plan.project.id), old) {
                Ok(template) => {
                    plan.report.templates.new += 1;
                    plan.templates.push(template);
                }
                Err(Unread::Known) => plan.report.templates.known += 1,
                Err(Unread::Skipped(skipped)) => {
                    plan.report.templates.skipped += 1;
                    plan.skipped.push(skipped);
                }
            }
        }
        Ok(())
    }
}

fn same(is_same: bool) -> Seen {
    if is_same { Seen::Same } else { Seen::Other }
}

fn filled(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.trim().is_empty())
}
