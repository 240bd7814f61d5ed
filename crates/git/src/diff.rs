//! Which files differ, and by how much.
//!
//! Owns: comparing a worktree (untracked files included) or a commit with what came before it.
//! Invariant: the worktree's own index is only read; untracked files are added to a copy of it. Names are split at NUL
//! bytes, so no file name can be confused with something else.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use forge_types::DiffChange;
use serde::{Deserialize, Serialize};

use crate::branch::revision;
use crate::command::Git;
use crate::counted::rules_of;
use crate::scratch::Scratch;
use crate::tree::Tree;
use crate::{GitError, Repo};

/// One side of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// Absent when git has not stored the content; it may be missing from the store when `modified` is present.
    pub oid: Option<String>,
    /// Known for files of the working tree.
    pub size: Option<u64>,
    /// When the file in the working tree was last written; absent when the content is in the repository.
    pub modified: Option<SystemTime>,
}

/// Whether lines are counted, which means reading every changed file twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Counting {
    Count,
    Skip,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    pub change: DiffChange,
    pub old_path: Option<String>,
    pub new_path: Option<String>,
    pub old: Option<Blob>,
    pub new: Option<Blob>,
    /// Absent for binary files and when lines were not counted, like `deletions`.
    pub additions: Option<u64>,
    pub deletions: Option<u64>,
    /// Known only when lines were counted.
    pub binary: bool,
    pub mode_changed: bool,
}

impl FileDiff {
    /// The path under which clients keep this file.
    pub fn key(&self) -> &str {
        self.new_path.as_deref().or(self.old_path.as_deref()).unwrap_or_default()
    }
}

const FORMAT: &[&str] = &[
    "--raw",
    "-z",
    "-M",
    "--abbrev=64",
    "--no-ext-diff",
    "--no-textconv",
    "--submodule=short",
    "--no-color",
    "--no-relative",
];

/// A few files are counted by name; more than that with all others.
const RECOUNTED_MAX: usize = 100;

/// The working tree, untracked files included, against `merge_base`.
pub async fn diff_worktree(
    repo: &Repo,
    worktree: &Path,
    merge_base: &str,
    counting: Counting,
) -> Result<Vec<FileDiff>, GitError> {
    let index = NotedIndex::open(repo, worktree).await?;
    let base = revision(merge_base)?;
    let raws = match counting {
        Counting::Skip => read(&index.diff().args([base, "--"]).run().await?),
        Counting::Count => count(repo, worktree, &index, base).await?,
    };
    Ok(name_changes(Some(worktree), raws, counting))
}

async fn count(repo: &Repo, worktree: &Path, index: &NotedIndex, base: &str) -> Result<Vec<Raw>, GitError> {
    let raws = match recount(repo, worktree, index, base).await? {
        Some(raws) => raws,
        None => read(&index.diff().args(["--numstat", base, "--"]).run().await?),
    };
    repo.counted().keep(worktree, rules_of(repo, base, &raws), &raws);
    Ok(raws)
}

/// Counts what changed in a large diff since the last look; `None` where that is not known, or too much.
async fn recount(
    repo: &Repo,
    worktree: &Path,
    index: &NotedIndex,
    base: &str,
) -> Result<Option<Vec<Raw>>, GitError> {
    if !repo.counted().knows(worktree) {
        return Ok(None);
    }
    let mut raws = read(&index.diff().args([base, "--"]).run().await?);
    let Some(rules) = rules_of(repo, base, &raws) else { return Ok(None) };
    let unknown = repo.counted().fill(worktree, rules, &mut raws);
    // Which file a renamed one comes from depends on all others.
    if unknown.len() > RECOUNTED_MAX || unknown.iter().any(|at| matches!(raws[*at].status, b'R' | b'C')) {
        return Ok(None);
    }
    if !unknown.is_empty() {
        let paths = unknown.iter().map(|at| to_path(&raws[*at].new_path));
        let some = index.diff().args(["--numstat", "--no-renames", base, "--"]).args(paths);
        let some = read(&some.env("GIT_LITERAL_PATHSPECS", "1").run().await?);
        for at in unknown {
            let raw = &mut raws[at];
            let is_same = |one: &&Raw| one.new_path == raw.new_path && one.oids == raw.oids;
            // An agent may have changed it between the two.
            let Some(counted) = some.iter().find(is_same) else { return Ok(None) };
            raw.counts = counted.counts;
        }
    }
    Ok(Some(raws))
}

