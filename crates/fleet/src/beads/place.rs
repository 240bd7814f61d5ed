//! Where the beads of a directory are, and what kind of store holds them.
//!
//! Owns the search for `.beads` and the detection of its layout. Invariant: every caller below one repository, linked
//! worktrees included, gets the same absolute directory; private copies would be claimed twice.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use forge_os::file;
use serde_json::Value;

use super::error::BeadsError;

const MAX_REDIRECTS: usize = 4;
/// Settings and pointers are short.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// A folder with more entries has something else in it.
const MAX_NAMES: usize = 10_000;

/// A `.beads` directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Absolute, without links: the one value of `BEADS_DIR` for everybody.
    pub dir: PathBuf,
    pub found_by: FoundBy,
    pub layout: Layout,
    /// The file to read; it may not exist yet.
    pub jsonl: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundBy {
    /// `BEADS_DIR` names it.
    Environment,
    /// In the directory or above it.
    Walk,
    /// A `.beads/redirect` leads to it.
    Redirect,
    /// The directory is in a linked worktree without a store of its own.
    PrimaryCheckout,
}

/// What holds the beads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// A Dolt database: bd since 0.50. The JSONL is at most an export.
    Dolt,
    /// An SQLite file next to the JSONL, with the tool that left traces.
    Sqlite { by: Option<Tool> },
    /// No database here: a fresh clone, or Forge's own.
    Bare,
    /// A store of another program with the same directory name.
    Foreign(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Br,
    Bd,
}

