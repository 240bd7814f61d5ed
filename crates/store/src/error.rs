//! What can go wrong, as far as a caller acts on it.
//!
//! Invariant: SQLite's result codes are read here and nowhere else.

use std::path::PathBuf;

/// Why the store refused.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "database '{path}' was written by a newer Forge (schema {found}, this one knows up to {known}); \
         it was not touched: start that Forge, or point this one at another database"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("cannot open database '{path}': {reason}")]
    Open { path: PathBuf, reason: String },
    #[error("no space left on the disk that holds the database; nothing was saved: free some and try again")]
    Full,
    #[error("a row with this id, path or key exists already")]
    Duplicate,
    #[error("the row to change, or one that it refers to, does not exist (any more)")]
    Missing,
    #[error("database error: {0}")]
    Sql(sqlx::Error),
}

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// SQLITE_FULL.
const FULL: &str = "13";

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(cause) if cause.is_unique_violation() => Self::Duplicate,
            sqlx::Error::Database(cause) if cause.is_foreign_key_violation() => Self::Missing,
            sqlx::Error::Database(cause) if cause.code().as_deref() == Some(FULL) => Self::Full,
            _ => Self::Sql(error),
        }
    }
}
