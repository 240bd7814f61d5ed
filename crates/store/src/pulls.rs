//! Open pull requests, and the issues that tasks came from.
//!
//! Invariant: a pull request's row keeps its id, attempt and number; only what its host reports about it changes.

use forge_types::{Attempt, AttemptId, IssueLink, Merge, MergeId, ProjectId, TaskId};

use crate::entity::{entity, select, sql};
use crate::error::{Result, StoreError};
use crate::sql::{Query, bind};
use crate::store::Store;
use crate::tx::Tx;

/// A pull request that was open at the last check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPull {
    pub merge: Merge,
    pub task_id: TaskId,
    pub project_id: ProjectId,
}

entity! {
    merges: OpenPull {
        part merge: Merge,
        derived task_id = "tasks.id",
        derived project_id = "tasks.project_id",
    }
}

entity! { issues: IssueLink { key task_id, fixed project_id, fixed repository, fixed number, fixed url } }

pub(crate) const OPEN_PULLS: &str = select!(
    OpenPull,
    "FROM merges JOIN attempts ON attempts.id = merges.attempt_id \
     JOIN tasks ON tasks.id = attempts.task_id WHERE merges.pr_status = 'open' ORDER BY merges.created_ms, merges.id"
);
pub(crate) const TO_PUBLISH: &str = select!(
    Attempt,
    "FROM attempts WHERE attempts.auto_pr = 'waiting' ORDER BY attempts.created_ms, attempts.id"
);
const ISSUE_BY_NUMBER: &str =
    select!(IssueLink, "FROM issues WHERE project_id = $1 AND repository = $2 AND number = $3");
const UPDATE: &str = sql!(Text::update::<Merge>().add(" AND kind = 'pr'"));

impl Store {
    /// Oldest first.
    pub async fn open_pulls(&self) -> Result<Vec<OpenPull>> {
        bind!(OPEN_PULLS).list(&mut *self.reader().await?).await
    }

    /// Attempts whose pull request is still to be opened automatically, oldest first.
    pub async fn attempts_to_publish(&self) -> Result<Vec<Attempt>> {
        bind!(TO_PUBLISH).list(&mut *self.reader().await?).await
    }

    /// The issue that a task came from.
    pub async fn issue_of(&self, task: TaskId) -> Result<Option<IssueLink>> {
        let sql = select!(IssueLink, "FROM issues WHERE task_id = $1");
        bind!(sql, task).find(&mut *self.reader().await?).await
    }

    /// The link of the task that was made from this issue.
    pub async fn issue(
        &self,
        project: ProjectId,
        repository: &str,
        number: i64,
    ) -> Result<Option<IssueLink>> {
        bind!(ISSUE_BY_NUMBER, project, repository, number).find(&mut *self.reader().await?).await
    }
}

impl Tx {
    pub async fn merge(&mut self, id: MergeId) -> Result<Option<Merge>> {
        bind!(select!(Merge, "FROM merges WHERE id = $1"), id).find(self.conn()?).await
    }

    /// The record of a pull request of this attempt.
    pub async fn pull(&mut self, attempt: AttemptId, number: i64) -> Result<Option<Merge>> {
        let sql = select!(Merge, "FROM merges WHERE attempt_id = $1 AND pr_number = $2");
        bind!(sql, attempt, number).find(self.conn()?).await
    }

    /// Writes the current state of a pull request at its host. A direct merge never changes.
    pub async fn update_merge(&mut self, merge: &Merge) -> Result<()> {
        let Merge::Pr { task_attempt_id, .. } = merge else { return Err(StoreError::Missing) };
        Query::of(UPDATE, merge)?.change(self.conn()?).await?;
        self.touch_task_of(*task_attempt_id).await
    }

    pub async fn insert_issue(&mut self, link: &IssueLink) -> Result<()> {
        self.insert(link).await
    }
}
