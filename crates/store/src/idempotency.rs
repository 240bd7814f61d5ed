//! The results of requests under a key.
//!
//! Invariant: a row is written in the transaction that writes its effect, so there is no effect without its row. The
//! response may follow later, and what is missing can be read from the effect.

use forge_types::Millis;
use sqlx::{AssertSqlSafe, Row};

use crate::error::Result;
use crate::log::rows_of;
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

pub(crate) const COLUMNS: usize = 6;

/// The statement that writes this many rows, its placeholders numbered after `first`. An existing row is too old to
/// count, or contains less.
pub(crate) fn insert(first: usize, count: usize) -> String {
    format!(
        "INSERT INTO idempotency (key, route, fingerprint, effect, answer, created_ms) VALUES {} \
         ON CONFLICT (key) DO UPDATE SET route = excluded.route, fingerprint = excluded.fingerprint, \
         effect = excluded.effect, answer = excluded.answer, created_ms = excluded.created_ms",
        rows_of(first, count, COLUMNS)
    )
}

impl Store {
    /// The row of a key, unless it is older than `since`.
    pub async fn keyed(&self, key: &str, since: Millis) -> Result<Option<Keyed>> {
        let sql = "SELECT route, fingerprint, effect, answer, created_ms FROM idempotency \
             WHERE key = $1 AND created_ms >= $2";
        let found =
            sqlx::query(sql).bind(key).bind(since.0).fetch_optional(&mut *self.reader().await?).await?;
        let Some(row) = found else { return Ok(None) };
        Ok(Some(Keyed {
            key: key.to_owned(),
            route: row.try_get(0)?,
            fingerprint: row.try_get(1)?,
            effect: row.try_get(2)?,
            answer: row.try_get(3)?,
            created_at: Millis(row.try_get(4)?),
        }))
    }

    /// Removes the keys that are older than `before`, and returns how many.
    pub async fn forget_keys(&self, before: Millis) -> Result<u64> {
        let mut tx = self.begin().await?;
        let sql = "DELETE FROM idempotency WHERE created_ms < $1";
        let done = sqlx::query(sql).bind(before.0).execute(tx.conn()?).await?;
        tx.commit().await?;
        Ok(done.rows_affected())
    }
}

impl Tx {
    pub async fn put_keyed(&mut self, row: &Keyed) -> Result<()> {
        let query = sqlx::query(AssertSqlSafe(insert(0, 1))).bind(&row.key).bind(&row.route);
        let query = query.bind(&row.fingerprint).bind(&row.effect).bind(&row.answer).bind(row.created_at.0);
        query.execute(self.conn()?).await?;
        Ok(())
    }

    /// Adds the response.
    pub async fn put_answer(&mut self, key: &str, answer: &str) -> Result<()> {
        let sql = "UPDATE idempotency SET answer = $2 WHERE key = $1";
        sqlx::query(sql).bind(key).bind(answer).execute(self.conn()?).await?;
        Ok(())
    }
}