impl Place {
    /// Searches from `start` upwards. `beads_dir` is the value of `BEADS_DIR`, for callers that honour it.
    pub fn find(start: &Path, beads_dir: Option<&OsStr>) -> Result<Option<Self>, BeadsError> {
        let start = std::fs::canonicalize(start).map_err(BeadsError::io(start))?;
        let named = beads_dir.filter(|dir| !dir.is_empty());
        let (dir, found_by) = match named {
            Some(named) => (directory_named(&start.join(named))?, FoundBy::Environment),
            None => match walk(&start)? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        let (dir, found_by) = match follow(&dir)? {
            Some(target) => (target, FoundBy::Redirect),
            None => (dir, found_by),
        };
        let dir = std::fs::canonicalize(&dir).map_err(BeadsError::io(&dir))?;
        let metadata = metadata(&dir)?;
        let jsonl = jsonl(&dir, &metadata);
        Ok(Some(Self { layout: layout(&dir, &metadata), jsonl, dir, found_by }))
    }

    /// The directory that the beads are about.
    pub fn root(&self) -> &Path {
        self.dir.parent().unwrap_or(&self.dir)
    }
}

fn directory_named(dir: &Path) -> Result<PathBuf, BeadsError> {
    if dir.is_dir() {
        return Ok(dir.to_owned());
    }
    let allowed = "it must name an existing .beads directory; correct or unset it".to_owned();
    Err(BeadsError::Invalid { name: "BEADS_DIR", value: dir.display().to_string(), allowed })
}

/// A small file of a `.beads` directory, if there is one.
pub(super) fn read_file(beads: &Path, name: &str) -> Result<Option<Vec<u8>>, BeadsError> {
    Ok(file::if_any(file::read(beads, Path::new(name), MAX_FILE_BYTES))?)
}

/// The nearest `.beads` at or above `start`. A linked worktree's copy gives way to the primary checkout's store,
/// unless it has a database or a redirect of its own.
fn walk(start: &Path) -> Result<Option<(PathBuf, FoundBy)>, BeadsError> {
    let mut copy = None;
    for dir in start.ancestors() {
        let beads = dir.join(".beads");
        if copy.is_none() && is_workspace(&beads) {
            if beads.join("redirect").exists() || layout(&beads, &metadata(&beads)?) != Layout::Bare {
                return Ok(Some((beads, FoundBy::Walk)));
            }
            copy = Some(beads);
        }
        if dir.join(".git").exists() {
            let primary = primary_checkout(dir).map(|primary| primary.join(".beads"));
            match primary.filter(|beads| is_workspace(beads)) {
                Some(primary) => return Ok(Some((primary, FoundBy::PrimaryCheckout))),
                None if copy.is_some() => break,
                None => {}
            }
        }
    }
    Ok(copy.map(|beads| (beads, FoundBy::Walk)))
}

/// The primary checkout of a linked worktree, read from the files that git keeps about it.
fn primary_checkout(worktree: &Path) -> Option<PathBuf> {
    let read = |folder: &Path, name: &str| file::read_text(folder, Path::new(name), MAX_FILE_BYTES).ok();
    let file = read(worktree, ".git")?;
    let private = worktree.join(file.strip_prefix("gitdir:")?.trim());
    let common = read(&private, "commondir")?;
    let common = std::fs::canonicalize(private.join(common.trim())).ok()?;
    // A bare repository has no checkout.
    (common.file_name() == Some(OsStr::new(".git"))).then(|| common.parent().map(Path::to_owned)).flatten()
}

/// bd has a registry with the same name in the home directory, so a directory counts only if it contains something of a
/// workspace, or nothing at all.
fn is_workspace(beads: &Path) -> bool {
    if !beads.is_dir() {
        return false;
    }
    let names: BTreeSet<OsString> = names(beads).collect();
    let is_part = |name: &OsString| {
        let path = Path::new(name);
        ["redirect", "metadata.json", "config.yaml", "dolt", "embeddeddolt", "proxieddb", "checkpoint"]
            .iter()
            .any(|part| path == Path::new(part))
            || path.extension().is_some_and(|ext| ext == "db" || ext == "jsonl")
    };
    names.is_empty() || names.iter().any(is_part)
}

fn names(beads: &Path) -> impl Iterator<Item = OsString> {
    let entries = std::fs::read_dir(beads).into_iter().flatten().take(MAX_NAMES).flatten();
    entries.map(|entry| entry.file_name())
}

/// The end of a chain of redirects, if there is one.
fn follow(dir: &Path) -> Result<Option<PathBuf>, BeadsError> {
    let mut at = dir.to_owned();
    for hop in 0..=MAX_REDIRECTS {
        let file = at.join("redirect");
        let Some(bytes) = read_file(&at, "redirect")? else {
            return Ok((hop > 0).then_some(at));
        };
        let text = String::from_utf8_lossy(&bytes);
        let target = Path::new(text.trim());
        // Relative to the directory that holds `.beads`; some write it relative to `.beads` itself.
        let bases = [at.parent().unwrap_or(&at), &at];
        let found = bases.iter().map(|base| base.join(target)).find(|target| target.is_dir());
        let Some(next) = found.filter(|_| !target.as_os_str().is_empty()) else {
            let allowed = format!("{} must name an existing .beads directory", file.display());
            return Err(BeadsError::Invalid { name: "redirect", value: text.trim().to_owned(), allowed });
        };
        at = next;
    }
    let why = format!("more than {MAX_REDIRECTS} redirects in a row; let the first name the last");
    Err(BeadsError::Unsupported { path: dir.join("redirect"), why })
}

fn metadata(dir: &Path) -> Result<Value, BeadsError> {
    for name in ["metadata.json", "config.json"] {
        let bytes = read_file(dir, name)?.unwrap_or_default();
        if let Ok(found) = serde_json::from_slice(&bytes) {
            return Ok(found);
        }
    }
    Ok(Value::Null)
}

fn layout(dir: &Path, metadata: &Value) -> Layout {
    let has = |name: &str| dir.join(name).exists();
    if metadata["backend"] == "dolt" || ["dolt", "embeddeddolt", "proxieddb"].iter().any(|name| has(name)) {
        return Layout::Dolt;
    }
    if has("checkpoint") && !has("issues.jsonl") {
        return Layout::Foreign("a store of checkpoints, which neither bd nor br knows");
    }
    if !names(dir).any(|name| Path::new(&name).extension().is_some_and(|ext| ext == "db")) {
        return Layout::Bare;
    }
    let starts = |start: &str| names(dir).any(|name| name.as_encoded_bytes().starts_with(start.as_bytes()));
    let by = if has(".br_history") || starts(".br-") || starts("beads.db-fsqlite") {
        Some(Tool::Br)
    } else if metadata.get("version").is_some() || has("bd.sock") || has("daemon.lock") {
        Some(Tool::Bd)
    } else {
        None
    };
    Layout::Sqlite { by }
}

/// bd 0.21 names a file in its metadata that it then does not use, so the name counts only when the file exists.
fn jsonl(dir: &Path, metadata: &Value) -> PathBuf {
    let named = metadata["jsonl_export"].as_str();
    let names = named.into_iter().chain(["issues.jsonl", "beads.jsonl"]);
    let found = names.map(|name| dir.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| dir.join("issues.jsonl"))
}
