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

use std::collections::{HashSet, VecDeque};
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use forge_os::{folder_of, sync_folder};
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

/// Writes everything that the home holds into one file, also while a server is running. Without a name one is made for
/// the folder `file` names.
pub async fn make_backup(config: &Config, file: &Path) -> Result<BackupReport> {
    let file = match file.is_dir() {
        true => file.join(format!("forge-backup-{}.tar.zst", moment())),
        false => file.to_owned(),
    };
    if std::fs::symlink_metadata(&file).is_ok() {
        return Err(Error::conflict(format!("{} exists", file.display())).hint("choose another name"));
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
            "there is no database at {}, so there is nothing to back up",
            config.database.display()
        ))
        .hint("FORGE_HOME names the home"));
    }
    let scratch = Scratch::beside(&file).map_err(unwritable(&file))?;
    // The database comes first: what it refers to is in the files by then, and not the other way round.
    let database = scratch.file("db");
    forge_store::copy_database(&config.database, &database).await?;
    let schema = forge_store::examine_database(&database).await?.schema;
    let content = Content::of(config);
    blocking(move || {
        let mut archive = Archive::create(&scratch.file("body")).map_err(unwritable(&file))?;
        let copied = File::open(&database).and_then(|copy| archive.add(DATABASE, copy));
        copied.map_err(unwritable(&file))?;
        let mut left_out = Vec::new();
        let listed = content.files(&mut left_out);
        take(&mut archive, &content, listed, &mut left_out).map_err(unwritable(&file))?;
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

/// Adds the files. The log of a run that ends meanwhile gets another name: where a file has gone, what is new in its
/// folder is taken too.
fn take(
    archive: &mut Archive,
    content: &Content,
    listed: Vec<(String, PathBuf)>,
    left_out: &mut Vec<String>,
) -> io::Result<()> {
    let mut known: HashSet<String> = listed.iter().map(|(name, _)| name.clone()).collect();
    let mut renewed = HashSet::new();
    let mut waiting = VecDeque::from(listed);
    while let Some((name, path)) = waiting.pop_front() {
        match File::open(&path) {
            Ok(file) => archive.add(&name, file)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
                let mut now = content.files_in(&folder);
                now.retain(|(name, _)| known.insert(name.clone()));
                if now.is_empty() && !renewed.contains(&folder) {
                    left_out.push(format!("{name}: it was removed while the backup was made"));
                } else {
                    renewed.insert(folder);
                }
                waiting.extend(now);
            }
            Err(error) => left_out.push(format!("{name}: {error}")),
        }
    }
    Ok(())
}

/// Gives a complete file its name, which nobody else has. Not by a second link: file systems of USB sticks know none.
fn publish(partial: &Path, file: &Path) -> Result<()> {
    let renamed = forge_os::rename_new(partial, file).and_then(|()| sync_folder(folder_of(file)));
    renamed.map_err(unwritable(file))
}

/// A folder for what is made on the way, which goes when it is over. Its process has it locked: one that is not is of a
/// backup that was killed, and goes with the next backup to the same place.
struct Scratch {
    dir: PathBuf,
    _held: File,
}

impl Scratch {
    const INFIX: &str = ".unfinished-";
    const PARTS: [&str; 5] = ["db", "db.partial", "db.partial-journal", "body", "partial"];
    const TRIES: usize = 5;

    fn beside(file: &Path) -> io::Result<Self> {
        let folder = folder_of(file);
        Self::remove_killed(folder);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for _ in 0..Self::TRIES {
            let id = uuid::Uuid::new_v4().simple().to_string();
            let dir = folder.join(format!("{name}{}{}", Self::INFIX, &id[..8]));
            std::fs::DirBuilder::new().mode(0o700).create(&dir)?;
            let held = File::open(&dir)?;
            // Another backup may take it for one of the dead before it is locked. Not every disk knows locks.
            let is_taken = matches!(held.try_lock(), Err(TryLockError::WouldBlock));
            if !is_taken && dir.exists() {
                return Ok(Self { dir, _held: held });
            }
        }
        Err(io::Error::other("other backups to the same folder are in the way; try again"))
    }

    fn remove_killed(folder: &Path) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_one = name.rsplit_once(Self::INFIX).is_some_and(|(_, id)| id.len() == 8);
            if is_one
                && entry.file_type().is_ok_and(|kind| kind.is_dir())
                && let Ok(held) = File::open(entry.path())
                && held.try_lock().is_ok()
            {
                Self::remove(&entry.path());
            }
        }
    }

    fn remove(dir: &Path) {
        for part in Self::PARTS {
            let _ = std::fs::remove_file(dir.join(part));
        }
        let _ = std::fs::remove_dir(dir);
    }

    fn file(&self, part: &str) -> PathBuf {
        self.dir.join(part)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        Self::remove(&self.dir);
    }
}

