//! Inserts and updates.
//!
//! Invariant: every method records what it touched after its statement succeeded. Ids, owners and times of creation
//! never change; an update of a missing row is [`StoreError::Missing`].

use forge_types::{
    Attempt, AttemptId, Change, Draft, DraftKind, Errand, Merge, Millis, Project, Run, RunOwner, RunPhase,
    Task, TaskSummary,
};
use sqlx::sqlite::{SqliteQueryResult, SqliteRow};

use crate::error::{Result, StoreError};
use crate::row::{self, draft_word, pr_word, project_columns, run_columns, task_columns};
use crate::tx::Tx;

/// A statement with its bindings in order.
macro_rules! bind {
    ($sql:expr, $($value:expr),+ $(,)?) => {
        sqlx::query($sql)$(.bind($value))+
    };
}
pub(crate) use bind;

/// A new task has nothing to count yet.
pub(crate) fn fresh_summary(task: &Task) -> TaskSummary {
    TaskSummary {
        task: Task { dev_server_id: None, ..task.clone() },
        has_in_progress_attempt: false,
        has_merged_attempt: false,
        last_attempt_failed: false,
        executor: String::new(),
        attempt_count: 0,
    }
}

fn found(row: Option<SqliteRow>) -> Result<SqliteRow> {
    row.ok_or(StoreError::Missing)
}

pub(crate) fn changed(done: SqliteQueryResult) -> Result<()> {
    if done.rows_affected() == 0 { Err(StoreError::Missing) } else { Ok(()) }
}

pub(crate) fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| StoreError::Sql(sqlx::Error::Encode(error.into())))
}

/// Null for an empty list.
fn list(items: &[String]) -> Result<Option<String>> {
    (!items.is_empty()).then(|| json(&items)).transpose()
}

impl Tx {
    pub async fn insert_project(&mut self, project: &Project) -> Result<()> {
        bind!(
            "INSERT INTO projects (id, name, git_repo_path, setup_script, dev_script, cleanup_script, copy_files, \
             commit_prompt, default_base_branch, created_ms, updated_ms, max_cost_microusd) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            project.id.to_string(),
            &project.name,
            &project.git_repo_path,
            &project.setup_script,
            &project.dev_script,
            &project.cleanup_script,
            &project.copy_files,
            &project.commit_prompt,
            &project.default_base_branch,
            project.created_at.0,
            project.updated_at.0,
            row::budget_cell(project.max_cost_usd),
        )
        .execute(self.conn()?)
        .await?;
        self.touched.project(Change::Created, project.clone());
        Ok(())
    }

    pub async fn update_project(&mut self, project: &Project) -> Result<()> {
        const SQL: &str = concat!(
            "UPDATE projects SET name = $2, git_repo_path = $3, setup_script = $4, dev_script = $5, \
             cleanup_script = $6, copy_files = $7, commit_prompt = $8, default_base_branch = $9, updated_ms = $10, \
             max_cost_microusd = $11 \
             WHERE id = $1 RETURNING ",
            project_columns!()
        );
        let row = bind!(
            SQL,
            project.id.to_string(),
            &project.name,
            &project.git_repo_path,
            &project.setup_script,
            &project.dev_script,
            &project.cleanup_script,
            &project.copy_files,
            &project.commit_prompt,
            &project.default_base_branch,
            project.updated_at.0,
            row::budget_cell(project.max_cost_usd),
        )
        .fetch_optional(self.conn()?)
        .await?;
        let project = row::project(&found(row)?)?;
        self.touched.project(Change::Updated, project);
        Ok(())
    }

    /// `hidden` tasks are agent chats, which boards do not show.
    pub async fn insert_task(&mut self, task: &Task, hidden: bool) -> Result<()> {
        bind!(
            "INSERT INTO tasks (id, project_id, title, description, status, parent_attempt_id, hidden, created_ms, \
             updated_ms, labels) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            task.id.to_string(),
            task.project_id.to_string(),
            &task.title,
            &task.description,
            task.status.as_str(),
            task.parent_task_attempt.map(|id| id.to_string()),
            hidden,
            task.created_at.0,
            task.updated_at.0,
            json(&task.labels)?,
        )
        .execute(self.conn()?)
        .await?;
        self.touched.task(Change::Created, fresh_summary(task), hidden);
        Ok(())
    }

