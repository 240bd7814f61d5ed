//! Opening a database that belongs to somebody else.
//!
//! SQLite keeps a database in WAL mode together with two files beside it and would create them where they are missing.
//! So a database without a log is opened as a file that does not change, and one whose log has lost its index is read
//! from a copy.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};

use crate::LegacyError;

type Result<T> = std::result::Result<T, LegacyError>;

/// The other server may be in the middle of a write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Position and value of the header byte that marks a database with a write-ahead log.
const WAL_BYTE: (usize, u8) = (19, 2);

/// A connection that cannot write, and the copy it reads, if any.
pub(super) struct Opened {
    conn: SqliteConnection,
    /// Removed when nobody reads it any more.
    _copy: Option<Copy>,
}

impl Opened {
    pub(super) async fn open(path: &Path, scratch: &Path) -> Result<Opened> {
        let is_wal = is_wal(path)?;
        let [log, index] = ["-wal", "-shm"].map(|end| beside(path, end).exists());
        let options = SqliteConnectOptions::new()
            .read_only(true)
            .busy_timeout(BUSY_TIMEOUT)
            .disable_statement_logging();
        let (options, copy) = match (is_wal, log, index) {
            (true, false, _) => (options.filename(path).immutable(true), None),
            (true, true, false) => {
                let copy = Copy::make(path, scratch)?;
                // The copy may get an index: it is ours.
                (options.filename(copy.database()).read_only(false), Some(copy))
            }
            _ => (options.filename(path), None),
        };
        let conn = options.connect().await.map_err(|error| unreadable(path, &error))?;
        Ok(Opened { conn, _copy: copy })
    }

    pub(super) fn conn(&mut self) -> &mut SqliteConnection {
        &mut self.conn
    }
}

pub(super) fn unreadable(path: &Path, error: impl std::fmt::Display) -> LegacyError {
    LegacyError::Invalid(format!("path: cannot open database '{}': {error}", path.display()))
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn is_wal(path: &Path) -> Result<bool> {
    let mut header = Vec::new();
    let mut file = fs::File::open(path).map_err(|error| unreadable(path, error))?;
    file.by_ref().take(100).read_to_end(&mut header).map_err(|error| unreadable(path, error))?;
    if !header.starts_with(MAGIC) {
        return Err(unreadable(path, "it is not an SQLite database"));
    }
    Ok(header.get(WAL_BYTE.0) == Some(&WAL_BYTE.1))
}

/// A database and its log in a directory of ours.
struct Copy(PathBuf);

impl Copy {
    fn make(path: &Path, scratch: &Path) -> Result<Copy> {
        let copy = Copy(scratch.to_owned());
        let copied = fs::create_dir_all(scratch)
            .and_then(|()| fs::copy(beside(path, "-wal"), beside(&copy.database(), "-wal")))
            .and_then(|_| fs::copy(path, copy.database()));
        copied
            .map_err(|error| unreadable(path, format!("cannot copy it to {}: {error}", scratch.display())))?;
        Ok(copy)
    }

    fn database(&self) -> PathBuf {
        self.0.join("db.sqlite")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(path = %self.0.display(), %error, "a copy that was made for an import cannot be removed");
        }
    }
}
