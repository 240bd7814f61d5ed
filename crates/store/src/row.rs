//! How rows become values: the column list of each table beside the function that reads it.
//!
//! Invariant: a reader takes cells in exactly the order of its list. Names of tables qualify every column,
//! so a list works in SELECT, in joins and in RETURNING.

use std::error::Error as StdError;
use std::str::FromStr;

use forge_types::{
    Attempt, AttemptStatus, AutoPr, Budget, Draft, DraftKind, Errand, EventRecord, IssueLink, ListedAttempt,
    Merge, MicroUsd, Millis, PrInfo, PrStatus, ProfileId, Project, ProjectId, Run, RunOwner, RunStatus, Task,
    TaskSummary, Tokens,
};
use serde::de::DeserializeOwned;
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{Decode, Row, Type};

use crate::document::TaskBlock;
use crate::pulls::OpenPull;

pub(crate) type Read<T> = Result<T, sqlx::Error>;

/// The cells of a row from left to right.
pub(crate) struct Cells<'r> {
    row: &'r SqliteRow,
    next: usize,
}

impl<'r> Cells<'r> {
    pub(crate) fn of(row: &'r SqliteRow) -> Self {
        Self { row, next: 0 }
    }

    pub(crate) fn take<T: Decode<'r, Sqlite> + Type<Sqlite>>(&mut self) -> Read<T> {
        self.next += 1;
        self.row.try_get(self.next - 1)
    }

    pub(crate) fn parse<T: FromStr<Err: Into<Box<dyn StdError + Send + Sync>>>>(&mut self) -> Read<T> {
        let text: &str = self.take()?;
        text.parse().map_err(|error: T::Err| self.bad(error))
    }

    pub(crate) fn parse_opt<T: FromStr<Err: Into<Box<dyn StdError + Send + Sync>>>>(
        &mut self,
    ) -> Read<Option<T>> {
        let text: Option<&str> = self.take()?;
        text.map(str::parse).transpose().map_err(|error: T::Err| self.bad(error))
    }

    pub(crate) fn json<T: DeserializeOwned>(&mut self) -> Read<T> {
        let text: &str = self.take()?;
        serde_json::from_str(text).map_err(|error| self.bad(error))
    }

    pub(crate) fn json_opt<T: DeserializeOwned>(&mut self) -> Read<Option<T>> {
        let text: Option<&str> = self.take()?;
        text.map(serde_json::from_str).transpose().map_err(|error| self.bad(error))
    }

    pub(crate) fn millis(&mut self) -> Read<Millis> {
        self.take().map(Millis)
    }

    pub(crate) fn millis_opt(&mut self) -> Read<Option<Millis>> {
        Ok(self.take::<Option<i64>>()?.map(Millis))
    }

    /// The cell just read contains what no version of Forge wrote there.
    pub(crate) fn bad(&self, error: impl Into<Box<dyn StdError + Send + Sync>>) -> sqlx::Error {
        use sqlx::Column;
        let index = self.row.columns().get(self.next - 1).map(|column| column.name().to_owned());
        sqlx::Error::ColumnDecode { index: index.unwrap_or_default(), source: error.into() }
    }
}

macro_rules! project_columns {
    () => {
        "projects.id, projects.name, projects.git_repo_path, projects.setup_script, projects.dev_script, \
         projects.cleanup_script, projects.copy_files, projects.commit_prompt, projects.default_base_branch, \
         projects.created_ms, projects.updated_ms, projects.max_cost_microusd"
    };
}
pub(crate) use project_columns;

/// A project, a status, and how many tasks have it.
pub(crate) fn task_count(row: &SqliteRow) -> Read<(ProjectId, String, i64)> {
    let mut cells = Cells::of(row);
    Ok((cells.parse()?, cells.take()?, cells.take()?))
}