/// A worktree's index when there are no untracked files, else a copy of it that includes them.
pub(crate) struct NotedIndex {
    tree: Tree,
    /// Where the copy is, and what contains it.
    copy: Option<(PathBuf, Scratch)>,
}

impl NotedIndex {
    pub async fn open(repo: &Repo, worktree: &Path) -> Result<Self, GitError> {
        let mut noted = Self { tree: repo.tree(worktree)?, copy: None };
        let list = ["ls-files", "-o", "--exclude-standard", "-z"];
        let untracked = noted.git().args(list).run().await?;
        // A nested repository ends in '/' and is not this repository's content.
        let files =
            untracked.split(|byte| *byte == 0).filter(|path| !path.is_empty() && !path.ends_with(b"/"));
        let files: Vec<u8> = files.flat_map(|path| path.iter().copied().chain([0])).collect();
        if !files.is_empty() {
            let scratch = Scratch::new(repo)?;
            noted.copy = Some((scratch.copy_index(noted.tree.git_dir()).await?, scratch));
            let note = ["add", "-N", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul"];
            let note = noted.git().args(note).env("GIT_LITERAL_PATHSPECS", "1");
            // A file that vanished meanwhile fails alone.
            note.input(files).answer().await?;
        }
        Ok(noted)
    }

    /// A reading git that uses this index. Larger files are reported as binary instead of being read line by line.
    pub fn git(&self) -> Git {
        let git = Git::read(&self.tree).option("core.bigFileThreshold=16m");
        match &self.copy {
            Some((file, _)) => git.env("GIT_INDEX_FILE", file),
            None => git,
        }
    }

    fn diff(&self) -> Git {
        self.git().args(["diff", "--ignore-submodules=dirty"]).args(FORMAT)
    }
}

/// A commit against its first parent.
pub async fn diff_commit(repo: &Repo, commit: &str, counting: Counting) -> Result<Vec<FileDiff>, GitError> {
    let show = Git::read(repo.main()).args(["show", "--format=", "-m", "--first-parent"]).args(FORMAT);
    let bytes = show.args(counting.option()).args([revision(commit)?, "--"]).run().await?;
    Ok(name_changes(None, read(&bytes), counting))
}

/// One commit against another.
pub async fn diff_between(
    repo: &Repo,
    from: &str,
    to: &str,
    counting: Counting,
) -> Result<Vec<FileDiff>, GitError> {
    let diff = Git::read(repo.main()).args(["diff"]).args(FORMAT).args(counting.option());
    let bytes = diff.args([revision(from)?, revision(to)?, "--"]).run().await?;
    Ok(name_changes(None, read(&bytes), counting))
}

impl Counting {
    fn option(self) -> Option<&'static str> {
        (self == Counting::Count).then_some("--numstat")
    }
}

/// A raw record, as git prints it.
pub(crate) struct Raw {
    modes: (String, String),
    pub oids: (String, String),
    status: u8,
    pub old_path: Vec<u8>,
    pub new_path: Vec<u8>,
    pub counts: Option<(u64, u64)>,
}

impl Raw {
    /// Whether git has stored the contents of both sides, so that their ids stand for them.
    pub fn is_stored(&self) -> bool {
        let side = |mode: &str, oid: &str| mode == "000000" || !is_zero(oid);
        side(&self.modes.0, &self.oids.0) && side(&self.modes.1, &self.oids.1)
    }
}

