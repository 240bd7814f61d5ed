//! Which files differ, and by how much.
//!
//! Owns: comparing a worktree (untracked files included) or a commit with what came before it.
//! Invariant: the worktree's own index is only read; untracked files are noted in a copy of it. Names are split at NUL
//! bytes, so no file name can be mistaken for something else.

use std::collections::HashMap;
use std::path::Path;

use forge_types::DiffChange;

use crate::branch::revision;
use crate::command::Git;
use crate::scratch::Scratch;
use crate::{GitError, Repo, admin};

/// One side of a change; `oid` is absent when the content lies only in the working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub oid: Option<String>,
    pub size: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    pub change: DiffChange,
    pub old_path: Option<String>,
    pub new_path: Option<String>,
    pub old: Option<Blob>,
    pub new: Option<Blob>,
    /// Absent for binary files, like `deletions`.
    pub additions: Option<u64>,
    pub deletions: Option<u64>,
    pub binary: bool,
}

impl FileDiff {
    /// The path under which clients keep this file.
    pub fn key(&self) -> &str {
        self.new_path.as_deref().or(self.old_path.as_deref()).unwrap_or_default()
    }
}

const FORMAT: &[&str] = &[
    "--raw",
    "--numstat",
    "-z",
    "-M",
    "--abbrev=64",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
];

/// The working tree, untracked files included, against `merge_base`.
pub async fn diff_worktree(
    repo: &Repo,
    worktree: &Path,
    merge_base: &str,
) -> Result<Vec<FileDiff>, GitError> {
    let git_dir = admin::private_dir(worktree).unwrap_or_else(|| worktree.join(".git"));
    let scratch = Scratch::new(repo)?;
    let index = scratch.path().join("index");
    match std::fs::copy(git_dir.join("index"), &index) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(GitError::io(&git_dir)(error));
        }
        _ => {}
    }
    // Larger files are told as binary instead of being read line by line.
    let git = |args: &[&str]| {
        Git::read(worktree).option("core.bigFileThreshold=16m").env("GIT_INDEX_FILE", &index).args(args)
    };
    let untracked = git(&["ls-files", "-o", "--exclude-standard", "-z"]).run().await?;
    // A nested repository ends in '/' and is not this repository's content.
    let files = untracked.split(|byte| *byte == 0).filter(|path| !path.is_empty() && !path.ends_with(b"/"));
    let files: Vec<u8> = files.flat_map(|path| path.iter().copied().chain([0])).collect();
    if !files.is_empty() {
        let note = ["add", "-N", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul"];
        // A file that vanished meanwhile is an error of its own only.
        git(&note).env("GIT_LITERAL_PATHSPECS", "1").input(files).answer().await?;
    }
    let diff = git(&["diff", "--ignore-submodules=dirty"]).args(FORMAT).args([revision(merge_base)?, "--"]);
    let bytes = diff.run().await?;
    measure(repo, Some(worktree), read(&bytes)).await
}

/// A commit against its first parent.
pub async fn diff_commit(repo: &Repo, commit: &str) -> Result<Vec<FileDiff>, GitError> {
    let show = Git::read(repo.path()).args(["show", "--format=", "-m", "--first-parent"]).args(FORMAT);
    let bytes = show.args([revision(commit)?, "--"]).run().await?;
    measure(repo, None, read(&bytes)).await
}

/// A raw record: what git knows before sizes are looked up.
struct Raw {
    modes: (String, String),
    oids: (String, String),
    status: u8,
    old_path: Vec<u8>,
    new_path: Vec<u8>,
    counts: Option<(u64, u64)>,
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
            // A rename: old and new path follow as fields of their own.
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

/// Adds sizes and names the kind of change.
async fn measure(repo: &Repo, worktree: Option<&Path>, raws: Vec<Raw>) -> Result<Vec<FileDiff>, GitError> {
    let is_blob = |mode: &str, oid: &str| mode != "000000" && mode != "160000" && !is_zero(oid);
    let sides =
        |raw: &Raw| [(raw.modes.0.clone(), raw.oids.0.clone()), (raw.modes.1.clone(), raw.oids.1.clone())];
    let wanted: Vec<String> =
        raws.iter().flat_map(sides).filter(|(mode, oid)| is_blob(mode, oid)).map(|(_, oid)| oid).collect();
    let sizes = sizes(repo, wanted).await?;
    let blob = |mode: &str, oid: &str, path: &[u8]| match mode {
        "000000" => None,
        // Rename detection hashes files of the working tree without storing them.
        _ if is_zero(oid) || (worktree.is_some() && !sizes.contains_key(oid) && mode != "160000") => {
            let size = worktree.and_then(|root| std::fs::symlink_metadata(root.join(to_path(path))).ok());
            Some(Blob { oid: None, size: size.map_or(0, |meta| meta.len()) })
        }
        _ => Some(Blob { oid: Some(oid.to_owned()), size: sizes.get(oid).copied().unwrap_or(0) }),
    };
    let files = raws.into_iter().map(|raw| {
        let only_mode = raw.counts == Some((0, 0)) || raw.oids.0 == raw.oids.1;
        let change = match raw.status {
            b'A' => DiffChange::Added,
            b'D' => DiffChange::Deleted,
            b'R' => DiffChange::Renamed,
            b'C' => DiffChange::Copied,
            b'M' if only_mode && raw.modes.0 != raw.modes.1 => DiffChange::PermissionChange,
            _ => DiffChange::Modified,
        };
        let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        FileDiff {
            old_path: (change != DiffChange::Added).then(|| text(&raw.old_path)),
            new_path: (change != DiffChange::Deleted).then(|| text(&raw.new_path)),
            old: blob(&raw.modes.0, &raw.oids.0, &raw.old_path),
            new: blob(&raw.modes.1, &raw.oids.1, &raw.new_path),
            additions: raw.counts.map(|counts| counts.0),
            deletions: raw.counts.map(|counts| counts.1),
            binary: raw.counts.is_none(),
            change,
        }
    });
    Ok(files.collect())
}

async fn sizes(repo: &Repo, oids: Vec<String>) -> Result<HashMap<String, u64>, GitError> {
    if oids.is_empty() {
        return Ok(HashMap::new());
    }
    let args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
    let text = Git::read(repo.common_dir()).args(args).input(oids.join("\n")).text().await?;
    let read =
        |line: &str| line.split_once(' ').and_then(|(oid, size)| Some((oid.to_owned(), size.parse().ok()?)));
    Ok(text.lines().filter_map(read).collect())
}

fn is_zero(oid: &str) -> bool {
    oid.bytes().all(|digit| digit == b'0')
}

pub(crate) fn to_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}