pub(crate) fn project(row: &SqliteRow) -> Read<Project> {
    let mut cells = Cells::of(row);
    Ok(Project {
        id: cells.parse()?,
        name: cells.take()?,
        git_repo_path: cells.take()?,
        setup_script: cells.take()?,
        dev_script: cells.take()?,
        cleanup_script: cells.take()?,
        copy_files: cells.take()?,
        commit_prompt: cells.take()?,
        default_base_branch: cells.take()?,
        created_at: cells.millis()?,
        updated_at: cells.millis()?,
        max_cost_usd: budget(cells.take()?),
    })
}

fn budget(cell: Option<i64>) -> Option<Budget> {
    cell.map(MicroUsd).map(Budget)
}

/// The cell of a limit.
pub(crate) fn budget_cell(budget: Option<Budget>) -> Option<i64> {
    budget.map(|Budget(MicroUsd(micro))| micro)
}

macro_rules! task_columns {
    () => {
        "tasks.id, tasks.project_id, tasks.title, tasks.description, tasks.status, tasks.parent_attempt_id, \
         tasks.created_ms, tasks.updated_ms, tasks.labels, tasks.running_count, tasks.merged, tasks.last_failed, \
         tasks.executor, tasks.attempt_count, tasks.hidden"
    };
}
pub(crate) use task_columns;

/// The task and whether it is hidden.
pub(crate) fn task_and_hidden(row: &SqliteRow) -> Read<(TaskSummary, bool)> {
    let mut cells = Cells::of(row);
    let task = Task {
        id: cells.parse()?,
        project_id: cells.parse()?,
        title: cells.take()?,
        description: cells.take()?,
        status: cells.parse()?,
        parent_task_attempt: cells.parse_opt()?,
        dev_server_id: None,
        created_at: cells.millis()?,
        updated_at: cells.millis()?,
        labels: cells.json()?,
    };
    let summary = TaskSummary {
        task,
        has_in_progress_attempt: cells.take::<i64>()? > 0,
        has_merged_attempt: cells.take()?,
        last_attempt_failed: cells.take()?,
        executor: cells.take()?,
        attempt_count: cells.take()?,
    };
    Ok((summary, cells.take()?))
}

pub(crate) fn summary(row: &SqliteRow) -> Read<TaskSummary> {
    Ok(task_and_hidden(row)?.0)
}

/// Ids, documents, the oldest time of creation, the count; all but the count are null when there are no rows.
pub(crate) fn task_block(row: &SqliteRow) -> Read<Option<TaskBlock>> {
    let mut cells = Cells::of(row);
    let (ids, documents, last_created_ms) = (cells.take()?, cells.take()?, cells.take()?);
    let count = cells.take()?;
    Ok(match (ids, documents, last_created_ms) {
        (Some(ids), Some(documents), Some(last)) => Some(TaskBlock::new(ids, documents, last, count)),
        _ => None,
    })
}

pub(crate) fn task(row: &SqliteRow) -> Read<Task> {
    Ok(summary(row)?.task)
}

macro_rules! attempt_columns {
    () => {
        "attempts.id, attempts.task_id, attempts.container_ref, attempts.branch, attempts.target_branch, \
         attempts.executor, attempts.model, attempts.worktree_deleted, attempts.setup_completed_ms, \
         attempts.input_tokens, attempts.output_tokens, attempts.cache_creation_tokens, \
         attempts.cache_read_tokens, attempts.created_ms, attempts.updated_ms, attempts.use_worktree, \
         attempts.auto_pr, attempts.auto_pr_note, attempts.max_cost_microusd, \
         (SELECT SUM(cost) FROM (SELECT cost_microusd AS cost FROM usage WHERE usage.attempt_id = attempts.id \
          UNION ALL SELECT cost_microusd FROM calls WHERE calls.attempt_id = attempts.id \
          AND calls.standing <> 'superseded') AS spent), \
         (SELECT tasks.project_id FROM tasks WHERE tasks.id = attempts.task_id), \
         COALESCE((SELECT runs.status FROM runs WHERE runs.attempt_id = attempts.id AND runs.reason = 'codingagent' \
          AND runs.dropped = FALSE ORDER BY runs.created_ms DESC, runs.id DESC LIMIT 1), \
          (SELECT 'running' FROM routings WHERE routings.ended_ms IS NULL \
          AND json_extract(routings.body, '$.attempt_id') = attempts.id LIMIT 1))"
    };
}
pub(crate) use attempt_columns;

