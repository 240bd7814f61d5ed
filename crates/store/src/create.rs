//! Creating a database where there is none.
//!
//! Invariant: no half-made file ever has the database's name. A new one is completed under another name in the same
//! folder and renamed; the next start removes whatever a killed start left of it. Whoever makes one holds the folder,
//! so two that start at once make one database.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use forge_os::{folder_of, sync_folder};
use sqlx::{ConnectOptions, Connection};

use crate::error::Result;
use crate::file::{beside, length};
use crate::open::{self, failed};

/// Making one takes a few milliseconds.
const HOLD_LIMIT: Duration = Duration::from_secs(10);
const HOLD_PAUSE: Duration = Duration::from_millis(10);
/// What SQLite may leave beside a file.
const BESIDE: [&str; 4] = ["-journal", "-wal", "-shm", ""];

/// Makes the database if there is none, or only an empty file.
pub(crate) async fn make_missing(path: &Path) -> Result<()> {
    if length(path) > 0 {
        return Ok(());
    }
    let _held = hold(folder_of(path)).await.map_err(|error| failed(path, error))?;
    if length(path) > 0 {
        return Ok(());
    }
    if length(&beside(path, "-wal")) > 0 {
        let reason = format!(
            "it is missing or empty, but its write-ahead log '{}' is there: put the database back beside it, or restore \
             a backup with `forge backup restore FILE --replace`",
            beside(path, "-wal").display()
        );
        return Err(failed(path, reason));
    }
    // Left by a first start that was killed: nothing had been written that it could undo.
    remove(&beside(path, "-journal")).map_err(|error| failed(path, error))?;
    make(path).await
}

async fn make(path: &Path) -> Result<()> {
    let new = beside(path, ".new");
    for ending in BESIDE {
        remove(&beside(&new, ending)).map_err(|error| failed(&new, error))?;
    }
    open::keep_private(&new).map_err(|error| failed(&new, error))?;
    let mut conn = open::writer_options(&new).connect().await.map_err(|error| failed(&new, error))?;
    let made = async {
        open::migrate(&new, &mut conn).await?;
        let fold = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await;
        fold.map_err(|error| failed(&new, error))
    };
    let made = made.await;
    conn.close().await.map_err(|error| failed(&new, error))?;
    made?;
    let publish = || {
        File::open(&new)?.sync_all()?;
        std::fs::rename(&new, path)?;
        sync_folder(folder_of(path))
    };
    publish().map_err(|error: io::Error| failed(path, error))
}

/// Holds a folder until the handle is dropped, also by a kill.
async fn hold(folder: &Path) -> io::Result<File> {
    let handle = File::open(folder)?;
    let begun = Instant::now();
    loop {
        match handle.try_lock() {
            Ok(()) => return Ok(handle),
            Err(TryLockError::WouldBlock) if begun.elapsed() < HOLD_LIMIT => {
                tokio::time::sleep(HOLD_PAUSE).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