    pub async fn update_task(&mut self, task: &Task) -> Result<()> {
        const SQL: &str = concat!(
            "UPDATE tasks SET title = $2, description = $3, status = $4, parent_attempt_id = $5, updated_ms = $6, \
             labels = $7 WHERE id = $1 RETURNING ",
            task_columns!()
        );
        let row = bind!(
            SQL,
            task.id.to_string(),
            &task.title,
            &task.description,
            task.status.as_str(),
            task.parent_task_attempt.map(|id| id.to_string()),
            task.updated_at.0,
            json(&task.labels)?,
        )
        .fetch_optional(self.conn()?)
        .await?;
        let (task, hidden) = row::task_and_hidden(&found(row)?)?;
        self.touched.task(Change::Updated, task, hidden);
        Ok(())
    }

    /// Status, project and worktree path are not stored: they follow from other rows and fields.
    pub async fn insert_attempt(&mut self, attempt: &Attempt) -> Result<()> {
        let (auto_pr, auto_pr_note) = row::auto_pr_cells(attempt.auto_pr.as_ref());
        bind!(
            "INSERT INTO attempts (id, task_id, container_ref, branch, target_branch, executor, model, \
             worktree_deleted, setup_completed_ms, input_tokens, output_tokens, cache_creation_tokens, \
             cache_read_tokens, created_ms, updated_ms, use_worktree, auto_pr, auto_pr_note, max_cost_microusd) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
            attempt.id.to_string(),
            attempt.task_id.to_string(),
            &attempt.container_ref,
            &attempt.branch,
            &attempt.target_branch,
            &attempt.executor,
            &attempt.executor_profile_id.model,
            attempt.worktree_deleted,
            attempt.setup_completed_at.map(|at| at.0),
            attempt.tokens.input_tokens,
            attempt.tokens.output_tokens,
            attempt.tokens.cache_creation_tokens,
            attempt.tokens.cache_read_tokens,
            attempt.created_at.0,
            attempt.updated_at.0,
            attempt.use_worktree,
            auto_pr,
            auto_pr_note,
            row::budget_cell(attempt.max_cost_usd),
        )
        .execute(self.conn()?)
        .await?;
        let home = self.home(attempt.id).await?;
        self.touched.attempt_created(attempt.id, home);
        self.touched.stale_task(home.task);
        Ok(())
    }

    pub async fn update_attempt(&mut self, attempt: &Attempt) -> Result<()> {
        let (auto_pr, auto_pr_note) = row::auto_pr_cells(attempt.auto_pr.as_ref());
        let done = bind!(
            "UPDATE attempts SET container_ref = $2, branch = $3, target_branch = $4, executor = $5, model = $6, \
             worktree_deleted = $7, setup_completed_ms = $8, input_tokens = $9, output_tokens = $10, \
             cache_creation_tokens = $11, cache_read_tokens = $12, updated_ms = $13, use_worktree = $14, \
             auto_pr = $15, auto_pr_note = $16, max_cost_microusd = $17 WHERE id = $1",
            attempt.id.to_string(),
            &attempt.container_ref,
            &attempt.branch,
            &attempt.target_branch,
            &attempt.executor,
            &attempt.executor_profile_id.model,
            attempt.worktree_deleted,
            attempt.setup_completed_at.map(|at| at.0),
            attempt.tokens.input_tokens,
            attempt.tokens.output_tokens,
            attempt.tokens.cache_creation_tokens,
            attempt.tokens.cache_read_tokens,
            attempt.updated_at.0,
            attempt.use_worktree,
            auto_pr,
            auto_pr_note,
            row::budget_cell(attempt.max_cost_usd),
        )
        .execute(self.conn()?)
        .await?;
        changed(done)?;
        self.touch_task_of(attempt.id).await
    }

