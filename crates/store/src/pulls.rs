//! Open pull requests, and the issues that tasks came from.
//!
//! Invariant: a pull request's row keeps its id, attempt and number; only what its host reports about it changes.

use crate::error::{Result, StoreError};
use crate::row::{self, attempt_columns, pr_word};
use crate::store::Store;
use crate::tx::Tx;
use forge_types::{Attempt, AttemptId, IssueLink, Merge, MergeId, ProjectId, TaskId};

/// A pull request that was open at the last check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPull {
    pub merge: Merge,
    pub task_id: TaskId,
    pub project_id: ProjectId,
}

macro_rules! merge_columns {
    () => {
        "merges.id, merges.attempt_id, merges.kind, merges.target_branch, merges.created_ms, merges.merge_commit, \
         merges.pr_number, merges.pr_url, merges.pr_status, merges.pr_merged_ms"
    };
}

pub(crate) const OPEN_PULLS: &str = concat!(
    "SELECT ",
    merge_columns!(),
    ", tasks.id, tasks.project_id FROM merges JOIN attempts ON attempts.id = merges.attempt_id \
     JOIN tasks ON tasks.id = attempts.task_id WHERE merges.pr_status = 'open' ORDER BY merges.created_ms, merges.id"
);
pub(crate) const TO_PUBLISH: &str = concat!(
    "SELECT ",
    attempt_columns!(),
    " FROM attempts WHERE attempts.auto_pr = 'waiting' ORDER BY attempts.created_ms, attempts.id"
);
const ISSUE_OF_TASK: &str =
    "SELECT task_id, project_id, repository, number, url FROM issues WHERE task_id = $1";
const ISSUE_BY_NUMBER: &str = "SELECT task_id, project_id, repository, number, url FROM issues \
     WHERE project_id = $1 AND repository = $2 AND number = $3";

impl Store {
    /// Oldest first.
    pub async fn open_pulls(&self) -> Result<Vec<OpenPull>> {
        let rows = sqlx::query(OPEN_PULLS).fetch_all(&mut *self.reader().await?).await?;
        Ok(rows.iter().map(row::open_pull).collect::<sqlx::Result<_>>()?)
    }

    /// Attempts whose pull request is still to be opened automatically, oldest first.
    pub async fn attempts_to_publish(&self) -> Result<Vec<Attempt>> {
        let rows = sqlx::query(TO_PUBLISH).fetch_all(&mut *self.reader().await?).await?;
        Ok(rows.iter().map(row::attempt).collect::<sqlx::Result<_>>()?)
    }

    /// The issue that a task came from.
    pub async fn issue_of(&self, task: TaskId) -> Result<Option<IssueLink>> {
        let query = sqlx::query(ISSUE_OF_TASK).bind(task.to_string());
        let row = query.fetch_optional(&mut *self.reader().await?).await?;
        Ok(row.as_ref().map(row::issue).transpose()?)
    }

    /// The link of the task that was made from this issue.
    pub async fn issue(
        &self,
        project: ProjectId,
        repository: &str,
        number: i64,
    ) -> Result<Option<IssueLink>> {
        let query = sqlx::query(ISSUE_BY_NUMBER).bind(project.to_string()).bind(repository).bind(number);
        let row = query.fetch_optional(&mut *self.reader().await?).await?;
        Ok(row.as_ref().map(row::issue).transpose()?)
    }
}

impl Tx {
    pub async fn merge(&mut self, id: MergeId) -> Result<Option<Merge>> {
        const SQL: &str = concat!("SELECT ", merge_columns!(), " FROM merges WHERE id = $1");
        let row = sqlx::query(SQL).bind(id.to_string()).fetch_optional(self.conn()?).await?;
        Ok(row.as_ref().map(row::merge).transpose()?)
    }

    /// The record of a pull request of this attempt.
    pub async fn pull(&mut self, attempt: AttemptId, number: i64) -> Result<Option<Merge>> {
        const SQL: &str =
            concat!("SELECT ", merge_columns!(), " FROM merges WHERE attempt_id = $1 AND pr_number = $2");
        let query = sqlx::query(SQL).bind(attempt.to_string()).bind(number);
        let row = query.fetch_optional(self.conn()?).await?;
        Ok(row.as_ref().map(row::merge).transpose()?)
    }

    /// Writes the current state of a pull request at its host. A direct merge never changes.
    pub async fn update_merge(&mut self, merge: &Merge) -> Result<()> {
        let Merge::Pr { id, task_attempt_id, target_branch_name, pr_info, .. } = merge else {
            return Err(StoreError::Missing);
        };
        let sql = "UPDATE merges SET target_branch = $2, merge_commit = $3, pr_url = $4, pr_status = $5, \
             pr_merged_ms = $6 WHERE id = $1 AND kind = 'pr'";
        let query = sqlx::query(sql)
            .bind(id.to_string())
            .bind(target_branch_name)
            .bind(&pr_info.merge_commit_sha)
            .bind(&pr_info.url)
            .bind(pr_word(pr_info.status))
            .bind(pr_info.merged_at.map(|at| at.0));
        if query.execute(self.conn()?).await?.rows_affected() == 0 {
            return Err(StoreError::Missing);
        }
        let home = self.home(*task_attempt_id).await?;
        self.touched.stale_task(home.task);
        Ok(())
    }

    pub async fn insert_issue(&mut self, link: &IssueLink) -> Result<()> {
        let sql =
            "INSERT INTO issues (task_id, project_id, repository, number, url) VALUES ($1, $2, $3, $4, $5)";
        let query = sqlx::query(sql)
            .bind(link.task_id.to_string())
            .bind(link.project_id.to_string())
            .bind(&link.repository)
            .bind(link.number)
            .bind(&link.url);
        query.execute(self.conn()?).await?;
        Ok(())
    }
}