/// Reads `--raw --numstat -z`: first all raw records, then the counts in the same order.
fn read(bytes: &[u8]) -> Vec<Raw> {
    let mut found: Vec<Raw> = Vec::new();
    let mut counted = 0;
    let mut fields = bytes.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    while let Some(field) = fields.next() {
        let field = field.strip_prefix(b"\n").unwrap_or(field);
        if let Some(head) = field.strip_prefix(b":") {
            let head = String::from_utf8_lossy(head).into_owned();
            let [old_mode, new_mode, old_oid, new_oid, status] = head.split(' ').collect::<Vec<_>>()[..]
            else {
                continue;
            };
            let status = status.bytes().next().unwrap_or(b'M');
            let old_path = fields.next().unwrap_or_default().to_vec();
            let new_path = match status {
                b'R' | b'C' => fields.next().unwrap_or_default().to_vec(),
                _ => old_path.clone(),
            };
            // An unmerged path comes a second time with its real change.
            if status != b'U' {
                let modes = (old_mode.to_owned(), new_mode.to_owned());
                let oids = (old_oid.to_owned(), new_oid.to_owned());
                found.push(Raw { modes, oids, status, old_path, new_path, counts: None });
            }
            continue;
        }
        let mut parts = field.splitn(3, |byte| *byte == b'\t');
        let mut count = || std::str::from_utf8(parts.next()?).ok()?.parse().ok();
        let counts = match (count(), count()) {
            (Some(additions), Some(deletions)) => Some((additions, deletions)),
            _ => None,
        };
        let mut path = parts.next().unwrap_or_default();
        if path.is_empty() {
            // A rename: old and new path follow as separate fields.
            fields.next();
            path = fields.next().unwrap_or_default();
        }
        let rest = &mut found[counted..];
        if let Some(at) = rest.iter().position(|raw| raw.new_path == path) {
            rest[at].counts = counts;
            counted += at + 1;
        }
    }
    found
}

/// Determines the kind of each change. The new side of a worktree is read from the worktree, and measured there;
/// looking up the size of a stored object costs as much as reading it, so that is left to whoever reads it.
fn name_changes(worktree: Option<&Path>, raws: Vec<Raw>, counting: Counting) -> Vec<FileDiff> {
    let stored = |mode: &str, oid: &str| match mode {
        "000000" => None,
        _ => Some(Blob { oid: Some(oid.to_owned()), size: None, modified: None }),
    };
    let present = |root: &Path, mode: &str, oid: &str, path: &[u8]| {
        let meta = std::fs::symlink_metadata(root.join(to_path(path))).ok();
        let modified = meta.as_ref().and_then(|meta| meta.modified().ok()).or(Some(SystemTime::UNIX_EPOCH));
        let oid = (!is_zero(oid)).then(|| oid.to_owned());
        let size = Some(meta.map_or(0, |meta| meta.len()));
        (mode != "000000").then_some(Blob { oid, size, modified })
    };
    let files = raws.into_iter().map(|raw| {
        let only_mode = raw.counts == Some((0, 0)) || raw.oids.0 == raw.oids.1;
        let mode_changed = raw.modes.0 != raw.modes.1;
        let change = match raw.status {
            b'A' => DiffChange::Added,
            b'D' => DiffChange::Deleted,
            b'R' => DiffChange::Renamed,
            b'C' => DiffChange::Copied,
            b'M' if only_mode && mode_changed => DiffChange::PermissionChange,
            _ => DiffChange::Modified,
        };
        let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        FileDiff {
            old_path: (change != DiffChange::Added).then(|| text(&raw.old_path)),
            new_path: (change != DiffChange::Deleted).then(|| text(&raw.new_path)),
            old: stored(&raw.modes.0, &raw.oids.0),
            new: match worktree {
                Some(root) if raw.modes.1 != "160000" => {
                    present(root, &raw.modes.1, &raw.oids.1, &raw.new_path)
                }
                _ => stored(&raw.modes.1, &raw.oids.1),
            },
            additions: raw.counts.map(|counts| counts.0),
            deletions: raw.counts.map(|counts| counts.1),
            binary: counting == Counting::Count && raw.counts.is_none(),
            mode_changed,
            change,
        }
    });
    files.collect()
}

fn is_zero(oid: &str) -> bool {
    oid.bytes().all(|digit| digit == b'0')
}

pub(crate) fn to_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}