    /// A run that is still to run comes after every other run of its owner, also when the clock was set back: this
    /// order determines which is newest.
    pub async fn insert_run(&mut self, run: &Run) -> Result<()> {
        let newest = match run.phase {
            RunPhase::Ended => None,
            _ => self.newest_run(run.owner).await?,
        };
        let created_at = newest.map_or(run.created_at, |newest| run.created_at.max(Millis(newest.0 + 1)));
        let run = &Run { created_at, ..run.clone() };
        bind!(
            "INSERT INTO runs (id, attempt_id, errand_id, reason, action, before_head, after_head, status, phase, \
             exit_code, dropped, session_id, summary, started_ms, completed_ms, created_ms, updated_ms, \
             parked_until_ms, unverified, commit_error, setup_required, open_conflicts) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)",
            run.id.to_string(),
            run.owner.attempt().map(|id| id.to_string()),
            run.owner.errand().map(|id| id.to_string()),
            run.reason.as_str(),
            json(&run.action)?,
            &run.before_head,
            &run.after_head,
            run.status.as_str(),
            run.phase.as_str(),
            run.exit_code,
            run.dropped,
            &run.session_id,
            &run.summary,
            run.started_at.0,
            run.completed_at.map(|at| at.0),
            run.created_at.0,
            run.updated_at.0,
            run.parked_until.map(|at| at.0),
            run.unverified,
            &run.commit_error,
            run.setup_required,
            list(&run.open_conflicts)?,
        )
        .execute(self.conn()?)
        .await?;
        self.touch_run(Change::Created, run.clone()).await
    }

    /// When the newest run of an attempt or errand was created.
    async fn newest_run(&mut self, owner: RunOwner) -> Result<Option<Millis>> {
        let (sql, id) = match owner {
            RunOwner::Attempt(id) => {
                ("SELECT MAX(created_ms) FROM runs WHERE attempt_id = $1", id.to_string())
            }
            RunOwner::Errand(id) => ("SELECT MAX(created_ms) FROM runs WHERE errand_id = $1", id.to_string()),
        };
        let newest: Option<i64> = sqlx::query_scalar(sql).bind(id).fetch_one(self.conn()?).await?;
        Ok(newest.map(Millis))
    }

    pub async fn update_run(&mut self, run: &Run) -> Result<()> {
        const SQL: &str = concat!(
            "UPDATE runs SET reason = $2, action = $3, before_head = $4, after_head = $5, status = $6, phase = $7, \
             exit_code = $8, dropped = $9, session_id = $10, summary = $11, started_ms = $12, completed_ms = $13, \
             updated_ms = $14, parked_until_ms = $15, unverified = $16, commit_error = $17, \
             setup_required = $18, open_conflicts = $19 WHERE id = $1 RETURNING ",
            run_columns!()
        );
        let row = bind!(
            SQL,
            run.id.to_string(),
            run.reason.as_str(),
            json(&run.action)?,
            &run.before_head,
            &run.after_head,
            run.status.as_str(),
            run.phase.as_str(),
            run.exit_code,
            run.dropped,
            &run.session_id,
            &run.summary,
            run.started_at.0,
            run.completed_at.map(|at| at.0),
            run.updated_at.0,
            run.parked_until.map(|at| at.0),
            run.unverified,
            &run.commit_error,
            run.setup_required,
            list(&run.open_conflicts)?,
        )
        .fetch_optional(self.conn()?)
        .await?;
        let run = row::run(&found(row)?)?;
        self.touch_run(Change::Updated, run).await
    }

    pub async fn insert_errand(&mut self, errand: &Errand) -> Result<()> {
        bind!(
            "INSERT INTO errands (id, project_id, branch, target_branch, executor, variant, container_ref, prompt, \
             worktree_deleted, created_ms, updated_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            errand.id.to_string(),
            errand.project_id.to_string(),
            &errand.branch,
            &errand.target_branch,
            &errand.executor,
            &errand.variant,
            &errand.container_ref,
            &errand.prompt,
            errand.worktree_deleted,
            errand.created_at.0,
            errand.updated_at.0,
        )
        .execute(self.conn()?)
        .await?;
        Ok(())
    }

