//! Files that a project needs in each new worktree although git does not track them (`.env` and the like).
//!
//! Invariant: nothing is read from outside the project and nothing is written outside the worktree, whatever the entry,
//! a symbolic link or a glob says. A refused or missing entry is a warning and does not stop the rest.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::GitError;
use crate::base::blocking;

const MAX_FILES: usize = 20_000;
const MAX_BYTES: u64 = 2 << 30;

/// An entry, or a part of it, that was not copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyWarning {
    pub entry: String,
    pub reason: String,
}

/// Copies the comma separated relative paths, directories and globs of `spec` from the project to the worktree.
pub async fn copy_files(project: &Path, worktree: &Path, spec: &str) -> Result<Vec<CopyWarning>, GitError> {
    let project = std::fs::canonicalize(project).map_err(GitError::io(project))?;
    let worktree = std::fs::canonicalize(worktree).map_err(GitError::io(worktree))?;
    let spec = spec.to_owned();
    blocking(move || {
        let mut copying = Copying { project, worktree, files: 0, bytes: 0, warnings: Vec::new() };
        for entry in spec.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            copying.entry(entry);
        }
        Ok(copying.warnings)
    })
    .await
}

struct Copying {
    project: PathBuf,
    worktree: PathBuf,
    files: usize,
    bytes: u64,
    warnings: Vec<CopyWarning>,
}

impl Copying {
    fn warn(&mut self, entry: &str, reason: impl Into<String>) {
        self.warnings.push(CopyWarning { entry: entry.to_owned(), reason: reason.into() });
    }

    fn entry(&mut self, entry: &str) {
        if self.project == self.worktree {
            return self.warn(entry, "the project and the worktree are the same directory");
        }
        let relative = match plain_relative(entry) {
            Ok(relative) => relative,
            Err(reason) => return self.warn(entry, reason),
        };
        if self.project.join(&relative).symlink_metadata().is_ok() {
            return self.tree(entry, &relative);
        }
        if !entry.contains(['*', '?', '[', '{']) {
            return self.warn(entry, "no such file in the project");
        }
        let glob = match GlobBuilder::new(entry.trim_start_matches("./")).literal_separator(true).build() {
            Ok(glob) => glob.compile_matcher(),
            Err(error) => return self.warn(entry, format!("not a valid pattern: {error}")),
        };
        let matches = self.matches(entry, &glob);
        if matches.is_empty() {
            self.warn(entry, "no file in the project matches");
        }
        for path in matches {
            self.tree(entry, &path);
        }
    }

    fn matches(&mut self, entry: &str, glob: &globset::GlobMatcher) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![PathBuf::new()];
        let mut seen = 0;
        while let Some(dir) = open.pop() {
            let Ok(entries) = std::fs::read_dir(self.project.join(&dir)) else { continue };
            for item in entries.flatten() {
                seen += 1;
                if seen > MAX_FILES * 10 {
                    self.warn(entry, "the project has too many files to search them all");
                    return found;
                }
                let path = dir.join(item.file_name());
                if item.file_name() == ".git" {
                    continue;
                }
                if glob.is_match(&path) {
                    found.push(path);
                } else if item.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }

    /// Copies a file, or a directory with all below it.
    fn tree(&mut self, entry: &str, relative: &Path) {
        let mut open = vec![relative.to_owned()];
        while let Some(path) = open.pop() {
            let from = self.project.join(&path);
            match std::fs::canonicalize(&from) {
                Ok(real) if !real.starts_with(&self.project) => {
                    self.warn(entry, format!("{} leads outside the project", path.display()));
                    continue;
                }
                // A directory that contains the worktree would be copied into itself without end.
                Ok(real) if self.worktree.starts_with(&real) || real.starts_with(&self.worktree) => {
                    self.warn(entry, format!("{} contains the worktree itself", path.display()));
                    continue;
                }
                Ok(_) => {}
                Err(error) => {
                    self.warn(entry, format!("{}: {error}", path.display()));
                    continue;
                }
            }
            let is_dir = from.symlink_metadata().is_ok_and(|meta| meta.is_dir());
            if path.components().any(|part| part.as_os_str() == ".git") {
                self.warn(entry, format!("{} belongs to git", path.display()));
            } else if !is_dir {
                if let Err(reason) = self.file(&path) {
                    self.warn(entry, format!("{}: {reason}", path.display()));
                }
            } else if let Ok(entries) = std::fs::read_dir(&from) {
                open.extend(entries.flatten().map(|item| path.join(item.file_name())));
            }
            if self.files > MAX_FILES || self.bytes > MAX_BYTES {
                return self.warn(entry, format!("stopped after {MAX_FILES} files or {MAX_BYTES} bytes"));
            }
        }
    }

    fn file(&mut self, path: &Path) -> Result<(), String> {
        let to = self.worktree.join(path);
        let from = forge_os::file::open(&self.project, path).map_err(|error| error.to_string())?;
        let parent = to.parent().unwrap_or(&self.worktree);
        make_inside(&self.worktree, parent)?;
        // A link at the target could lead anywhere; it is left alone.
        if to.symlink_metadata().is_ok_and(|meta| !meta.is_file()) {
            return Err("the worktree has something else in that place".into());
        }
        self.files += 1;
        // One byte more than there is room for shows that it was too much.
        let left = (MAX_BYTES + 1).saturating_sub(self.bytes);
        self.bytes += copy(from, &to, left).map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// Copies a file with its permissions, up to a number of bytes.
fn copy(from: File, to: &Path, limit: u64) -> std::io::Result<u64> {
    let mode = from.metadata()?.permissions();
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut target = File::options().write(true).create(true).truncate(true).custom_flags(flags).open(to)?;
    target.set_permissions(mode)?;
    std::io::copy(&mut from.take(limit), &mut target)
}

/// Creates `dir` below `root` one step at a time, refusing to pass through a link.
fn make_inside(root: &Path, dir: &Path) -> Result<(), String> {
    let rest = dir.strip_prefix(root).map_err(|error| error.to_string())?;
    let mut at = root.to_owned();
    for part in rest.components() {
        at.push(part);
        match at.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Err(format!("{} in the worktree is not a directory", at.display())),
            Err(_) => std::fs::create_dir(&at).map_err(|error| error.to_string())?,
        }
    }
    Ok(())
}

fn plain_relative(entry: &str) -> Result<PathBuf, &'static str> {
    let mut path = PathBuf::new();
    for part in Path::new(entry).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => return Err("'..' is not allowed: name a path inside the project"),
            _ => return Err("absolute paths are not allowed: name a path inside the project"),
        }
    }
    match path.as_os_str().is_empty() {
        true => Err("it names the project itself: name a path inside it"),
        false => Ok(path),
    }
}
