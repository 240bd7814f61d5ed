//! Inserts and updates.
//!
//! Invariant: every method records what it touched after its statement succeeded. Ids, owners and times of creation
//! never change; an update of a missing row is [`StoreError::Missing`].

use forge_types::{
    Attempt, AttemptId, Change, Draft, DraftKind, Errand, Merge, Millis, Project, Run, RunOwner, RunPhase,
    Task,
};

use crate::entity::{Cells, Entity, sql};
use crate::error::{Result, StoreError};
use crate::sql::{Query, bind};
use crate::table::TaskRow;
use crate::tx::Tx;

const UPDATE_PROJECT: &str = sql!(Text::update::<Project>().returning::<Project>());
const UPDATE_TASK: &str = sql!(Text::update::<Task>().returning::<TaskRow>());
const UPDATE_RUN: &str = sql!(Text::update::<Run>().returning::<Run>());

impl Tx {
    /// Writes a new row and nothing else.
    pub(crate) async fn insert<E: Entity>(&mut self, row: &E) -> Result<()> {
        Query::of(E::INSERT, row)?.run(self.conn()?).await.map(drop)
    }

    /// Writes a row, or replaces the one of the same key, and nothing else.
    pub(crate) async fn put<E: Entity>(&mut self, row: &E) -> Result<()> {
        Query::of(E::PUT, row)?.run(self.conn()?).await.map(drop)
    }

    /// The row as it is after an update with this statement.
    async fn updated<E: Entity>(&mut self, sql: &'static str, row: &impl Cells) -> Result<E> {
        Query::of(sql, row)?.find(self.conn()?).await?.ok_or(StoreError::Missing)
    }

    pub async fn insert_project(&mut self, project: &Project) -> Result<()> {
        self.insert(project).await?;
        self.touched.project(Change::Created, project.clone());
        Ok(())
    }

    pub async fn update_project(&mut self, project: &Project) -> Result<()> {
        let project = self.updated(UPDATE_PROJECT, project).await?;
        self.touched.project(Change::Updated, project);
        Ok(())
    }

    /// `hidden` tasks are agent chats, which boards do not show.
    pub async fn insert_task(&mut self, task: &Task, hidden: bool) -> Result<()> {
        let row = TaskRow::new(task, hidden);
        self.insert(&row).await?;
        self.touched.task(Change::Created, row.task, hidden);
        Ok(())
    }

    pub async fn update_task(&mut self, task: &Task) -> Result<()> {
        let TaskRow { task, hidden } = self.updated(UPDATE_TASK, task).await?;
        self.touched.task(Change::Updated, task, hidden);
        Ok(())
    }

    /// Status, project and worktree path are not stored: they follow from other rows and fields.
    pub async fn insert_attempt(&mut self, attempt: &Attempt) -> Result<()> {
        self.insert(attempt).await?;
        let home = self.home(attempt.id).await?;
        self.touched.attempt_created(attempt.id, home);
        self.touched.stale_task(home.task);
        Ok(())
    }

    pub async fn update_attempt(&mut self, attempt: &Attempt) -> Result<()> {
        Query::of(Attempt::UPDATE, attempt)?.change(self.conn()?).await?;
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
        let run = Run { created_at, ..run.clone() };
        self.insert(&run).await?;
        self.touch_run(Change::Created, run).await
    }

    /// When the newest run of an attempt or errand was created.
    async fn newest_run(&mut self, owner: RunOwner) -> Result<Option<Millis>> {
        let query = match owner {
            RunOwner::Attempt(id) => bind!("SELECT MAX(created_ms) FROM runs WHERE attempt_id = $1", id),
            RunOwner::Errand(id) => bind!("SELECT MAX(created_ms) FROM runs WHERE errand_id = $1", id),
        };
        query.value(self.conn()?).await
    }

    pub async fn update_run(&mut self, run: &Run) -> Result<()> {
        let run = self.updated(UPDATE_RUN, run).await?;
        self.touch_run(Change::Updated, run).await
    }

    pub async fn insert_errand(&mut self, errand: &Errand) -> Result<()> {
        self.insert(errand).await
    }

    pub async fn insert_merge(&mut self, merge: &Merge) -> Result<()> {
        self.insert(merge).await?;
        let (Merge::Direct { task_attempt_id, .. } | Merge::Pr { task_attempt_id, .. }) = merge;
        self.touch_task_of(*task_attempt_id).await
    }

    /// An attempt has at most one draft of each kind; this one replaces it.
    pub async fn put_draft(&mut self, draft: &Draft) -> Result<()> {
        self.put(draft).await?;
        let home = self.home(draft.task_attempt_id).await?;
        self.touched.draft(draft.task_attempt_id, draft.draft_type, home.project, Some(draft.clone()));
        Ok(())
    }

    pub async fn put_meta(&mut self, key: &str, value: &str) -> Result<()> {
        let sql = "INSERT INTO meta (key, value) VALUES ($1, $2) \
             ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        bind!(sql, key, value).run(self.conn()?).await.map(drop)
    }

    /// Returns whether there was one.
    pub async fn delete_draft(&mut self, attempt: AttemptId, kind: DraftKind) -> Result<bool> {
        let sql = "DELETE FROM drafts WHERE attempt_id = $1 AND kind = $2";
        if bind!(sql, attempt, kind).run(self.conn()?).await? == 0 {
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