macro_rules! listed_columns {
    () => {
        concat!(
            $crate::row::attempt_columns!(),
            ", (SELECT tasks.title FROM tasks WHERE tasks.id = attempts.task_id)"
        )
    };
}
pub(crate) use listed_columns;

pub(crate) fn listed_attempt(row: &SqliteRow) -> Read<ListedAttempt> {
    let mut cells = Cells::of(row);
    Ok(ListedAttempt { attempt: take_attempt(&mut cells)?, task_title: cells.take()? })
}

pub(crate) fn attempt(row: &SqliteRow) -> Read<Attempt> {
    take_attempt(&mut Cells::of(row))
}

fn take_attempt(cells: &mut Cells<'_>) -> Read<Attempt> {
    let id = cells.parse()?;
    let task_id = cells.parse()?;
    let container_ref: Option<String> = cells.take()?;
    let branch = cells.take()?;
    let target_branch = cells.take()?;
    let executor: String = cells.take()?;
    let profile: ProfileId = executor.parse().map_err(|error| cells.bad(error))?;
    Ok(Attempt {
        id,
        task_id,
        worktree_path: container_ref.clone(),
        container_ref,
        branch,
        target_branch,
        executor,
        executor_profile_id: ProfileId { model: cells.take()?, ..profile },
        worktree_deleted: cells.take()?,
        setup_completed_at: cells.millis_opt()?,
        tokens: Tokens {
            input_tokens: cells.take()?,
            output_tokens: cells.take()?,
            cache_creation_tokens: cells.take()?,
            cache_read_tokens: cells.take()?,
        },
        created_at: cells.millis()?,
        updated_at: cells.millis()?,
        use_worktree: cells.take()?,
        auto_pr: auto_pr(cells.take()?, cells.take()?),
        max_cost_usd: budget(cells.take()?),
        cost_usd: cells.take::<Option<i64>>()?.map(MicroUsd),
        project_id: cells.parse()?,
        status: attempt_status(cells.parse_opt()?),
    })
}

/// Derived from the newest agent run.
pub(crate) fn attempt_status(run: Option<RunStatus>) -> AttemptStatus {
    match run {
        None => AttemptStatus::Pending,
        Some(RunStatus::Running) => AttemptStatus::Running,
        Some(RunStatus::Completed) => AttemptStatus::Completed,
        Some(RunStatus::Failed) => AttemptStatus::Failed,
        Some(RunStatus::Killed) => AttemptStatus::Stopped,
    }
}

fn auto_pr(state: Option<&str>, note: Option<String>) -> Option<AutoPr> {
    let note = note.unwrap_or_default();
    Some(match state? {
        "opened" => AutoPr::Opened { url: note },
        "failed" => AutoPr::Failed { message: note },
        _ => AutoPr::Waiting,
    })
}

/// The two cells of a pull request that opens automatically.
pub(crate) fn auto_pr_cells(auto_pr: Option<&AutoPr>) -> (Option<&'static str>, Option<&str>) {
    match auto_pr {
        None => (None, None),
        Some(AutoPr::Waiting) => (Some("waiting"), None),
        Some(AutoPr::Opened { url }) => (Some("opened"), Some(url)),
        Some(AutoPr::Failed { message }) => (Some("failed"), Some(message)),
    }
}

