//! Starting an attempt (or, in `errand`, an errand): check everything, then make the worktree, the rows and the process.
//!
//! Invariant: a start that is refused leaves no row, no branch and no directory. The worktree carries the attempt's
//! id before the rows exist, so a crash in between is recognised and undone by the next start (see `recovery`).

mod errand;

use std::path::Path;
use std::time::Instant;

use forge_git::{BranchTip, CopyWarning, Naming, Owner, Worktree};
use forge_run::DirectoryOwner;
use forge_store::{BeadTask, Why};
use forge_types::{
    Action, Attempt, AttemptId, AttemptStatus, AutoPr, Budget, CHAT_AGENT, CreateAttempt,
    CreateAttemptOptions, ErrorCode, Executor, ImageId, Lease, Millis, ProfileId, Project, ProjectId, Run,
    RunOwner, RunReason, ScriptContext, StartTask, Task, TaskStatus, TaskSummary, Tokens,
};
use serde::{Deserialize, Serialize};

use crate::attempt::chat::agent_of;
use crate::once::{self, Effect};
use crate::run::new_run;
use crate::task::image::show_images;
use crate::task::new_task;
use crate::worktree::host::{Claim, CopyFiles, Directory, DropClaim, FreeBytes};
use crate::worktree::workplace::{Workplace, marked};
use crate::{Error, Forge, Kind, Once, Result};
pub use errand::StartedErrand;

/// Below this much free space a start is refused: git and the journal need room to finish what they begin.
const MIN_FREE_BYTES: u64 = 64 << 20;

/// A started task. `warning` says why the process did not start, although the rows are complete.
#[derive(Serialize, Deserialize)]
pub struct Started {
    pub task: TaskSummary,
    pub attempt: Attempt,
    pub warning: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub struct StartedAttempt {
    pub attempt: Attempt,
    pub warning: Option<String>,
}

/// Whether the task's row is written together with the attempt's.
enum TaskRow {
    New { images: Vec<ImageId>, bead: Option<BeadTask> },
    Known,
}

/// What an attempt begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// Setup script, agent, cleanup script.
    Agent,
    /// Only the setup script, if there is one: a worker in a terminal does the rest.
    Setup,
}

/// Under which id an attempt comes to be, and for which request.
#[derive(Clone, Copy)]
struct Name<'a> {
    id: AttemptId,
    once: Option<&'a Once>,
}

impl<'a> Name<'a> {
    fn new(once: Option<&'a Once>) -> Self {
        Self { id: AttemptId::random(), once }
    }
}

/// A request that passed every check.
struct Checked {
    project: Project,
    profile: ProfileId,
    base_branch: String,
    tip: BranchTip,
    auto_pr: Option<AutoPr>,
    max_cost_usd: Option<Budget>,
}

impl Forge {
    pub async fn start_task(&self, request: StartTask, once: Option<&Once>) -> Result<Started> {
        if let Some((once, id)) = attempt_of(once) {
            return Ok(once.replay(match once.answer() {
                Some(started) => started,
                None => {
                    self.whole_start(StartedAttempt { attempt: self.attempt(id).await?, warning: None })
                        .await?
                }
            }));
        }
        let started = self.start_new(request, Name::new(once), None, Begin::Agent).await?;
        let started = self.whole_start(started).await?;
        self.keep_answer(once, &started).await;
        Ok(started)
    }

    async fn whole_start(&self, StartedAttempt { attempt, warning }: StartedAttempt) -> Result<Started> {
        Ok(Started { task: self.task_summary(attempt.task_id).await?, attempt, warning })
    }

    /// Starts a bead, as a task of its own or as one more attempt at the task that it is already, under an id that is
    /// known before anything exists.
    pub(crate) async fn start_bead(
        &self,
        request: StartTask,
        id: AttemptId,
        lease: &Lease,
        known: Option<Task>,
        begin: Begin,
    ) -> Result<StartedAttempt> {
        match known {
            Some(task) => {
                let checked = self.check(task.project_id, "task_id", &request.start).await?;
                self.start(Name { id, once: None }, checked, task, TaskRow::Known, true, begin).await
            }
            None => self.start_new(request, Name { id, once: None }, Some(lease), begin).await,
        }
    }

