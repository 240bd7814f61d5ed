//! Cards of the board: the state of a task's newest attempt, and the figures that only cards show.
//!
//! Invariant: the cards of a whole project are one statement, every part of which uses an index. Whatever changes a
//! card makes an event of its task or of something that names the task, its attempt or its run.

use forge_types::{AttemptId, Changes, Executor, Millis, PrInfo, ProfileId, ProjectId, TaskCard, TaskId};

use crate::cell::{ListJson, OfNewestRun, Reads};
use crate::entity::{entity, select};
use crate::error::Result;
use crate::sql::{Row, bind};
use crate::store::Store;
use crate::tx::Tx;

entity! {
    tasks: TaskCard {
        derived task_id = "tasks.id",
        derived attempt_id = "attempts.id",
        derived attempts = "tasks.attempt_count",
        derived executor = "attempts.executor": OfProfile,
        also variant = "executor": OfProfile,
        derived branch = "attempts.branch",
        derived target_branch = "attempts.target_branch",
        derived files_changed = "attempts.files_changed",
        derived additions = "attempts.additions",
        derived deletions = "attempts.deletions",
        derived earlier_changes =
            "EXISTS (SELECT 1 FROM attempts AS earlier WHERE earlier.task_id = tasks.id \
             AND earlier.id <> attempts.id AND earlier.files_changed IS DISTINCT FROM 0)",
        derived worktree_deleted = "attempts.worktree_deleted",
        derived status =
            "COALESCE(agent.status, (SELECT 'running' FROM routings WHERE routings.ended_ms IS NULL \
             AND json_extract(routings.body, '$.attempt_id') = attempts.id LIMIT 1))": OfNewestRun,
        derived parked_until = "CASE WHEN agent.phase = 'parked' THEN agent.parked_until_ms END",
        derived unverified = "COALESCE(agent.unverified, FALSE)",
        derived setup_required = "COALESCE(agent.setup_required, FALSE)",
        derived open_conflicts = "agent.open_conflicts": ListJson,
        derived commit_error =
            "(SELECT MAX(runs.commit_error) FROM runs WHERE runs.attempt_id = attempts.id \
             AND runs.commit_error IS NOT NULL AND runs.dropped = FALSE)",
        derived running_since =
            "(SELECT MIN(runs.started_ms) FROM runs WHERE runs.attempt_id = attempts.id AND runs.phase = 'live' \
             AND runs.dropped = FALSE AND runs.reason <> 'devserver')",
        derived elapsed_ms =
            "(SELECT COALESCE(SUM(COALESCE(runs.completed_ms, \
               CASE WHEN runs.phase = 'live' THEN $1 ELSE runs.updated_ms END) - runs.started_ms), 0) FROM runs \
             WHERE runs.attempt_id = attempts.id AND runs.reason = 'codingagent' AND runs.dropped = FALSE \
             AND runs.phase <> 'queued')": NotNegative,
        derived cost_usd =
            "(SELECT SUM(cost) FROM (SELECT usage.cost_microusd AS cost FROM attempts AS tries \
               JOIN usage ON usage.attempt_id = tries.id WHERE tries.task_id = tasks.id \
               UNION ALL SELECT calls.cost_microusd FROM attempts AS tries \
               JOIN calls ON calls.attempt_id = tries.id AND calls.standing <> 'superseded' \
               WHERE tries.task_id = tasks.id) AS spent)",
        derived waiting_approvals =
            "(SELECT COUNT(*) FROM runs JOIN approvals ON approvals.run_id = runs.id \
             AND approvals.status = 'pending' WHERE runs.attempt_id = attempts.id)",
        derived queued_draft =
            "EXISTS (SELECT 1 FROM drafts WHERE drafts.attempt_id = attempts.id AND drafts.queued = TRUE)",
        derived merged =
            "EXISTS (SELECT 1 FROM merges WHERE merges.attempt_id = attempts.id \
             AND (merges.kind = 'direct' OR merges.pr_status = 'merged'))",
        part pr = "pull": Option<PrInfo>,
    }
}

/// The agent, or its variant.
struct OfProfile;

impl Reads<Executor> for OfProfile {
    fn read(row: &Row<'_>, column: &str) -> sqlx::Result<Executor> {
        row.get::<ProfileId>(column).map(|profile| profile.executor)
    }
}

impl Reads<Option<String>> for OfProfile {
    fn read(row: &Row<'_>, column: &str) -> sqlx::Result<Option<String>> {
        row.get::<ProfileId>(column).map(|profile| profile.variant)
    }
}

/// A clock that was set back shortens nobody's time.
struct NotNegative;

impl Reads<i64> for NotNegative {
    fn read(row: &Row<'_>, column: &str) -> sqlx::Result<i64> {
        row.get::<i64>(column).map(|elapsed| elapsed.max(0))
    }
}

/// The newest attempt of a task, its newest agent run and its newest pull request.
const NEWEST: &str = "FROM tasks JOIN attempts ON attempts.id = (SELECT newest.id FROM attempts AS newest \
      WHERE newest.task_id = tasks.id ORDER BY newest.created_ms DESC, newest.id LIMIT 1) \
     LEFT JOIN runs AS agent ON agent.id = (SELECT newest.id FROM runs AS newest \
      WHERE newest.attempt_id = attempts.id AND newest.reason = 'codingagent' AND newest.dropped = FALSE \
      ORDER BY newest.created_ms DESC, newest.id DESC LIMIT 1) \
     LEFT JOIN merges AS pull ON pull.id = (SELECT newest.id FROM merges AS newest \
      WHERE newest.attempt_id = attempts.id AND newest.kind = 'pr' \
      ORDER BY newest.created_ms DESC, newest.id LIMIT 1) ";
/// Takes the current time, and whose cards.
pub(crate) const PROJECT_CARDS: &str = select!(
    TaskCard,
    NEWEST,
    "WHERE tasks.project_id = $2 AND tasks.hidden = FALSE ORDER BY tasks.created_ms DESC, tasks.id"
);
pub(crate) const TASK_CARD: &str =
    select!(TaskCard, NEWEST, "WHERE tasks.id = $3 AND tasks.project_id = $2 AND tasks.hidden = FALSE");

impl Store {
    /// The cards of the visible tasks of a project that have an attempt, in the order of the task list; or of one task.
    /// What still runs is measured up to `now`.
    pub async fn cards(
        &self,
        project: ProjectId,
        task: Option<TaskId>,
        now: Millis,
    ) -> Result<Vec<TaskCard>> {
        let query = match task {
            None => bind!(PROJECT_CARDS, now, project),
            Some(task) => bind!(TASK_CARD, now, project, task),
        };
        query.list(&mut *self.reader().await?).await
    }
}

impl Tx {
    /// Records the size of an attempt's changes; `None` when it cannot be determined. Unchanged figures make no event.
    pub async fn put_changes(&mut self, attempt: AttemptId, changes: Option<Changes>) -> Result<()> {
        let sql = "UPDATE attempts SET files_changed = $2, additions = $3, deletions = $4 WHERE id = $1 \
             AND (files_changed IS DISTINCT FROM $2 OR additions IS DISTINCT FROM $3 \
             OR deletions IS DISTINCT FROM $4)";
        let [files, additions, deletions] = match changes {
            Some(changes) => [changes.files_changed, changes.additions, changes.deletions].map(Some),
            None => [None; 3],
        };
        match bind!(sql, attempt, files, additions, deletions).run(self.conn()?).await? {
            0 => Ok(()),
            _ => self.touch_task_of(attempt).await,
        }
    }
}
