//! Cards of the board: the state of a task's newest attempt, and the figures that only cards show.
//!
//! Invariant: the cards of a whole project are one statement, every part of which uses an index. Whatever changes a
//! card makes an event of its task or of something that names the task, its attempt or its run.

use forge_types::{AttemptId, Changes, MicroUsd, Millis, ProfileId, ProjectId, RunStatus, TaskCard, TaskId};
use sqlx::sqlite::SqliteRow;

use crate::error::Result;
use crate::row::{self, Cells, Read};
use crate::store::Store;
use crate::tx::Tx;
use crate::write::bind;

/// Takes the current time, and whose cards.
macro_rules! cards {
    ($whose:literal) => {
        concat!(
            "SELECT tasks.id, attempts.id, tasks.attempt_count, attempts.executor, attempts.branch, \
             attempts.target_branch, attempts.files_changed, attempts.additions, attempts.deletions, \
             EXISTS (SELECT 1 FROM attempts AS earlier WHERE earlier.task_id = tasks.id AND earlier.id <> attempts.id \
              AND earlier.files_changed IS DISTINCT FROM 0), \
             attempts.worktree_deleted, \
             COALESCE(agent.status, (SELECT 'running' FROM routings WHERE routings.ended_ms IS NULL \
              AND json_extract(routings.body, '$.attempt_id') = attempts.id LIMIT 1)), \
             CASE WHEN agent.phase = 'parked' THEN agent.parked_until_ms END, \
             COALESCE(agent.unverified, FALSE), COALESCE(agent.setup_required, FALSE), agent.open_conflicts, \
             (SELECT MAX(runs.commit_error) FROM runs WHERE runs.attempt_id = attempts.id \
              AND runs.commit_error IS NOT NULL AND runs.dropped = FALSE), \
             (SELECT MIN(runs.started_ms) FROM runs WHERE runs.attempt_id = attempts.id AND runs.phase = 'live' \
              AND runs.dropped = FALSE AND runs.reason <> 'devserver'), \
             (SELECT COALESCE(SUM(COALESCE(runs.completed_ms, \
               CASE WHEN runs.phase = 'live' THEN $1 ELSE runs.updated_ms END) - runs.started_ms), 0) FROM runs \
              WHERE runs.attempt_id = attempts.id AND runs.reason = 'codingagent' AND runs.dropped = FALSE \
              AND runs.phase <> 'queued'), \
             (SELECT SUM(cost) FROM (SELECT usage.cost_microusd AS cost FROM attempts AS tries \
               JOIN usage ON usage.attempt_id = tries.id WHERE tries.task_id = tasks.id \
               UNION ALL SELECT calls.cost_microusd FROM attempts AS tries \
               JOIN calls ON calls.attempt_id = tries.id AND calls.standing <> 'superseded' \
               WHERE tries.task_id = tasks.id) AS spent), \
             (SELECT COUNT(*) FROM runs JOIN approvals ON approvals.run_id = runs.id \
              AND approvals.status = 'pending' WHERE runs.attempt_id = attempts.id), \
             EXISTS (SELECT 1 FROM drafts WHERE drafts.attempt_id = attempts.id AND drafts.queued = TRUE), \
             EXISTS (SELECT 1 FROM merges WHERE merges.attempt_id = attempts.id \
              AND (merges.kind = 'direct' OR merges.pr_status = 'merged')), \
             pull.merge_commit, pull.pr_number, pull.pr_url, pull.pr_status, pull.pr_merged_ms \
             FROM tasks JOIN attempts ON attempts.id = (SELECT newest.id FROM attempts AS newest \
              WHERE newest.task_id = tasks.id ORDER BY newest.created_ms DESC, newest.id LIMIT 1) \
             LEFT JOIN runs AS agent ON agent.id = (SELECT newest.id FROM runs AS newest \
              WHERE newest.attempt_id = attempts.id AND newest.reason = 'codingagent' AND newest.dropped = FALSE \
              ORDER BY newest.created_ms DESC, newest.id DESC LIMIT 1) \
             LEFT JOIN merges AS pull ON pull.id = (SELECT newest.id FROM merges AS newest \
              WHERE newest.attempt_id = attempts.id AND newest.kind = 'pr' \
              ORDER BY newest.created_ms DESC, newest.id LIMIT 1) \
             WHERE ",
            $whose
        )
    };
}

pub(crate) const PROJECT_CARDS: &str =
    cards!("tasks.project_id = $2 AND tasks.hidden = FALSE ORDER BY tasks.created_ms DESC, tasks.id");
pub(crate) const TASK_CARD: &str = cards!("tasks.id = $3 AND tasks.project_id = $2 AND tasks.hidden = FALSE");

fn card(row: &SqliteRow) -> Read<TaskCard> {
    let mut cells = Cells::of(row);
    let (task_id, attempt_id, attempts) = (cells.parse()?, cells.parse()?, cells.take()?);
    let profile: ProfileId = cells.parse()?;
    Ok(TaskCard {
        task_id,
        attempt_id,
        attempts,
        executor: profile.executor,
        variant: profile.variant,
        branch: cells.take()?,
        target_branch: cells.take()?,
        files_changed: cells.take()?,
        additions: cells.take()?,
        deletions: cells.take()?,
        earlier_changes: cells.take()?,
        worktree_deleted: cells.take()?,
        status: row::attempt_status(cells.parse_opt::<RunStatus>()?),
        parked_until: cells.millis_opt()?,
        unverified: cells.take()?,
        setup_required: cells.take()?,
        open_conflicts: cells.json_opt()?.unwrap_or_default(),
        commit_error: cells.take()?,
        running_since: cells.millis_opt()?,
        // A clock that was set back shortens nobody's time.
        elapsed_ms: cells.take::<i64>()?.max(0),
        cost_usd: cells.take::<Option<i64>>()?.map(MicroUsd),
        waiting_approvals: cells.take()?,
        queued_draft: cells.take()?,
        merged: cells.take()?,
        pr: row::pull_cells(&mut cells)?,
    })
}

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
            None => bind!(PROJECT_CARDS, now.0, project.to_string()),
            Some(task) => bind!(TASK_CARD, now.0, project.to_string(), task.to_string()),
        };
        let rows = query.fetch_all(&mut *self.reader().await?).await?;
        Ok(rows.iter().map(card).collect::<Read<_>>()?)
    }
}

impl Tx {
    /// Records the size of an attempt's changes; `None` when it cannot be determined. Unchanged figures make no event.
    pub async fn put_changes(&mut self, attempt: AttemptId, changes: Option<Changes>) -> Result<()> {
        let sql = "UPDATE attempts SET files_changed = $2, additions = $3, deletions = $4 WHERE id = $1 \
             AND (files_changed IS DISTINCT FROM $2 OR additions IS DISTINCT FROM $3 \
             OR deletions IS DISTINCT FROM $4)";
        let done = bind!(
            sql,
            attempt.to_string(),
            changes.map(|changes| changes.files_changed),
            changes.map(|changes| changes.additions),
            changes.map(|changes| changes.deletions),
        )
        .execute(self.conn()?)
        .await?;
        match done.rows_affected() {
            0 => Ok(()),
            _ => self.touch_task_of(attempt).await,
        }
    }
}