    async fn start_new(
        &self,
        request: StartTask,
        name: Name<'_>,
        lease: Option<&Lease>,
        begin: Begin,
    ) -> Result<StartedAttempt> {
        let project_id = request.task.project_id;
        let in_worktree = request.start.use_worktree.unwrap_or(true);
        let checked = self.check(project_id, "project_id", &request.start).await?;
        let images = request.task.image_ids.clone().unwrap_or_default();
        self.check_images(&images).await?;
        let status = if in_worktree { TaskStatus::Todo } else { TaskStatus::Agent };
        let task = new_task(request.task, status)?;
        let bead = lease.map(|lease| BeadTask {
            workspace: lease.workspace.clone(),
            bead: lease.bead.clone(),
            task_id: task.id,
        });
        self.start(name, checked, task, TaskRow::New { images, bead }, in_worktree, begin).await
    }

    pub async fn create_attempt(
        &self,
        request: CreateAttempt,
        once: Option<&Once>,
    ) -> Result<StartedAttempt> {
        if let Some((once, id)) = attempt_of(once) {
            return Ok(once.replay(match once.answer() {
                Some(started) => started,
                None => StartedAttempt { attempt: self.attempt(id).await?, warning: None },
            }));
        }
        let found = self.0.store.task(request.task_id).await?;
        let task = found.ok_or_else(|| Error::no_task(request.task_id).of_field("task_id"))?;
        let in_worktree = request.start.use_worktree.unwrap_or(task.status != TaskStatus::Agent);
        let checked = self.check(task.project_id, "task_id", &request.start).await?;
        let name = Name::new(once);
        let started = self.start(name, checked, task, TaskRow::Known, in_worktree, Begin::Agent).await?;
        self.keep_answer(once, &started).await;
        Ok(started)
    }

    /// Whether such a start would be refused.
    pub(crate) async fn check_start(&self, project: ProjectId, options: &CreateAttemptOptions) -> Result<()> {
        self.check(project, "project_id", options).await.map(drop)
    }

    async fn check(
        &self,
        project: ProjectId,
        field: &'static str,
        options: &CreateAttemptOptions,
    ) -> Result<Checked> {
        let found = self.0.store.project(project).await?;
        let project = found.ok_or_else(|| Error::no_project(project).of_field(field))?;
        self.check_budget(None, project.id).await?;
        let checkout = Directory::checkout(&project);
        let profile = self.check_profile(&options.executor_profile_id, &project, &checkout).await?;
        let repo = self.repo(&project).await?;
        let base_branch = match (&options.base_branch, &project.default_base_branch) {
            (Some(branch), _) | (None, Some(branch)) => branch.clone(),
            (None, None) => repo.current_branch().await?.unwrap_or_else(|| "main".to_owned()),
        };
        let tip = repo.resolve_branch(&base_branch).await?.ok_or_else(|| {
            let missing = Error::invalid(format!("Branch not found: {base_branch}"));
            let allowed = format!("allowed: a local or remote-tracking branch of {}", project.git_repo_path);
            missing.code(ErrorCode::BranchNotFound).of_field("base_branch").hint(allowed)
        })?;
        let free_bytes = self.ask(FreeBytes {}).await?;
        if free_bytes < MIN_FREE_BYTES {
            let full = Error::new(
                Kind::Unavailable,
                format!(
                    "only {} MiB are free below {}, and at least {} MiB are needed, so nothing was created",
                    free_bytes >> 20,
                    self.0.worktrees.host().base().display(),
                    MIN_FREE_BYTES >> 20
                ),
            );
            let hint = "free some space (`forge worktree gc`) and start again";
            return Err(full.code(ErrorCode::DiskFull).hint(hint));
        }
        let auto_pr = options.auto_pr.unwrap_or(false).then_some(AutoPr::Waiting);
        let max_cost_usd = options.max_cost_usd;
        Ok(Checked { project, profile, base_branch, tip, auto_pr, max_cost_usd })
    }