    pub async fn insert_merge(&mut self, merge: &Merge) -> Result<()> {
        let (kind, id, attempt, target, created, pr) = match merge {
            Merge::Direct { id, task_attempt_id, target_branch_name, created_at, .. } => {
                ("direct", id, task_attempt_id, target_branch_name, created_at, None)
            }
            Merge::Pr { id, task_attempt_id, target_branch_name, created_at, pr_info } => {
                ("pr", id, task_attempt_id, target_branch_name, created_at, Some(pr_info))
            }
        };
        bind!(
            "INSERT INTO merges (id, attempt_id, kind, target_branch, merge_commit, pr_number, pr_url, pr_status, \
             pr_merged_ms, created_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            id.to_string(),
            attempt.to_string(),
            kind,
            target,
            merge.commit(),
            pr.map(|pr| pr.number),
            pr.map(|pr| pr.url.as_str()),
            pr.map(|pr| pr_word(pr.status)),
            pr.and_then(|pr| pr.merged_at).map(|at| at.0),
            created.0,
        )
        .execute(self.conn()?)
        .await?;
        self.touch_task_of(*attempt).await
    }

    /// An attempt has at most one draft of each kind; this one replaces it.
    pub async fn put_draft(&mut self, draft: &Draft) -> Result<()> {
        bind!(
            "INSERT INTO drafts (attempt_id, kind, id, retry_run_id, prompt, queued, sending, variant, image_ids, \
             created_ms, updated_ms, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
             ON CONFLICT (attempt_id, kind) DO UPDATE SET id = excluded.id, retry_run_id = excluded.retry_run_id, \
             prompt = excluded.prompt, queued = excluded.queued, sending = excluded.sending, \
             variant = excluded.variant, image_ids = excluded.image_ids, created_ms = excluded.created_ms, \
             updated_ms = excluded.updated_ms, version = excluded.version",
            draft.task_attempt_id.to_string(),
            draft_word(draft.draft_type),
            draft.id.to_string(),
            draft.retry_process_id.map(|id| id.to_string()),
            &draft.prompt,
            draft.queued,
            draft.sending,
            &draft.variant,
            draft.image_ids.as_ref().map(json).transpose()?,
            draft.created_at.0,
            draft.updated_at.0,
            draft.version,
        )
        .execute(self.conn()?)
        .await?;
        let home = self.home(draft.task_attempt_id).await?;
        self.touched.draft(draft.task_attempt_id, draft.draft_type, home.project, Some(draft.clone()));
        Ok(())
    }

    pub async fn put_meta(&mut self, key: &str, value: &str) -> Result<()> {
        let sql = "INSERT INTO meta (key, value) VALUES ($1, $2) \
             ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        bind!(sql, key, value).execute(self.conn()?).await?;
        Ok(())
    }

    /// Returns whether there was one.
    pub async fn delete_draft(&mut self, attempt: AttemptId, kind: DraftKind) -> Result<bool> {
        let sql = "DELETE FROM drafts WHERE attempt_id = $1 AND kind = $2";
        let done = bind!(sql, attempt.to_string(), draft_word(kind)).execute(self.conn()?).await?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        let home = self.home(attempt).await?;
        self.touched.draft(attempt, kind, home.project, None);
        Ok(true)
    }

    pub(crate) async fn touch_task_of(&mut self, attempt: AttemptId) -> Result<()> {
        let home = self.home(attempt).await?;
        self.touched.stale_task(home.task);
        Ok(())
    }

    async fn touch_run(&mut self, change: Change, run: Run) -> Result<()> {
        if let RunOwner::Attempt(attempt) = run.owner {
            self.touch_task_of(attempt).await?;
        }
        self.touched.run(change, run);
        Ok(())
    }
}
