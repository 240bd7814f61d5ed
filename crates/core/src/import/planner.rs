//! Deciding what becomes of each thing of a source.
//!
//! Invariant: it only reads, so a dry run is a plan that nobody carries out. An attempt whose old worktree exists is shown
//! there, though nothing starts in it until the user has it adopted; any other gets a path of Forge's own that does not exist
//! yet, and the first run that needs a worktree makes it from the branch.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use forge_store::{ImportKind, TemplateScope};
use forge_types::{
    AgentId, Attempt, AttemptId, AttemptLink, AttemptStatus, CHAT_AGENT, Draft, DraftKind, ForgeAgent,
    ImageId, ImportStanding, Landing, Merge, MergeId, Millis, OldAgent, OldAttempt, OldImage, OldMerge,
    OldProject, OldRun, OldTask, OldTemplate, OldWorktrees, ProfileId, Project, ProjectId, Run, RunId,
    RunOwner, RunPhase, RunStatus, Task, TaskId, Tokens,
};

use super::desk::{Unread, read_template};
use super::follow::{is_running, seen_attempt, seen_run, seen_task, status_here};
use super::identity::{Identities, Identity, Seen};
use super::plan::{Plan, PlannedRun, PlannedTask};
use super::show_as;
use crate::worktree::host::{Directory, Status};
use crate::worktree::upkeep::what_to_do;
use crate::{Forge, Result};
use forge_legacy::action::{profile_of_runs, read_action, read_profile};

/// Makes plans; what it has given away in one plan it does not give again in the next.
pub(super) struct Planner<'f> {
    pub(super) forge: &'f Forge,
    pub(super) identities: Identities,
    /// When the import began: nothing that it writes is younger.
    pub(super) at: Millis,
    worktrees: OldWorktrees,
    /// Where tasks of the source are, for agents.
    tasks: HashMap<String, TaskId>,
    /// Where attempts of the source are, for tasks that they spawned.
    attempts: HashMap<String, AttemptId>,
    /// Projects of this import by their path.
    projects: HashMap<String, Project>,
    places: HashSet<PathBuf>,
}

impl<'f> Planner<'f> {
    pub(super) fn new(forge: &'f Forge, identities: Identities, worktrees: OldWorktrees, at: Millis) -> Self {
        Self {
            forge,
            identities,
            at,
            worktrees,
            tasks: HashMap::new(),
            attempts: HashMap::new(),
            projects: HashMap::new(),
            places: HashSet::new(),
        }
    }