    async fn start(
        &self,
        Name { id, once }: Name<'_>,
        checked: Checked,
        mut task: Task,
        row: TaskRow,
        in_worktree: bool,
        begin: Begin,
    ) -> Result<StartedAttempt> {
        let _turn = self.0.worktrees.turn().await?;
        let begun = Instant::now();
        let prefix = self.branch_prefix();
        let naming = Naming::Attempt { id, task: marked(&task), prefix: prefix.clone() };
        let worktree = match in_worktree {
            true => Some(self.claim(&checked, &naming).await?),
            false => {
                self.refuse_leftovers_in(&Directory::checkout(&checked.project), DirectoryOwner::User)
                    .await?;
                None
            }
        };
        let claimed = begun.elapsed();
        let attempt = new_attempt(id, &task, &checked, worktree.as_ref(), &prefix);
        let mut workplace = Workplace::attempt(checked.project.clone(), task.clone(), attempt.clone());
        let action = match begin {
            Begin::Agent => Some(first_action(&checked, &task, &self.image_folder(&workplace))),
            Begin::Setup => setup_action(&checked.project),
        };
        let run = action.map(|action| {
            let run_id = forge_types::RunId::random();
            let entry = self.enter(&workplace.directory, run_id);
            new_run(run_id, RunOwner::Attempt(id), action, Some(checked.tip.commit.clone()), entry)
        });
        if task.status != TaskStatus::Agent {
            task.status = TaskStatus::InProgress;
            task.updated_at = Millis::now();
        }
        if let Err(error) = self.write_start(&task, row, &attempt, run.as_ref(), once).await {
            if let Some(run) = &run {
                self.leave(&workplace.directory, run.id);
            }
            self.undo_claim(&checked, Owner::Attempt(id), worktree.as_ref()).await;
            return Err(error);
        }
        let written = begun.elapsed();
        self.warm_up(&checked.project);
        workplace.task = Some(task);
        self.copy_project_files(&workplace).await;
        let warning = match run.filter(|run| run.phase != forge_types::RunPhase::Queued) {
            Some(run) => self.launch_run(run, &workplace).await.err().map(|error| error.to_string()),
            None => None,
        };
        tracing::debug!(attempt = %id, ?claimed, ?written, started = ?begun.elapsed(), "attempt started");
        Ok(StartedAttempt { attempt: self.attempt(id).await?, warning })
    }

    async fn write_start(
        &self,
        task: &Task,
        row: TaskRow,
        attempt: &Attempt,
        run: Option<&Run>,
        once: Option<&Once>,
    ) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        match row {
            TaskRow::New { images, bead } => {
                let hidden = task.status == TaskStatus::Agent;
                tx.insert_task(task, hidden).await.map_err(missing_parent)?;
                tx.attach_images(task.id, &images).await?;
                if let Some(bead) = bead {
                    tx.link_bead(&bead).await?;
                }
                if hidden {
                    tx.insert_agent(&agent_of(task, CHAT_AGENT)).await?;
                }
            }
            TaskRow::Known => {
                if tx.task(task.id).await?.is_none() {
                    return Err(Error::no_task(task.id).of_field("task_id"));
                }
                tx.move_task(task.id, TaskStatus::InProgress, Why::Asked(RunReason::CodingAgent)).await?;
            }
        }
        tx.insert_attempt(attempt).await?;
        if let Some(run) = run {
            tx.insert_run(run).await?;
        }
        once::note(&mut tx, once, || Effect::Attempt(attempt.id), None::<&()>).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn claim(&self, checked: &Checked, naming: &Naming) -> Result<Worktree> {
        let (repo, commit) = (checked.project.git_repo_path.clone().into(), checked.tip.commit.clone());
        let worktree = self.ask(Claim { repo, naming: naming.clone(), commit }).await?;
        for warning in &worktree.warnings {
            tracing::warn!(path = %worktree.path.display(), "{warning}");
        }
        Ok(worktree)
    }

