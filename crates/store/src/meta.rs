//! Single values of a database that no store has open.
//!
//! Invariant: the schema does not change, so a database of any version can be read, also one that is about to be
//! refused.

use std::path::Path;

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::error::Result;
use crate::open::{self, failed};

/// The value of a key; none in a database that Forge never opened.
pub async fn read_meta(path: &Path, key: &str) -> Result<Option<String>> {
    open::heal(path).await?;
    let mut conn = open::reader_options(path).connect().await.map_err(|error| failed(path, error))?;
    let found = find(&mut conn, key).await.map_err(|error| failed(path, error));
    conn.close().await.map_err(|error| failed(path, error))?;
    found
}

async fn find(conn: &mut SqliteConnection, key: &str) -> sqlx::Result<Option<String>> {
    match open::newest_migration(conn).await? {
        Some(_) => {
            let sql = "SELECT value FROM meta WHERE key = $1";
            sqlx::query_scalar(sql).bind(key.to_owned()).fetch_optional(conn).await
        }
        None => Ok(None),
    }
}

/// Changes the value of a key that exists; it is on the disk when this returns.
pub async fn replace_meta(path: &Path, key: &str, value: &str) -> Result<()> {
    let mut conn = open::options(path).connect().await.map_err(|error| failed(path, error))?;
    let sql = "UPDATE meta SET value = $2 WHERE key = $1";
    let changed = sqlx::query(sql).bind(key.to_owned()).bind(value.to_owned()).execute(&mut conn).await;
    let changed = changed.map(drop).map_err(|error| failed(path, error));
    conn.close().await.map_err(|error| failed(path, error))?;
    changed
}