    pub(super) async fn plan(&mut self, old: OldProject) -> Result<Plan> {
        let mut notes = Vec::new();
        let (project, standing) = self.find_project(&old, &mut notes).await?;
        let mut plan = Plan::new(project, standing, notes);
        if self.identities.noted::<ProjectId>(ImportKind::Project, &old.key).is_none() {
            plan.note(ImportKind::Project, &old.key, plan.project.id, None);
        }
        for task in old.tasks {
            self.plan_task(&mut plan, task).await?;
        }
        self.find_parents(&mut plan);
        self.plan_templates(&mut plan, old.templates).await?;
        self.plan_agents(&mut plan, old.agents).await?;
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

    async fn plan_task(&mut self, plan: &mut Plan, mut old: OldTask) -> Result<()> {
        let store = &self.forge.0.store;
        let project = plan.project.id;
        let look = |id: TaskId| async move {
            let found = store.task(id).await?;
            Ok(found.map_or(Seen::Nothing, |task| same(task.project_id == project)))
        };
        let identity = self.identities.decide(ImportKind::Task, &old.key, old.id, look).await?;
        let (seen, status) = (seen_task(&old), status_here(&old));
        let taken =
            plan.take(ImportKind::Task, &old.key, &old.title, (identity, &seen), |report| &mut report.tasks);
        let id = match taken {
            Some(id) => id,
            None => {
                plan.report.attempts.skipped += old.attempts.len() as u64;
                plan.report.runs.skipped +=
                    old.attempts.iter().map(|attempt| attempt.runs.len() as u64).sum::<u64>();
                return Ok(());
            }
        };
        let title = old.title.clone();
        self.tasks.insert(old.key.clone(), id);
        if identity == Identity::Known(id) {
            self.follow_task(plan, id, &mut old).await?;
        } else if identity == Identity::New(id) {
            let mut images = Vec::new();
            for image in old.images {
                if plan.check_image(&title, &image) {
                    images.push((image_key(&old.key, &image), image));
                }
            }
            let task = Task {
                id,
                description: old.description,
                status,
                updated_at: old.updated_at.min(self.at),
                ..Task::new(project, old.title, old.created_at)
            };
            let parent_key = old.parent_attempt_key;
            plan.tasks.push(PlannedTask { task, before: None, images, parent_key });
        } else {
            plan.report.images.known += old.images.len() as u64;
        }
        for attempt in old.attempts {
            self.plan_attempt(plan, id, &title, attempt).await?;
        }
        Ok(())
    }

    /// Images of a known task that were not taken yet and can be now; the text shows those that were under their names here.
    pub(super) async fn late_images(
        &self,
        plan: &mut Plan,
        task: TaskId,
        old: &mut OldTask,
        text: &mut Option<String>,
    ) -> Result<Vec<(String, OldImage)>> {
        let mut late = Vec::new();
        if old.images.is_empty() {
            return Ok(late);
        }
        let shown = self.forge.0.store.task_images(task).await?;
        for image in std::mem::take(&mut old.images) {
            let key = image_key(&old.key, &image);
            let noted = self.identities.noted::<ImageId>(ImportKind::Image, &key);
            let kept = shown.iter().find(|kept| noted.or(image.id) == Some(kept.id));
            if let Some(kept) = kept {
                show_as(text, &image, kept);
            }
            if kept.is_some() || noted.is_some() {
                plan.report.images.known += 1;
            } else if plan.check_image(&old.title, &image) {
                late.push((key, image));
            }
        }
        Ok(late)
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
        let seen = seen_attempt(&old);
        let taken =
            plan.take(ImportKind::Attempt, &old.key, &name, (identity, &seen), |report| &mut report.attempts);
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
        if identity == Identity::Known(id) {
            self.follow_attempt(plan, id, &name, &old).await?;
            self.plan_adoption(plan, id, &old).await?;
        }
        if is_running(&old) {
            let source = &self.identities.source;
            plan.remark(format!(
                "Attempt '{name}' is at work in {source}: it is taken as it stands now, as stopped; import again when it \
                 has ended there"
            ));
        }
        let (ended_at, root) = (old.updated_at, old.worktree);
        for run in old.runs {
            self.plan_run(plan, (id, &profile), (ended_at, root.as_deref()), run).await?;
        }
        for merge in old.merges {
            self.plan_merge(plan, id, merge).await?;
        }
        Ok(())
    }

    fn find_profile(&self, plan: &mut Plan, old: &OldAttempt) -> ProfileId {
        if let Some(profile) = profile_of_runs(&old.runs).or_else(|| read_profile(&old.executor)) {
            return ProfileId { model: profile.model.clone().or_else(|| old.model.clone()), ..profile };
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
        plan: &mut Plan,
        (id, task, title): (AttemptId, TaskId, &str),
        old: &OldAttempt,
        profile: ProfileId,
    ) -> Result<Attempt> {
        let strange = self.strange_place(plan, old).await;
        let place = match (&strange, old.in_place) {
            (_, true) => plan.project.git_repo_path.clone(),
            (Some(path), _) => path.to_string_lossy().into_owned(),
            (None, _) => self.free_place(id, title, old).await?,
        };
        let attempt = Attempt {
            id,
            task_id: task,
            container_ref: Some(place.clone()),
            branch: old.branch.clone(),
            target_branch: old.target_branch.clone(),
            executor: profile.to_string(),
            worktree_deleted: !old.in_place && strange.is_none(),
            setup_completed_at: None,
            tokens: Tokens::default(),
            created_at: old.created_at,
            updated_at: old.updated_at.min(self.at),
            status: AttemptStatus::Completed,
            project_id: plan.project.id,
            executor_profile_id: profile,
            worktree_path: Some(place),
            use_worktree: !old.in_place,
            auto_pr: None,
            cost_usd: None,
            max_cost_usd: None,
        };
        if strange.is_some() {
            self.offer_adoption(plan, old, &attempt).await;
        }
        Ok(attempt)
    }

    /// The worktree that the other system made for the attempt, where it still exists.
    async fn strange_place(&self, plan: &Plan, old: &OldAttempt) -> Option<PathBuf> {
        if old.in_place {
            return None;
        }
        let repo = Path::new(&plan.project.git_repo_path);
        self.forge.find_stranger(repo, &old.branch, old.worktree.as_deref()).await.ok().flatten()
    }

    /// An attempt that came before, and whose worktree the user wants now.
    async fn plan_adoption(&mut self, plan: &mut Plan, id: AttemptId, old: &OldAttempt) -> Result<()> {
        if self.worktrees == OldWorktrees::Adopt
            && self.strange_place(plan, old).await.is_some()
            && let Some(attempt) = self.forge.0.store.attempt(id).await?
        {
            self.offer_adoption(plan, old, &attempt).await;
        }
        Ok(())
    }

    /// Has the worktree adopted, or says how the user can.
    async fn offer_adoption(&self, plan: &mut Plan, old: &OldAttempt, attempt: &Attempt) {
        if self.worktrees == OldWorktrees::Adopt && !is_running(old) {
            return plan.adopted.push(attempt.clone());
        }
        let at = Directory::of_attempt(&plan.project, attempt);
        let found = self.forge.ask(Status { at: at.clone() }).await;
        let uncommitted = found.map_or(0, |tree| tree.changed.len() + tree.untracked);
        let work =
            if uncommitted > 0 { format!(" with {uncommitted} uncommitted files") } else { String::new() };
        plan.remark(format!(
            "{at}{work} is still the worktree of {}: {}",
            self.identities.source,
            what_to_do(attempt.id)
        ));
    }

    /// Agents whose chats are here, of types that the project has none of.
    async fn plan_agents(&mut self, plan: &mut Plan, old: Vec<OldAgent>) -> Result<()> {
        let mut known = self.forge.0.store.agents(plan.project.id, None).await?;
        for old in old {
            let Some(task_id) = self.tasks.get(&old.task_key).copied() else {
                plan.report.agents.skipped += 1;
                continue;
            };
            let is_here = |agent: &ForgeAgent| {
                Some(agent.id) == old.id
                    || agent.task_id == task_id
                    || (agent.agent_type == old.agent_type && old.agent_type != CHAT_AGENT)
            };
            if known.iter().any(is_here) {
                plan.report.agents.known += 1;
                continue;
            }
            let agent = ForgeAgent {
                id: old.id.unwrap_or_else(AgentId::random),
                project_id: plan.project.id,
                agent_type: old.agent_type,
                task_id,
                created_at: old.created_at,
                updated_at: old.updated_at,
            };
            plan.report.agents.new += 1;
            known.push(agent.clone());
            plan.agents.push(agent);
        }
        Ok(())
    }

    /// Where a worktree for the attempt can be made: under its old name when that is free here.
    async fn free_place(&mut self, id: AttemptId, title: &str, old: &OldAttempt) -> Result<String> {
        let old = old.worktree.as_deref().unwrap_or(Path::new(""));
        let place = self.forge.free_place(id, title, old, &self.places).await?;
        self.places.insert(place.clone());
        Ok(place.to_string_lossy().into_owned())
    }

    async fn plan_run(
        &mut self,
        plan: &mut Plan,
        (attempt, profile): (AttemptId, &ProfileId),
        (ended_at, root): (Millis, Option<&Path>),
        old: OldRun,
    ) -> Result<()> {
        let store = &self.forge.0.store;
        let look = |id: RunId| async move {
            let found = store.run(id).await?;
            Ok(found.map_or(Seen::Nothing, |run| same(run.owner == RunOwner::Attempt(attempt))))
        };
        let identity = self.identities.decide(ImportKind::Run, &old.key, old.id, look).await?;
        let (name, seen) = (old.reason.as_str(), seen_run(&old));
        let taken = plan.take(ImportKind::Run, &old.key, name, (identity, &seen), |report| &mut report.runs);
        if let Identity::Known(id) = identity {
            return self.follow_run(plan, (id, root), ended_at, old).await;
        }
        let Some(id) = taken.filter(|id| identity == Identity::New(*id)) else { return Ok(()) };
        plan.report.log_bytes += old.log.as_ref().map_or(0, |log| log.bytes);
        let action = read_action(&old, profile);
        let (status, completed_at) = ended(&old, ended_at, self.at);
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
            updated_at: completed_at.unwrap_or(old.started_at).min(self.at),
        };
        plan.runs.push(PlannedRun { run, before: None, log: old.log, root: root.map(Path::to_owned) });
        Ok(())
    }

    async fn plan_merge(&mut self, plan: &mut Plan, attempt: AttemptId, old: OldMerge) -> Result<()> {
        let store = &self.forge.0.store;
        let look = |id: MergeId| async move {
            Ok(if store.has_merge(id).await? { Seen::Same } else { Seen::Nothing })
        };
        let identity = self.identities.decide(ImportKind::Merge, &old.key, old.id, look).await?;
        let name = old.target_branch.as_str();
        let taken = plan.take(ImportKind::Merge, &old.key, name, (identity, ""), |report| &mut report.merges);
        if let Identity::Known(id) = identity {
            return self.follow_merge(plan, (id, attempt), old).await;
        }
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

/// How a run ended: one that goes on in the source has no process here.
pub(super) fn ended(old: &OldRun, at: Millis, now: Millis) -> (RunStatus, Option<Millis>) {
    match old.status {
        RunStatus::Running => (RunStatus::Killed, old.completed_at.or(Some(at.min(now).max(old.started_at)))),
        status => (status, old.completed_at),
    }
}

/// By what the image of a task is noted.
fn image_key(task: &str, image: &OldImage) -> String {
    format!("{task}/{}", image.key)
}

fn same(is_same: bool) -> Seen {
    if is_same { Seen::Same } else { Seen::Other }
}

fn filled(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.trim().is_empty())
}