    async fn undo_claim(&self, checked: &Checked, owner: Owner, worktree: Option<&Worktree>) {
        let Some(worktree) = worktree else { return };
        let at = Directory::claimed(&checked.project, worktree);
        let (branch, commit) = (worktree.branch.clone(), checked.tip.commit.clone());
        if let Err(error) = self.ask(DropClaim { at: at.clone(), owner, branch, commit }).await {
            tracing::warn!(path = %at, %error, "a refused start left a worktree behind");
        }
    }

    async fn copy_project_files(&self, workplace: &Workplace) {
        let Some(spec) = workplace.project.copy_files.clone().filter(|_| workplace.is_forges()) else {
            return;
        };
        match self.ask(CopyFiles { at: workplace.directory.clone(), spec }).await {
            Ok(warnings) => {
                for CopyWarning { entry, reason } in warnings {
                    tracing::warn!(project = %workplace.project.name, "copy_files: '{entry}': {reason}");
                }
            }
            Err(error) => tracing::warn!(project = %workplace.project.name, %error, "copy_files failed"),
        }
    }
}

/// The attempt that an earlier request under the same key made.
fn attempt_of(once: Option<&Once>) -> Option<(&Once, AttemptId)> {
    match once.map(|once| (once, once.effect())) {
        Some((once, Some(Effect::Attempt(id)))) => Some((once, *id)),
        _ => None,
    }
}

fn new_attempt(
    id: AttemptId,
    task: &Task,
    checked: &Checked,
    worktree: Option<&Worktree>,
    prefix: &str,
) -> Attempt {
    let now = Millis::now();
    let place = match worktree {
        Some(worktree) => worktree.path.to_string_lossy().into_owned(),
        None => checked.project.git_repo_path.clone(),
    };
    // Without a worktree the branch is only a name: nothing of it exists in git.
    let branch = match worktree {
        Some(worktree) => worktree.branch.clone(),
        None => forge_types::branch_name(prefix, &forge_types::name_for(&id.hex(), 4, &task.title)),
    };
    Attempt {
        id,
        task_id: task.id,
        container_ref: Some(place.clone()),
        branch,
        target_branch: checked.base_branch.clone(),
        executor: checked.profile.to_string(),
        worktree_deleted: false,
        setup_completed_at: None,
        tokens: Tokens::default(),
        created_at: now,
        updated_at: now,
        status: AttemptStatus::Running,
        project_id: task.project_id,
        executor_profile_id: checked.profile.clone(),
        worktree_path: Some(place),
        use_worktree: worktree.is_some(),
        // Without a branch of its own there is nothing to propose.
        auto_pr: checked.auto_pr.clone().filter(|_| worktree.is_some()),
        cost_usd: None,
        max_cost_usd: checked.max_cost_usd,
    }
}

/// Setup script, agent, cleanup script: each only when there is one.
fn first_action(checked: &Checked, task: &Task, images: &Path) -> Action {
    let cleanup = cleanup_action(&checked.project);
    // A shell takes its prompt as a script, in which a title for people would be a command.
    let prompt = match (checked.profile.executor, &task.description) {
        (Executor::Shell, Some(script)) if !script.trim().is_empty() => script.clone(),
        _ => task.prompt(),
    };
    let prompt = show_images(&prompt, images);
    let agent = Action::agent(prompt, checked.profile.clone(), None).then(cleanup);
    match setup_action(&checked.project) {
        Some(setup) => setup.then(Some(agent)),
        None => agent,
    }
}

fn setup_action(project: &Project) -> Option<Action> {
    let script = project.setup_script.as_deref().filter(|script| !script.trim().is_empty())?;
    Some(Action::script(script, ScriptContext::SetupScript))
}

pub(crate) fn cleanup_action(project: &Project) -> Option<Action> {
    let script = project.cleanup_script.as_deref().filter(|script| !script.trim().is_empty())?;
    Some(Action::script(script, ScriptContext::CleanupScript))
}

fn missing_parent(error: forge_store::StoreError) -> Error {
    match error {
        forge_store::StoreError::Missing => {
            Error::not_found("no attempt has this id").of_field("task.parent_task_attempt")
        }
        other => other.into(),
    }
}
