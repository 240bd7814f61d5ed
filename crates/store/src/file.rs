//! The two files of a running store: the database and its write-ahead log.
//!
//! Invariant: nothing is reported as saved while either name leads to another file than the one that the writer has
//! open, or the database was emptied, for it would be gone at the next start. The database itself is only checked by
//! its name here: closing a second handle of it would end SQLite's locks, which belong to the whole process. The log
//! has no locks, so one handle of it is kept and synced for what has to survive a power cut.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Result, StoreError};

pub(crate) struct Files {
    database: Named,
    log: Named,
    handle: Arc<File>,
    syncs: AtomicU64,
}

/// A name and the file that it led to when the store was opened.
struct Named {
    path: PathBuf,
    file: (u64, u64),
}

impl Named {
    fn look(path: PathBuf) -> io::Result<Self> {
        let file = identity(&std::fs::metadata(&path)?);
        Ok(Self { path, file })
    }

    /// The length of the file.
    fn check(&self) -> Result<u64> {
        match std::fs::metadata(&self.path) {
            Ok(found) if identity(&found) == self.file => Ok(found.len()),
            Ok(_) => Err(self.gone("another file has its name")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(self.gone("it was removed or moved"))
            }
            Err(error) => Err(self.gone(&error.to_string())),
        }
    }

    fn gone(&self, what: &str) -> StoreError {
        StoreError::Gone { path: self.path.clone(), what: what.to_owned() }
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

impl Files {
    /// To be called when the writer is open and has read something, which creates the log.
    pub(crate) fn of(database: &Path) -> io::Result<Self> {
        // SQLite names it after the file itself, whatever links lead there.
        let log = beside(&std::fs::canonicalize(database)?, "-wal");
        let handle = File::open(&log)?;
        let log = Named { file: identity(&handle.metadata()?), path: log };
        let database = Named::look(database.to_owned())?;
        Ok(Self { database, log, handle: Arc::new(handle), syncs: AtomicU64::new(0) })
    }

    /// Whether the next start will find what is written now. Two look-ups of names, a few microseconds.
    pub(crate) fn check(&self) -> Result<()> {
        // The log may be empty, after all of it was folded into the database; the database never is.
        if self.database.check()? == 0 {
            return Err(self.database.gone("it was emptied"));
        }
        self.log.check().map(drop)
    }

    /// When it returns, everything that was committed before is on the disk.
    pub(crate) async fn sync(&self) -> Result<()> {
        let handle = Arc::clone(&self.handle);
        let synced = tokio::task::spawn_blocking(move || handle.sync_data()).await;
        self.syncs.fetch_add(1, Ordering::Relaxed);
        match synced {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                Err(StoreError::NotSynced { path: self.log.path.clone(), reason: error.to_string() })
            }
            Err(_) => Err(StoreError::Sql(sqlx::Error::WorkerCrashed)),
        }
    }

    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }
}

/// A file that SQLite keeps beside the database.
pub(crate) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The length of a file; 0 when there is none.
pub(crate) fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map(|file| file.len()).unwrap_or(0)
}
