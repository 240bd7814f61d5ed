//! The tables of what people work with: projects, tasks, attempts, runs, errands, merges and drafts.
//!
//! Invariant: a column stands here once, and nowhere else except in conditions and in the statements that compute it.

use forge_types::{
    Attempt, AttemptId, AutoPr, Draft, Errand, ErrandId, ListedAttempt, Merge, PrInfo, ProfileId, Project,
    Run, RunOwner, Task, TaskSummary, Tokens,
};

use crate::cell::{Json, ListJson, OfNewestRun, OptionalJson, Reads, Writes};
use crate::entity::{Cells, Column, column, entity, table};
use crate::sql::{Query, Row, ToCell, Value};

entity! {
    projects: Project {
        key id,
        set name,
        set git_repo_path,
        set setup_script, set dev_script, set cleanup_script,
        set copy_files,
        set commit_prompt,
        set default_base_branch,
        fixed created_at = "created_ms",
        set updated_at = "updated_ms",
        set max_cost_usd = "max_cost_microusd",
    }
}

entity! {
    tasks: Task {
        key id,
        fixed project_id,
        set title,
        set description,
        set status,
        set parent_task_attempt = "parent_attempt_id",
        fixed created_at = "created_ms",
        set updated_at = "updated_ms",
        set labels: Json,
    }
    with dev_server_id = None
}

entity! {
    tasks: TaskSummary {
        part task: Task,
        shown has_in_progress_attempt = "running_count": IsPositive,
        shown has_merged_attempt = "merged",
        shown last_attempt_failed = "last_failed",
        shown executor,
        shown attempt_count,
    }
}

struct IsPositive;

impl Reads<bool> for IsPositive {
    fn read(row: &Row<'_>, column: &str) -> sqlx::Result<bool> {
        row.get::<i64>(column).map(|count| count > 0)
    }
}

/// A task and whether it is an agent chat, which boards do not show.
pub(crate) struct TaskRow {
    pub(crate) task: TaskSummary,
    pub(crate) hidden: bool,
}

entity! { tasks: TaskRow { part task: TaskSummary, fixed hidden } }

impl TaskRow {
    /// A new task has nothing to count yet.
    pub(crate) fn new(task: &Task, hidden: bool) -> Self {
        let task = TaskSummary {
            task: Task { dev_server_id: None, ..task.clone() },
            has_in_progress_attempt: false,
            has_merged_attempt: false,
            last_attempt_failed: false,
            executor: String::new(),
            attempt_count: 0,
        };
        Self { task, hidden }
    }
}

entity! {
    attempts: Tokens { set input_tokens, set output_tokens, set cache_creation_tokens, set cache_read_tokens }
}

entity! {
    attempts: Attempt {
        key id,
        fixed task_id,
        set container_ref,
        also worktree_path = "container_ref",
        set branch, set target_branch,
        set executor,
        set executor_profile_id = "model": Profile,
        set worktree_deleted,
        set setup_completed_at = "setup_completed_ms",
        part tokens: Tokens,
        fixed created_at = "created_ms",
        set updated_at = "updated_ms",
        set use_worktree,
        part auto_pr: Option<AutoPr>,
        set max_cost_usd = "max_cost_microusd",
        derived cost_usd =
            "(SELECT SUM(cost) FROM (SELECT cost_microusd AS cost FROM usage WHERE usage.attempt_id = attempts.id \
             UNION ALL SELECT cost_microusd FROM calls WHERE calls.attempt_id = attempts.id \
             AND calls.standing <> 'superseded') AS spent)",
        derived project_id = "(SELECT tasks.project_id FROM tasks WHERE tasks.id = attempts.task_id)",
        derived status =
            "COALESCE((SELECT runs.status FROM runs WHERE runs.attempt_id = attempts.id \
             AND runs.reason = 'codingagent' AND runs.dropped = FALSE \
             ORDER BY runs.created_ms DESC, runs.id DESC LIMIT 1), \
             (SELECT 'running' FROM routings WHERE routings.ended_ms IS NULL \
             AND json_extract(routings.body, '$.attempt_id') = attempts.id LIMIT 1))": OfNewestRun,
    }
}

/// The model beside the agent and its variant.
struct Profile;

impl Reads<ProfileId> for Profile {
    fn read(row: &Row<'_>, column: &str) -> sqlx::Result<ProfileId> {
        let profile = row.get::<ProfileId>("executor")?;
        Ok(ProfileId { model: row.get(column)?, ..profile })
    }
}

impl Writes<ProfileId> for Profile {
    fn write(value: &ProfileId) -> sqlx::Result<Value<'_>> {
        Ok(value.model.to_cell())
    }
}

impl Cells for Option<AutoPr> {
    const COLUMNS: &'static [Column] = &[column!(set auto_pr), column!(set auto_pr_note)];

    fn read(row: &Row<'_>) -> sqlx::Result<Self> {
        let state = row.cell("auto_pr")?;
        let note = row.get::<Option<String>>("auto_pr_note")?.unwrap_or_default();
        Ok(match state.text()? {
            "" => None,
            "opened" => Some(AutoPr::Opened { url: note }),
            "failed" => Some(AutoPr::Failed { message: note }),
            _ => Some(AutoPr::Waiting),
        })
    }

    fn write(&self, into: &mut Query) -> sqlx::Result<()> {
        let (state, note) = match self {
            None => (None, None),
            Some(AutoPr::Waiting) => (Some("waiting"), None),
            Some(AutoPr::Opened { url }) => (Some("opened"), Some(url)),
            Some(AutoPr::Failed { message }) => (Some("failed"), Some(message)),
        };
        into.put(state.to_cell());
        into.put(note.to_cell());
        Ok(())
    }
}

