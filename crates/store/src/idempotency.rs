//! The results of requests under a key.
//!
//! Invariant: a row is written in the transaction that writes its effect, so there is no effect without its row. The
//! response may follow later, and what is missing can be read from the effect.

use forge_types::Millis;

use crate::entity::{Cells, entity, select, sql, written};
use crate::error::Result;
use crate::log::rows_of;
use crate::sql::bind;
use crate::{Store, Tx};

/// One request under its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyed {
    pub key: String,
    /// Method and path.
    pub route: String,
    /// Hash of the body.
    pub fingerprint: String,
    /// What was made, as JSON.
    pub effect: String,
    /// The response, as JSON, once it is known.
    pub answer: Option<String>,
    pub created_at: Millis,
}

entity! {
    idempotency: Keyed {
        key key,
        set route, set fingerprint,
        set effect, set answer,
        set created_at = "created_ms",
    }
}

pub(crate) const COLUMNS: usize = written(Keyed::COLUMNS);
const INSERT: &str = sql!(Text::EMPTY.add("INSERT INTO idempotency (").names::<Keyed>().add(") VALUES "));
const REPLACE: &str = sql!(Text::EMPTY.or_replace::<Keyed>());

/// The statement that writes this many rows, its placeholders numbered after `first`. An existing row is too old to
/// count, or contains less.
pub(crate) fn insert(first: usize, count: usize) -> String {
    format!("{INSERT}{}{REPLACE}", rows_of(first, count, COLUMNS))
}

impl Store {
    /// The row of a key, unless it is older than `since`.
    pub async fn keyed(&self, key: &str, since: Millis) -> Result<Option<Keyed>> {
        let sql = select!(Keyed, "FROM idempotency WHERE key = $1 AND created_ms >= $2");
        bind!(sql, key, since).find(&mut *self.reader().await?).await
    }

    /// Removes the keys that are older than `before`, and returns how many.
    pub async fn forget_keys(&self, before: Millis) -> Result<u64> {
        let mut tx = self.begin().await?;
        let sql = "DELETE FROM idempotency WHERE created_ms < $1";
        let done = bind!(sql, before).run(tx.conn()?).await?;
        tx.commit().await?;
        Ok(done)
    }
}

impl Tx {
    pub async fn put_keyed(&mut self, row: &Keyed) -> Result<()> {
        self.put(row).await
    }

    /// Adds the response.
    pub async fn put_answer(&mut self, key: &str, answer: &str) -> Result<()> {
        let sql = "UPDATE idempotency SET answer = $2 WHERE key = $1";
        bind!(sql, key, answer).run(self.conn()?).await.map(drop)
    }
}
