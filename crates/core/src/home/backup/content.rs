//! Which files of a home belong to a backup.
//!
//! Invariant: everything does but what is listed here, so a file that a later version adds is not forgotten. No
//! repository is entered and no link followed, but those directly below the home that lead to a file: people have their
//! settings in a repository and a link to them here. The database and the worktrees are recognised by their path, wherever in
//! the home they are; folders that hold one of them are taken apart, so that what else is in them belongs too.

use std::path::{Path, PathBuf};

use super::{DATABASE, folder_of, real};
use crate::Config;

/// What belongs to a process, to this machine or to nobody but the owner: these stay where they are, in a restore too.
const STAYS: &[&str] = &[
    "lock",
    "pid",
    "port",
    "address",
    "token",
    "login",
    "server.log",
    "tui.log",
    "backups",
    super::restore::PLAN,
];
const STAYS_PREFIX: &[&str] = &["before-restore-", super::restore::STAGING, "import-"];
/// What SQLite keeps beside a database.
pub(super) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// What it is called beside its place before it is there.
const COMING: [&str; 2] = [".new", ".restored"];

/// The files of one home.
pub(super) struct Content {
    pub(super) home: PathBuf,
    /// Within the home, by every path that leads there.
    databases: Vec<PathBuf>,
    worktree_bases: Vec<PathBuf>,
}

impl Content {
    pub(super) fn of(config: &Config) -> Self {
        let Config { home, database, worktree_base, .. } = config;
        let homes = [home.clone(), real(home)];
        let within = |paths: Vec<PathBuf>| {
            let found = paths.into_iter().flat_map(|path| homes.each_ref().map(|home| strip(&path, home)));
            found.flatten().collect()
        };
        let near = real(folder_of(database)).join(database.file_name().unwrap_or_default());
        let mut databases: Vec<PathBuf> = within(vec![database.clone(), near, real(database)]);
        // Its name in every backup.
        databases.push(DATABASE.into());
        let worktree_bases = within(vec![worktree_base.clone(), real(worktree_base)]);
        Self { home: home.clone(), databases, worktree_bases }
    }

    /// Names within the home and where the files are, in order. What cannot be included is reported.
    pub(super) fn files(&self, left_out: &mut Vec<String>) -> Vec<(String, PathBuf)> {
        let mut found = Vec::new();
        for (name, path) in self.entries(left_out) {
            match std::fs::metadata(&path) {
                Ok(meta) if meta.is_file() && !name.contains('/') => found.push((name, path)),
                _ => walk(&name, &path, &mut found, left_out),
            }
        }
        found
    }

    /// The files in a folder of the home as they are now.
    pub(super) fn files_in(&self, folder: &str) -> Vec<(String, PathBuf)> {
        let (mut found, mut left_out) = (Vec::new(), Vec::new());
        match folder.is_empty() || self.holds_what_stays(folder) {
            true => self.files(&mut left_out),
            false => {
                walk(folder, &self.home.join(folder), &mut found, &mut left_out);
                found
            }
        }
    }

    /// What a backup holds, and a restore replaces, in pieces that can be moved as a whole. The database is none of them.
    pub(super) fn entries(&self, left_out: &mut Vec<String>) -> Vec<(String, PathBuf)> {
        self.entries_like(&self.home, left_out)
    }

    /// The pieces below a folder that is to become this home, or a part of it.
    pub(super) fn entries_like(&self, folder: &Path, left_out: &mut Vec<String>) -> Vec<(String, PathBuf)> {
        let mut found = Vec::new();
        self.collect("", folder, &mut found, left_out);
        found
    }

    fn collect(
        &self,
        below: &str,
        folder: &Path,
        found: &mut Vec<(String, PathBuf)>,
        left_out: &mut Vec<String>,
    ) {
        for (name, path) in list(folder, left_out) {
            let whole = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
            if !may_return(&name) || self.stays(Path::new(&whole)) {
                continue;
            }
            let is_folder = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
            match (self.holds_what_stays(&whole), is_folder) {
                (false, _) => found.push((whole, path)),
                (true, true) => self.collect(&whole, &path, found, left_out),
                (true, false) => left_out.push(format!("{whole}: it is no folder")),
            }
        }
    }

    /// Whether something below this name stays where it is.
    pub(super) fn holds_what_stays(&self, name: &str) -> bool {
        let mut staying = self.databases.iter().chain(&self.worktree_bases);
        staying.any(|path| path != Path::new(name) && path.starts_with(name))
    }

    fn stays(&self, path: &Path) -> bool {
        let is_of = |database: &PathBuf| {
            let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (name, base) = (name(path), name(database));
            let is_beside = |rest: &str| {
                rest.is_empty() || BESIDE.contains(&rest) || COMING.iter().any(|word| rest.starts_with(word))
            };
            path.parent() == database.parent() && name.strip_prefix(&base).is_some_and(is_beside)
        };
        self.databases.iter().any(is_of) || self.worktree_bases.iter().any(|base| path == base)
    }
}

/// The rest of a path below a folder; none for the folder itself.
fn strip(path: &Path, folder: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(folder).ok()?;
    Some(rest.to_owned()).filter(|rest| !rest.as_os_str().is_empty())
}

/// Whether a name directly below a home may come out of a backup.
pub(super) fn may_return(name: &str) -> bool {
    !STAYS.contains(&name) && !STAYS_PREFIX.iter().any(|prefix| name.starts_with(prefix))
}

fn walk(name: &str, path: &Path, found: &mut Vec<(String, PathBuf)>, left_out: &mut Vec<String>) {
    let kind = std::fs::symlink_metadata(path).map(|meta| meta.file_type());
    // One that went away just now has to be asked for, so that it is not passed over without a word.
    let Some(kind) = kind.ok().filter(|kind| !kind.is_file()) else {
        return found.push((name.to_owned(), path.to_owned()));
    };
    if kind.is_symlink() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_and_the_worktrees_stay_out_wherever_in_the_home_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = super::super::restore::tests::config(dir.path());
        let home = config.home.clone();
        config.database = home.join("data/forge.db");
        config.worktree_base = home.join("big/trees");
        let out = [
            "data/forge.db",
            "data/forge.db-wal",
            "data/backups/copy",
            "big/trees/a/file",
            "db.sqlite",
            "token",
        ];
        let within = ["big/image", "config.json", "data/deep/forge.db", "data/note"];
        for name in within.iter().chain(&out) {
            std::fs::create_dir_all(folder_of(&home.join(name))).unwrap();
            std::fs::write(home.join(name), name).unwrap();
        }
        // By another path to the same place.
        std::os::unix::fs::symlink(&home, dir.path().join("link")).unwrap();
        let linked = Config { database: dir.path().join("link/data/forge.db"), ..config.clone() };
        for config in [config, linked] {
            let (mut left_out, content) = (Vec::new(), Content::of(&config));
            let names: Vec<_> = content.files(&mut left_out).into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, within);
            assert_eq!(left_out, Vec::<String>::new());
        }
    }
}