entity! {
    attempts: ListedAttempt {
        part attempt: Attempt,
        derived task_title = "(SELECT tasks.title FROM tasks WHERE tasks.id = attempts.task_id)",
    }
}

entity! {
    runs: Run {
        key id,
        part owner: RunOwner,
        set reason,
        set action: Json,
        set before_head, set after_head,
        set status, set phase,
        set exit_code,
        set dropped,
        set session_id,
        set summary,
        set started_at = "started_ms",
        set completed_at = "completed_ms",
        fixed created_at = "created_ms",
        set updated_at = "updated_ms",
        set parked_until = "parked_until_ms",
        set unverified,
        set commit_error,
        set setup_required,
        set open_conflicts: ListJson,
    }
}

impl Cells for RunOwner {
    const COLUMNS: &'static [Column] = &[column!(fixed attempt_id), column!(fixed errand_id)];

    fn read(row: &Row<'_>) -> sqlx::Result<Self> {
        let attempt: Option<AttemptId> = row.get("attempt_id")?;
        let errand: Option<ErrandId> = row.get("errand_id")?;
        let owner = attempt.map(RunOwner::Attempt).or(errand.map(RunOwner::Errand));
        owner.ok_or_else(|| sqlx::Error::Decode("a run without attempt and errand".into()))
    }

    fn write(&self, into: &mut Query) -> sqlx::Result<()> {
        into.put(self.attempt().to_cell());
        into.put(self.errand().to_cell());
        Ok(())
    }
}

entity! {
    errands: Errand {
        key id,
        fixed project_id,
        set branch, set target_branch,
        set executor, set variant,
        set container_ref,
        set prompt,
        set worktree_deleted,
        fixed created_at = "created_ms",
        set updated_at = "updated_ms",
    }
}

table!(merges: Merge);

impl Cells for Merge {
    const COLUMNS: &'static [Column] = &[
        column!(key id),
        column!(fixed attempt_id),
        column!(fixed kind),
        column!(set target_branch),
        column!(fixed created_ms),
        column!(part pr_info: Option<PrInfo>),
    ];

    fn read(row: &Row<'_>) -> sqlx::Result<Self> {
        let (id, task_attempt_id, kind) = (row.get("id")?, row.get("attempt_id")?, row.cell("kind")?);
        let (target_branch_name, created_at) = (row.get("target_branch")?, row.get("created_ms")?);
        match kind.text()? {
            "direct" => {
                let commit: Option<String> = row.get("merge_commit")?;
                let merge_commit = commit.ok_or_else(|| kind.bad("a direct merge without a commit"))?;
                Ok(Merge::Direct { id, task_attempt_id, merge_commit, target_branch_name, created_at })
            }
            "pr" => {
                let pull = Option::<PrInfo>::read(row)?;
                let pr_info = pull.ok_or_else(|| kind.bad("a pull request without a number"))?;
                Ok(Merge::Pr { id, task_attempt_id, created_at, target_branch_name, pr_info })
            }
            other => Err(kind.bad(format!("unknown kind of merge '{other}'"))),
        }
    }

    fn write(&self, into: &mut Query) -> sqlx::Result<()> {
        let (kind, id, attempt, target, created, pull) = match self {
            Merge::Direct { id, task_attempt_id, target_branch_name, created_at, .. } => {
                ("direct", id, task_attempt_id, target_branch_name, created_at, None)
            }
            Merge::Pr { id, task_attempt_id, target_branch_name, created_at, pr_info } => {
                ("pr", id, task_attempt_id, target_branch_name, created_at, Some(pr_info))
            }
        };
        for value in [id.to_cell(), attempt.to_cell(), kind.to_cell(), target.to_cell(), created.to_cell()] {
            into.put(value);
        }
        write_pull(into, self.commit(), pull);
        Ok(())
    }
}

/// A pull request has a number.
impl Cells for Option<PrInfo> {
    const COLUMNS: &'static [Column] = &[
        column!(set merge_commit),
        column!(fixed pr_number),
        column!(set pr_url),
        column!(set pr_status),
        column!(set pr_merged_ms),
    ];

    fn read(row: &Row<'_>) -> sqlx::Result<Self> {
        let (merge_commit_sha, number) = (row.get("merge_commit")?, row.get::<Option<i64>>("pr_number")?);
        let Some(number) = number else { return Ok(None) };
        let (url, status) = (row.get("pr_url")?, row.get("pr_status")?);
        Ok(Some(PrInfo { number, url, status, merged_at: row.get("pr_merged_ms")?, merge_commit_sha }))
    }

    fn write(&self, into: &mut Query) -> sqlx::Result<()> {
        let pull = self.as_ref();
        write_pull(into, pull.and_then(|pull| pull.merge_commit_sha.as_deref()), pull);
        Ok(())
    }
}

fn write_pull(into: &mut Query, commit: Option<&str>, pull: Option<&PrInfo>) {
    into.put(commit.to_cell());
    into.put(pull.map(|pull| pull.number).to_cell());
    into.put(pull.map(|pull| &pull.url).to_cell());
    into.put(pull.map(|pull| pull.status).to_cell());
    into.put(pull.and_then(|pull| pull.merged_at).to_cell());
}

entity! {
    drafts: Draft {
        key task_attempt_id = "attempt_id",
        set id,
        key draft_type = "kind",
        set retry_process_id = "retry_run_id",
        set prompt,
        set queued, set sending,
        set variant,
        set image_ids: OptionalJson,
        set created_at = "created_ms",
        set updated_at = "updated_ms",
        set version,
    }
}
