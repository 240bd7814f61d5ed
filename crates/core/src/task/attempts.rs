//! Attempts of tasks, as they are on record.

use forge_store::{AttemptsOf, Page};
use forge_types::{Attempt, AttemptId, ListedAttempt, Merge};

use crate::{Error, Forge, Result};

impl Forge {
    pub async fn attempts(&self, task: Option<forge_types::TaskId>, page: Page) -> Result<Vec<Attempt>> {
        Ok(self.0.store.attempts(task, page).await?)
    }

    /// Attempts with the titles of their tasks, newest first.
    pub async fn listed_attempts(&self, of: AttemptsOf, page: Page) -> Result<Vec<ListedAttempt>> {
        Ok(self.0.store.listed_attempts(of, page).await?)
    }

    pub async fn attempt(&self, id: AttemptId) -> Result<Attempt> {
        let found = self.0.store.attempt(id).await?;
        found.ok_or_else(|| Error::no_attempt(id))
    }

    pub async fn merges(&self, id: AttemptId) -> Result<Vec<Merge>> {
        Ok(self.0.store.merges(id).await?)
    }
}