macro_rules! run_columns {
    () => {
        "runs.id, runs.attempt_id, runs.errand_id, runs.reason, runs.action, runs.before_head, runs.after_head, \
         runs.status, runs.phase, runs.exit_code, runs.dropped, runs.session_id, runs.summary, runs.started_ms, \
         runs.completed_ms, runs.created_ms, runs.updated_ms, runs.parked_until_ms, runs.unverified, \
         runs.commit_error, runs.setup_required, runs.open_conflicts"
    };
}
pub(crate) use run_columns;

pub(crate) fn run(row: &SqliteRow) -> Read<Run> {
    let mut cells = Cells::of(row);
    let id = cells.parse()?;
    let attempt = cells.parse_opt()?.map(RunOwner::Attempt);
    let errand = cells.parse_opt()?.map(RunOwner::Errand);
    Ok(Run {
        id,
        owner: attempt.or(errand).ok_or_else(|| cells.bad("a run without attempt and errand"))?,
        reason: cells.parse()?,
        action: cells.json()?,
        before_head: cells.take()?,
        after_head: cells.take()?,
        status: cells.parse()?,
        phase: cells.parse()?,
        exit_code: cells.take()?,
        dropped: cells.take()?,
        session_id: cells.take()?,
        summary: cells.take()?,
        started_at: cells.millis()?,
        completed_at: cells.millis_opt()?,
        created_at: cells.millis()?,
        updated_at: cells.millis()?,
        parked_until: cells.millis_opt()?,
        unverified: cells.take()?,
        commit_error: cells.take()?,
        setup_required: cells.take()?,
        open_conflicts: cells.json_opt()?.unwrap_or_default(),
    })
}

macro_rules! errand_columns {
    () => {
        "errands.id, errands.project_id, errands.branch, errands.target_branch, errands.executor, \
         errands.variant, errands.container_ref, errands.prompt, errands.worktree_deleted, errands.created_ms, \
         errands.updated_ms"
    };
}
pub(crate) use errand_columns;

pub(crate) fn errand(row: &SqliteRow) -> Read<Errand> {
    let mut cells = Cells::of(row);
    Ok(Errand {
        id: cells.parse()?,
        project_id: cells.parse()?,
        branch: cells.take()?,
        target_branch: cells.take()?,
        executor: cells.take()?,
        variant: cells.take()?,
        container_ref: cells.take()?,
        prompt: cells.take()?,
        worktree_deleted: cells.take()?,
        created_at: cells.millis()?,
        updated_at: cells.millis()?,
    })
}

pub(crate) fn merge(row: &SqliteRow) -> Read<Merge> {
    merge_cells(&mut Cells::of(row))
}

/// A merge and the task and project it belongs to.
pub(crate) fn open_pull(row: &SqliteRow) -> Read<OpenPull> {
    let mut cells = Cells::of(row);
    Ok(OpenPull { merge: merge_cells(&mut cells)?, task_id: cells.parse()?, project_id: cells.parse()? })
}

pub(crate) fn issue(row: &SqliteRow) -> Read<IssueLink> {
    let mut cells = Cells::of(row);
    Ok(IssueLink {
        task_id: cells.parse()?,
        project_id: cells.parse()?,
        repository: cells.take()?,
        number: cells.take()?,
        url: cells.take()?,
    })
}

fn merge_cells(cells: &mut Cells<'_>) -> Read<Merge> {
    let id = cells.parse()?;
    let task_attempt_id = cells.parse()?;
    let kind: &str = cells.take()?;
    let is_direct = match kind {
        "direct" => true,
        "pr" => false,
        other => return Err(cells.bad(format!("unknown kind of merge '{other}'"))),
    };
    let target_branch_name = cells.take()?;
    let created_at = cells.millis()?;
    if is_direct {
        let commit: Option<String> = cells.take()?;
        let merge_commit = commit.ok_or_else(|| cells.bad("a direct merge without a commit"))?;
        return Ok(Merge::Direct { id, task_attempt_id, merge_commit, target_branch_name, created_at });
    }
    let pr_info = pull_cells(cells)?.ok_or_else(|| cells.bad("a pull request without a number"))?;
    Ok(Merge::Pr { id, task_attempt_id, created_at, target_branch_name, pr_info })
}

