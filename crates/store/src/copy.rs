//! Copies of a database: before a migration, and for backups.
//!
//! Invariant: a copy is one moment of the database, also while a server writes to it, and it has its name only when it
//! is complete and on the disk. No migration begins before the copy of what it changes exists.

use std::fs::File;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use forge_os::{folder_of, sync_folder};
use forge_types::Millis;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::error::{Result, StoreError};
use crate::file::{beside, length};
use crate::open::{self, MIGRATIONS, failed};

const FOLDER: &str = "backups";
const PREFIX: &str = "db-before-";
/// Older copies are removed.
const KEPT: usize = 3;

/// What a database contains about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The newest migration that was applied; none in a database that Forge never opened.
    pub schema: Option<i64>,
}

/// Copies a database as it is at one moment. `to` must not exist.
pub async fn copy_database(from: &Path, to: &Path) -> Result<()> {
    open::heal(from).await?;
    let mut conn = open::reader_options(from).connect().await.map_err(|error| failed(from, error))?;
    let copied = copy_into(&mut conn, from, to).await;
    conn.close().await.map_err(|error| failed(from, error))?;
    copied
}

/// Reads all of a database, which nobody has open, and refuses one that is damaged or from a newer Forge.
pub async fn examine_database(path: &Path) -> Result<Examined> {
    open::refuse_newer(path).await?;
    let mut conn = open::reader_options(path).connect().await.map_err(|error| failed(path, error))?;
    let found = async {
        let verdict: Vec<String> =
            sqlx::query_scalar("PRAGMA integrity_check(3)").fetch_all(&mut conn).await?;
        Ok::<_, sqlx::Error>((verdict, open::newest_migration(&mut conn).await?))
    };
    let found = found.await.map_err(|error| failed(path, error));
    conn.close().await.map_err(|error| failed(path, error))?;
    let (verdict, schema) = found?;
    match verdict.join("; ").as_str() {
        "ok" => Ok(Examined { schema }),
        faults => Err(StoreError::Damaged { path: path.to_owned(), reason: faults.to_owned(), copy: None }),
    }
}

/// Copies a database that is about to be migrated.
pub(crate) async fn before_migration(path: &Path, conn: &mut SqliteConnection) -> Result<()> {
    let applied = open::applied_migrations(conn).await.map_err(|error| failed(path, error))?;
    let pending = MIGRATIONS.iter().map(|one| one.version).filter(|version| !applied.contains(version));
    let Some(version) = pending.max() else { return Ok(()) };
    let folder = folder_of(path).join(FOLDER);
    let copy = folder.join(format!("{PREFIX}{version:04}-{}.sqlite", moment()));
    let refused = |reason: String| StoreError::NoCopy {
        path: path.to_owned(),
        folder: folder.clone(),
        needed: length(path) + length(&beside(path, "-wal")),
        reason,
    };
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| refused(error.to_string()))?;
    copy_into(conn, path, &copy).await.map_err(|error| refused(error.to_string()))?;
    tracing::info!(copy = %copy.display(), "copied the database before migrating it");
    for old in copies(path).into_iter().skip(KEPT) {
        if let Err(error) = std::fs::remove_file(&old) {
            tracing::warn!(%error, copy = %old.display(), "cannot remove an old copy");
        }
    }
    Ok(())
}

/// The copies beside a database, newest first.
pub fn copies(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder_of(path).join(FOLDER)).into_iter().flatten().flatten();
    let mut found: Vec<(String, PathBuf)> =
        entries.filter_map(|entry| Some((made_at(entry.file_name().to_str()?)?, entry.path()))).collect();
    found.sort_by(|one, other| other.cmp(one));
    found.into_iter().map(|(_, path)| path).collect()
}

/// When a copy was made, by its name.
fn made_at(name: &str) -> Option<String> {
    let (_version, time) = name.strip_prefix(PREFIX)?.strip_suffix(".sqlite")?.split_once('-')?;
    Some(time.to_owned())
}

/// Now, as part of a file name: names sort by time.
fn moment() -> String {
    Millis::now().to_string().replace(':', "")
}

async fn copy_into(conn: &mut SqliteConnection, from: &Path, to: &Path) -> Result<()> {
    let partial = beside(to, ".partial");
    let copied = write_copy(conn, &partial).await.map_err(|error| failed(from, error));
    let named = copied.and_then(|()| {
        let publish = || {
            File::open(&partial)?.sync_all()?;
            if std::fs::symlink_metadata(to).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            std::fs::rename(&partial, to)?;
            sync_folder(folder_of(to))
        };
        publish().map_err(|error: io::Error| failed(to, error))
    });
    if named.is_err() {
        // Half a copy helps nobody, and takes the space that is missing.
        let _ = std::fs::remove_file(&partial);
    }
    named
}

async fn write_copy(conn: &mut SqliteConnection, to: &Path) -> sqlx::Result<()> {
    let _ = std::fs::remove_file(to);
    // SQLite writes into an existing empty file: with this mode nobody else can read the copy at any moment.
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(sqlx::Error::Io)?;
    let Some(name) = to.to_str() else {
        return Err(sqlx::Error::Protocol(format!("'{}' is not UTF-8", to.display())));
    };
    sqlx::query("VACUUM INTO $1").bind(name.to_owned()).execute(conn).await?;
    Ok(())
}
