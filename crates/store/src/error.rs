//! Failures of the store, as far as a caller acts on them.
//!
//! Invariant: SQLite's result codes are read here and nowhere else.

use std::path::{Path, PathBuf};

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
    #[error(
        "database '{path}' is damaged ({reason}); it was not touched. To recover, restore {}",
        how_to_recover(copy.as_deref())
    )]
    Damaged { path: PathBuf, reason: String, copy: Option<PathBuf> },
    #[error(
        "'{path}' is not the file that this server opened: {what}. Anything written now would be gone at the next start, \
         so nothing is saved: put the file back; or stop the server, restore a backup with `forge backup restore FILE`, \
         and start it again"
    )]
    Gone { path: PathBuf, what: String },
    #[error(
        "database '{path}' has to be migrated, and the copy that is made first cannot be written: {reason}. \
         About {needed} bytes are needed in '{folder}'. The database was not changed: make room there and start again"
    )]
    NoCopy { path: PathBuf, folder: PathBuf, needed: u64, reason: String },
    #[error(
        "the change is saved, but cannot be written through to the disk ('{path}': {reason}): a power cut may lose it"
    )]
    NotSynced { path: PathBuf, reason: String },
    #[error("no space left on the disk that holds the database; nothing was saved")]
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

/// SQLITE_CORRUPT and SQLITE_NOTADB; the higher bits of a code are details.
const DAMAGE: [u32; 2] = [11, 26];

/// Whether SQLite reports that a file is not an intact database.
pub(crate) fn is_damage(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let database = error.downcast_ref::<sqlx::Error>().and_then(sqlx::Error::as_database_error);
        if let Some(code) = database.and_then(|cause| cause.code()?.parse::<u32>().ok()) {
            return DAMAGE.contains(&(code & 0xff));
        }
        next = error.source();
    }
    false
}

fn how_to_recover(copy: Option<&Path>) -> String {
    match copy {
        Some(copy) => format!(
            "a backup, or the copy from before the last update: `forge backup restore --replace {}`",
            copy.display()
        ),
        None => "a backup: `forge backup restore --replace FILE`".to_owned(),
    }
}
