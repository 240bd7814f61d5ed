//! Opening a database: settings, the check of SQLite's version, migrations.
//!
//! Invariant: a database written by a newer Forge is read but not written, and after `connect` returns the schema is
//! the newest one. A start that was killed, at whatever moment, never prevents a later one from opening it.

use std::path::Path;
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection, SqlitePool};

use crate::error::{Result, StoreError, is_damage};
use crate::file::{beside, length};
use crate::{copy, create, document};

pub(crate) static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// Older ones can corrupt a database when the write-ahead log is reset.
const OLDEST_SQLITE: [u32; 3] = [3, 51, 3];
const READERS: u32 = 4;
/// Pages in the write-ahead log (16 MB) before it is folded into the database. Ids are random, so most writes hit
/// the same pages again and again; folding less often writes each of them less often.
const CHECKPOINT_PAGES: &str = "4000";
/// Rows on their way from SQLite's thread; a larger number means fewer switches between the two.
const ROW_BUFFER: usize = 1024;
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const READER_IDLE: Duration = Duration::from_secs(60);

/// The writer, on the newest schema, and the readers.
pub(crate) async fn connect(path: &Path) -> Result<(SqliteConnection, SqlitePool)> {
    let real = std::fs::canonicalize(path);
    let path = real.as_deref().unwrap_or(path);
    heal(path).await?;
    refuse_newer(path).await?;
    create::make_missing(path).await?;
    keep_private(path).map_err(|e| failed(path, e))?;
    let mut writer = writer_options(path).connect().await.map_err(|e| failed(path, e))?;
    copy::before_migration(path, &mut writer).await?;
    migrate(path, &mut writer).await?;
    let readers = SqlitePoolOptions::new()
        .max_connections(READERS)
        .test_before_acquire(false)
        .idle_timeout(READER_IDLE)
        .max_lifetime(None)
        .connect_lazy_with(reader_options(path));
    Ok((writer, readers))
}

/// Migrates the schema.
pub(crate) async fn migrate(path: &Path, conn: &mut SqliteConnection) -> Result<()> {
    check_version(path, conn).await?;
    MIGRATIONS.run(&mut *conn).await.map_err(|e| failed(path, e))?;
    forget_statistics(conn).await.map_err(|e| failed(path, e))?;
    document::renew(conn).await
}

/// Statistics of a database with one task make SQLite choose ways that are slow with a thousand. Without any it takes
/// the indexes, which is what the statements are written for.
async fn forget_statistics(conn: &mut SqliteConnection) -> sqlx::Result<()> {
    let both = "DROP TABLE IF EXISTS sqlite_stat1; DROP TABLE IF EXISTS sqlite_stat4";
    sqlx::raw_sql(both).execute(conn).await.map(drop)
}

/// Undoes what a killed process had begun to write without the write-ahead log. Any connection that may write does so
/// on its first read; one that may not can only fail.
pub(crate) async fn heal(path: &Path) -> Result<()> {
    if length(path) == 0 || length(&beside(path, "-journal")) == 0 {
        return Ok(());
    }
    let mut conn = options(path).connect().await.map_err(|e| failed(path, e))?;
    let looked = newest_migration(&mut conn).await.map_err(|e| failed(path, e));
    conn.close().await.map_err(|e| failed(path, e))?;
    looked.map(drop)
}

/// The database contains keys of the user: nobody else may read its file and those that SQLite makes beside it.
pub(crate) fn keep_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let file = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    let mode = file.metadata()?.permissions().mode();
    match mode & 0o077 {
        0 => Ok(()),
        _ => file.set_permissions(PermissionsExt::from_mode(mode & !0o077)),
    }
}

pub(crate) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("cache_size", "-1024")
        .pragma("mmap_size", "0")
        .disable_statement_logging()
}

pub(crate) fn writer_options(path: &Path) -> SqliteConnectOptions {
    options(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
}

pub(crate) fn reader_options(path: &Path) -> SqliteConnectOptions {
    options(path).read_only(true).row_buffer_size(ROW_BUFFER)
}

/// Why a database cannot be opened; for a damaged one with how to recover.
pub(crate) fn failed(path: &Path, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    let (path, error) = (path.to_owned(), error.into());
    let reason = error.to_string();
    match is_damage(error.as_ref()) {
        true => StoreError::Damaged { copy: copy::copies(&path).into_iter().next(), path, reason },
        false => StoreError::Open { path, reason },
    }
}

/// Checks through a read-only connection, since opening for writing may already change the file.
pub(crate) async fn refuse_newer(path: &Path) -> Result<()> {
    if length(path) == 0 {
        return Ok(());
    }
    let mut conn = reader_options(path).connect().await.map_err(|e| failed(path, e))?;
    let found = newest_migration(&mut conn).await.map_err(|e| failed(path, e));
    conn.close().await.map_err(|e| failed(path, e))?;
    let known = MIGRATIONS.iter().map(|m| m.version).max().unwrap_or(0);
    match found? {
        Some(found) if found > known => Err(StoreError::Newer { path: path.to_owned(), found, known }),
        _ => Ok(()),
    }
}

pub(crate) async fn newest_migration(conn: &mut SqliteConnection) -> Result<Option<i64>, sqlx::Error> {
    Ok(applied_migrations(conn).await?.into_iter().max())
}

pub(crate) async fn applied_migrations(conn: &mut SqliteConnection) -> Result<Vec<i64>, sqlx::Error> {
    const TABLE: &str = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = '_sqlx_migrations'";
    let table: Option<String> = sqlx::query_scalar(TABLE).fetch_optional(&mut *conn).await?;
    match table {
        Some(_) => sqlx::query_scalar("SELECT version FROM _sqlx_migrations").fetch_all(conn).await,
        None => Ok(Vec::new()),
    }
}

async fn check_version(path: &Path, conn: &mut SqliteConnection) -> Result<()> {
    let found: String =
        sqlx::query_scalar("SELECT sqlite_version()").fetch_one(conn).await.map_err(|e| failed(path, e))?;
    if is_sound(&found) {
        return Ok(());
    }
    let [major, minor, patch] = OLDEST_SQLITE;
    Err(failed(path, format!("SQLite {found} is linked; {major}.{minor}.{patch} or newer is needed")))
}

fn is_sound(version: &str) -> bool {
    let parts: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
    parts.as_slice() >= OLDEST_SQLITE.as_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_with_the_wal_reset_bug_are_refused() {
        for sound in ["3.51.3", "3.52.0", "4.0.0"] {
            assert!(is_sound(sound), "{sound}");
        }
        for unsound in ["3.51.2", "3.50.9", "3.6.10", ""] {
            assert!(!is_sound(unsound), "{unsound}");
        }
    }
}
