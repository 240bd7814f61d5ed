//! Backups of a home, and bringing one back.
//!
//! Owns: what belongs to a backup, the file it is written to, and the order in which a restore changes a home.
//! Invariant: a backup has its name only after it was read back and every hash agreed. A restore touches nothing of the
//! home before everything of the backup is unpacked, agrees, and its database was opened; it deletes nothing; and one
//! that is killed leaves the home as it was, or is finished by the next start.
//!
//! Repositories and worktrees are not part of it: they are git's, and may be anywhere. The token is not part of it
//! either: who finds a backup shall not find the key to a running server with it.

mod archive;
mod content;
mod restore;

use std::fs::File;
use std::path::{Path, PathBuf};

use forge_types::Millis;
use serde::Serialize;

use crate::{Config, Error, Kind, Result};
use archive::{Archive, Header};
use content::Content;

pub(crate) use restore::finish_restore;
pub use restore::{RestoreReport, restore_backup};

/// The database's name in every backup, whatever it is called at home.
const DATABASE: &str = "db.sqlite";

/// What is never in a backup, in words for people.
pub const NOT_IN_BACKUPS: &str =
    "the repositories and worktrees, the token, server logs and older copies of the database";

/// What was backed up.
#[derive(Clone, Debug, Serialize)]
pub struct BackupReport {
    pub file: PathBuf,
    pub bytes: u64,
    /// Files in it, and their size before compression.
    pub files: usize,
    pub content_bytes: u64,
    /// Newest migration of its database.
    pub schema: Option<i64>,
    /// Files of the home that could not be taken along, and why.
    pub left_out: Vec<String>,
}

/// Writes everything that the home holds into one file, also while a server is at work. Without a name one is made for
/// the folder `file` names.
pub async fn make_backup(config: &Config, file: &Path) -> Result<BackupReport> {
    let file = match file.is_dir() {
        true => file.join(format!("forge-backup-{}.tar.zst", moment())),
        false => file.to_owned(),
    };
    if std::fs::symlink_metadata(&file).is_ok() {
        return Err(Error::conflict(format!("{} exists; choose another name", file.display())));
    }
    if is_inside(&file, &config.home) {
        return Err(Error::invalid(format!(
            "{} lies in the home that it would hold; choose a place outside of {}",
            file.display(),
            config.home.display()
        )));
    }
    if !std::fs::metadata(&config.database).is_ok_and(|found| found.len() > 0) {
        return Err(Error::not_found(format!(
            "there is no database at {}, so there is nothing to back up; FORGE_HOME names the home",
            config.database.display()
        )));
    }
    let scratch = Scratch::beside(&file);
    // The database comes first: what it tells of is in the files by then, and not the other way round.
    let database = scratch.file("db");
    forge_store::copy_database(&config.database, &database).await?;
    let schema = forge_store::examine_database(&database).await?.schema;
    let content = Content::of(config);
    blocking(move || {
        let mut archive = Archive::create(&scratch.file("body")).map_err(unwritable(&file))?;
        File::open(&database).and_then(|copy| archive.add(DATABASE, copy)).map_err(unwritable(&file))?;
        let mut left_out = Vec::new();
        for (name, path) in content.files(&mut left_out) {
            match File::open(&path).and_then(|file| archive.add(&name, file)) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(unwritable(&file)(error)),
            }
        }
        let header = Header::new(schema, &content.home);
        let (files, content_bytes) = archive.totals();
        let partial = scratch.file("partial");
        archive.finish(header, &partial).map_err(unwritable(&file))?;
        archive::verify(&partial)?;
        publish(&partial, &file)?;
        let bytes = std::fs::metadata(&file).map_err(unwritable(&file))?.len();
        Ok(BackupReport { file, bytes, files, content_bytes, schema, left_out })
    })
    .await
}

/// Gives a complete file its name, which nobody else has.
fn publish(partial: &Path, file: &Path) -> Result<()> {
    let link = || {
        match std::fs::hard_link(partial, file) {
            // Some file systems know no second names.
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => std::fs::rename(partial, file)?,
            other => other?,
        }
        sync_folder(folder_of(file))
    };
    link().map_err(unwritable(file))
}

/// Files that are made on the way, and go when it is over.
struct Scratch(String, PathBuf);

impl Scratch {
    fn beside(file: &Path) -> Self {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let id = uuid::Uuid::new_v4().simple().to_string();
        Self(format!("{name}.unfinished-{}", &id[..8]), folder_of(file).to_owned())
    }

    fn file(&self, part: &str) -> PathBuf {
        self.1.join(format!("{}.{part}", self.0))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for part in ["db", "body", "partial"] {
            let _ = std::fs::remove_file(self.file(part));
        }
    }
}

fn is_inside(file: &Path, home: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(folder_of(file)).starts_with(real(home))
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn sync_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

/// Now, as part of a file name.
fn moment() -> String {
    let now = Millis::now().to_string();
    now.split('.').next().unwrap_or_default().replace(':', "")
}

fn unwritable(file: &Path) -> impl Fn(std::io::Error) -> Error + use<> {
    let file = file.to_owned();
    move |cause| {
        let kind = match cause.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Kind::Unavailable,
            std::io::ErrorKind::AlreadyExists => Kind::Conflict,
            _ => Kind::Internal,
        };
        Error::new(kind, format!("cannot write {}: {cause}; there is no backup", file.display()))
    }
}

/// Runs file-system work away from the async threads.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Error::internal("the work on a backup was cut off", error)),
    }
}