fn is_inside(file: &Path, home: &Path) -> bool {
    real(folder_of(file)).starts_with(real(home))
}

/// Without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Now, as part of a file name.
fn moment() -> String {
    let now = Millis::now().to_string();
    now.split('.').next().unwrap_or_default().replace(':', "")
}

fn unwritable(file: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let file = file.to_owned();
    move |cause| {
        let kind = match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Kind::Unavailable,
            io::ErrorKind::AlreadyExists => Kind::Conflict,
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn config(dir: &Path) -> Config {
        restore::tests::config(dir)
    }

    fn names(archive: Archive, to: &Path) -> Vec<String> {
        archive.finish(Header::new(None, to), to).unwrap();
        archive::verify(to).unwrap().files.into_iter().map(|entry| entry.path).collect()
    }

    #[test]
    fn the_log_of_a_run_that_ends_during_a_backup_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let config = config(dir.path());
        let runs = config.home.join("runs");
        for name in ["runs/a/journal", "runs/a/state.json", "runs/b/journal", "config.json"] {
            std::fs::create_dir_all(config.home.join(name).parent().unwrap()).unwrap();
            std::fs::write(config.home.join(name), name).unwrap();
        }
        let content = Content::of(&config);
        let mut left_out = Vec::new();
        let listed = content.files(&mut left_out);
        std::fs::rename(runs.join("a/journal"), runs.join("a/journal.zst")).unwrap();
        std::fs::remove_dir_all(runs.join("b")).unwrap();
        let mut archive = Archive::create(&dir.path().join("body")).unwrap();
        take(&mut archive, &content, listed, &mut left_out).unwrap();
        let taken = names(archive, &dir.path().join("it"));
        assert_eq!(taken, ["config.json", "runs/a/state.json", "runs/a/journal.zst"]);
        assert_eq!(left_out, ["runs/b: it was removed while the backup was made"]);
    }

    #[test]
    fn a_backup_gets_its_name_without_a_second_link_and_never_replaces_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let (partial, file) = (dir.path().join("partial"), dir.path().join("it"));
        std::fs::write(&partial, "new").unwrap();
        publish(&partial, &file).unwrap();
        assert!(!partial.exists() && std::fs::metadata(&file).unwrap().nlink() == 1);
        std::fs::write(&partial, "newer").unwrap();
        assert_eq!(publish(&partial, &file).unwrap_err().kind(), Kind::Conflict);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn what_a_killed_backup_left_goes_with_the_next_one_and_what_a_living_one_makes_stays() {
        let dir = tempfile::tempdir().unwrap();
        let killed = dir.path().join("it.unfinished-0a1b2c3d");
        std::fs::create_dir(&killed).unwrap();
        std::fs::write(killed.join("body"), "half").unwrap();
        let living = Scratch::beside(&dir.path().join("it")).unwrap();
        std::fs::write(living.file("body"), "half").unwrap();
        drop(Scratch::beside(&dir.path().join("other")).unwrap());
        assert!(!killed.exists() && living.file("body").exists());
        drop(living);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