/// The commit, number, address, status and time of a pull request; `None` where there is no number.
pub(crate) fn pull_cells(cells: &mut Cells<'_>) -> Read<Option<PrInfo>> {
    let merge_commit_sha = cells.take()?;
    let (number, url, status) =
        (cells.take::<Option<i64>>()?, cells.take::<Option<String>>()?, cells.take::<Option<&str>>()?);
    let merged_at = cells.millis_opt()?;
    let status = match status {
        Some("open") => PrStatus::Open,
        Some("merged") => PrStatus::Merged,
        Some("closed") => PrStatus::Closed,
        _ => PrStatus::Unknown,
    };
    let url = url.unwrap_or_default();
    Ok(number.map(|number| PrInfo { number, url, status, merged_at, merge_commit_sha }))
}

pub(crate) fn pr_word(status: PrStatus) -> &'static str {
    match status {
        PrStatus::Open => "open",
        PrStatus::Merged => "merged",
        PrStatus::Closed => "closed",
        PrStatus::Unknown => "unknown",
    }
}

macro_rules! draft_columns {
    () => {
        "drafts.attempt_id, drafts.id, drafts.kind, drafts.retry_run_id, drafts.prompt, drafts.queued, \
         drafts.sending, drafts.variant, drafts.image_ids, drafts.created_ms, drafts.updated_ms, drafts.version"
    };
}
pub(crate) use draft_columns;

pub(crate) fn draft(row: &SqliteRow) -> Read<Draft> {
    let mut cells = Cells::of(row);
    let task_attempt_id = cells.parse()?;
    let id = cells.parse()?;
    let kind: &str = cells.take()?;
    Ok(Draft {
        id,
        task_attempt_id,
        draft_type: match kind {
            "follow_up" => DraftKind::FollowUp,
            "retry" => DraftKind::Retry,
            other => return Err(cells.bad(format!("unknown kind of draft '{other}'"))),
        },
        retry_process_id: cells.parse_opt()?,
        prompt: cells.take()?,
        queued: cells.take()?,
        sending: cells.take()?,
        variant: cells.take()?,
        image_ids: cells.json_opt()?,
        created_at: cells.millis()?,
        updated_at: cells.millis()?,
        version: cells.take()?,
    })
}

pub(crate) fn draft_word(kind: DraftKind) -> &'static str {
    match kind {
        DraftKind::FollowUp => "follow_up",
        DraftKind::Retry => "retry",
    }
}

/// The first cell as an id.
pub(crate) fn id<T: FromStr<Err: Into<Box<dyn StdError + Send + Sync>>>>(row: &SqliteRow) -> Read<T> {
    Cells::of(row).parse()
}

/// The first two cells as an id and perhaps another.
pub(crate) fn id_pair<A, B>(row: &SqliteRow) -> Read<(A, Option<B>)>
where
    A: FromStr<Err: Into<Box<dyn StdError + Send + Sync>>>,
    B: FromStr<Err: Into<Box<dyn StdError + Send + Sync>>>,
{
    let mut cells = Cells::of(row);
    Ok((cells.parse()?, cells.parse_opt()?))
}

/// An event with the size of its body.
pub(crate) fn sized_event(row: &SqliteRow) -> Read<(std::sync::Arc<EventRecord>, usize)> {
    let body: &str = row.try_get(1)?;
    Ok((std::sync::Arc::new(event(row)?), body.len()))
}

/// `seq, body` of the event log.
pub(crate) fn event(row: &SqliteRow) -> Read<EventRecord> {
    let mut cells = Cells::of(row);
    Ok(EventRecord { seq: cells.take()?, event: cells.json()? })
}
