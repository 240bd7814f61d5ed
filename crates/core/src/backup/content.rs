//! Which files of a home belong to a backup.
//!
//! Invariant: everything does but what is listed here, so a file that a later version adds is not forgotten. No link is
//! followed, and no repository is entered.

use std::path::{Path, PathBuf};

use super::DATABASE;
use crate::Config;

/// What belongs to a process, to this machine or to nobody but the owner: these stay where they are, in a restore too.
const STAYS: &[&str] =
    &["lock", "pid", "port", "token", "login", "server.log", "tui.log", "backups", super::restore::PLAN];
const STAYS_PREFIX: &[&str] = &["before-restore-", super::restore::STAGING, "import-"];
/// What SQLite keeps beside a database.
pub(super) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The files of one home.
pub(super) struct Content {
    pub(super) home: PathBuf,
    database: PathBuf,
    worktree_base: PathBuf,
}

impl Content {
    pub(super) fn of(config: &Config) -> Self {
        let Config { home, database, worktree_base, .. } = config;
        Self { home: home.clone(), database: database.clone(), worktree_base: worktree_base.clone() }
    }

    /// Names within the home and where the files are, in order. What cannot be taken along is told.
    pub(super) fn files(&self, left_out: &mut Vec<String>) -> Vec<(String, PathBuf)> {
        let mut found = Vec::new();
        for (name, path) in self.entries(left_out) {
            match std::fs::metadata(&path) {
                // People have their settings in a repository and a link to them here.
                Ok(meta) if meta.is_file() => found.push((name, path)),
                _ => walk(&name, &path, &mut found, left_out),
            }
        }
        found
    }

    /// The names directly below the home that a backup holds, and a restore replaces. The database is not one of them.
    pub(super) fn entries(&self, left_out: &mut Vec<String>) -> Vec<(String, PathBuf)> {
        list(&self.home, left_out).into_iter().filter(|(name, path)| self.belongs(name, path)).collect()
    }

    fn belongs(&self, name: &str, path: &Path) -> bool {
        let of_database = |base: &str| {
            let rest = name.strip_prefix(base);
            rest.is_some_and(|rest| rest.is_empty() || BESIDE.contains(&rest) || rest.starts_with(".new"))
        };
        may_return(name)
            && !of_database(DATABASE)
            && !of_database(&file_name(&self.database))
            && !self.worktree_base.starts_with(path)
    }
}

/// Whether a name directly below a home may come out of a backup.
pub(super) fn may_return(name: &str) -> bool {
    !STAYS.contains(&name) && !STAYS_PREFIX.iter().any(|prefix| name.starts_with(prefix))
}

fn walk(name: &str, path: &Path, found: &mut Vec<(String, PathBuf)>, left_out: &mut Vec<String>) {
    let Ok(kind) = std::fs::symlink_metadata(path).map(|meta| meta.file_type()) else { return };
    if kind.is_file() {
        found.push((name.to_owned(), path.to_owned()));
    } else if kind.is_symlink() {
        left_out.push(format!("{name}: it is a link"));
    } else if kind.is_dir() && path.join(".git").exists() {
        left_out.push(format!("{name}: it is a repository"));
    } else if kind.is_dir() {
        for (below, path) in list(path, left_out) {
            walk(&format!("{name}/{below}"), &path, found, left_out);
        }
    }
}

fn list(folder: &Path, left_out: &mut Vec<String>) -> Vec<(String, PathBuf)> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            left_out.push(format!("{}: {error}", folder.display()));
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        match entry.file_name().into_string() {
            Ok(name) => found.push((name, entry.path())),
            Err(_) => left_out.push(format!("{}: its name is not UTF-8", entry.path().display())),
        }
    }
    found.sort();
    found
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
