//! Keep commits: a worktree, byte for byte, as an object of its repository.
//!
//! Owns: `refs/forge/keep/<owner>/<n>`. The tree of a keep commit has `work/` (the files), `admin/` (the private git
//! directory) and `staged/<stage>/` (the contents of the index); its message is JSON with what a tree cannot express;
//! its parents are the commits that only this worktree remembers.
//! Invariant: a reference exists only after every object was read back with the size seen on disk and the worktree was
//! found unchanged since.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::blocking;
use crate::command::Git;
use crate::scratch::Scratch;
use crate::snapshot::{Kind, Walk, escape, quote, to_text, walk};
use crate::tree::Tree;
use crate::{GitError, Kept, Owner, Repo};

const TRIES: usize = 4;
const TIME_LIMIT: Duration = Duration::from_secs(3600);
const MAX_PARENTS: usize = 500;
/// A head is a line; the reflog of HEAD has one for each command of a long life.
const MAX_HEAD_BYTES: u64 = 64 << 20;

/// Files of a private git directory that name commits.
const HEADS: &[&str] = &[
    "HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "FETCH_HEAD",
    "AUTO_MERGE",
    "BISECT_START",
    "logs/HEAD",
    "rebase-merge/orig-head",
    "rebase-merge/onto",
    "rebase-apply/orig-head",
    "rebase-apply/onto",
    "rebase-merge/done",
    "rebase-merge/git-rebase-todo",
];

/// What a tree cannot express.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub version: u32,
    pub owner: Owner,
    pub path: String,
    /// Name of the private directory under `worktrees/`.
    pub git_dir: Option<String>,
    pub head: Option<String>,
    pub branch: Option<String>,
    /// Directories that are empty or have unusual permissions.
    pub dirs: Vec<(String, u32)>,
    /// Files whose permissions are neither 644 nor 755.
    pub modes: Vec<(String, u32)>,
    pub caches: Vec<String>,
    /// Sockets, pipes and devices, which have no content.
    pub special: Vec<String>,
}

/// One file or link on its way into the tree.
struct Item {
    spelled: Vec<u8>,
    mode: &'static str,
    size: u64,
}

/// Saves the worktree under the next free keep reference of `owner`.
pub(crate) async fn keep(repo: &Repo, tree: &Tree, owner: Owner) -> Result<Kept, GitError> {
    let (worktree, git_dir) = (tree.path(), tree.private_dir());
    for _ in 0..TRIES {
        let staged = staged(tree).await?;
        let before = look(worktree, git_dir, &staged).await?;
        let Some(content) = write_tree(repo, worktree, git_dir, &before, &staged).await? else {
            continue;
        };
        if look(worktree, git_dir, &staged).await? != before {
            continue;
        }
        let meta = describe(tree, owner, &before).await?;
        let commit = commit(repo, &content, &meta, git_dir).await?;
        let reference = publish(repo, owner, &commit).await?;
        return Ok(Kept { reference, commit, trash: None });
    }
    let text = "is being written to: stop what runs in it and try again";
    Err(GitError::Busy(format!("{} {text}", worktree.display())))
}

/// The contents of the index: `<mode> <oid> <stage>\t<path>` records.
async fn staged(tree: &Tree) -> Result<Vec<Vec<u8>>, GitError> {
    let answer = Git::read(tree).args(["ls-files", "-s", "-z"]).answer().await?;
    // A broken index is still saved as a file.
    let records = answer.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    Ok(records.map(<[u8]>::to_vec).collect())
}

fn staged_path(record: &[u8]) -> Option<&[u8]> {
    record.iter().position(|byte| *byte == b'\t').map(|tab| &record[tab + 1..])
}

/// The walks over the worktree and its private directory.
async fn look(worktree: &Path, git_dir: Option<&Path>, staged: &[Vec<u8>]) -> Result<(Walk, Walk), GitError> {
    let mut tracked_dirs = HashSet::new();
    for path in staged.iter().filter_map(|record| staged_path(record)) {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        tracked_dirs.extend(path.ancestors().skip(1).map(Path::to_owned));
    }
    let (worktree, git_dir) = (worktree.to_owned(), git_dir.map(Path::to_owned));
    blocking(move || {
        let work = walk(&worktree, &|dir| tracked_dirs.contains(dir))?;
        let mut private = match &git_dir {
            Some(dir) => walk(dir, &|_| true)?,
            None => Walk::default(),
        };
        // A lock belongs to a process, not to the worktree.
        private.entries.retain(|entry| entry.path.extension().is_none_or(|ext| ext != "lock"));
        Ok((work, private))
    })
    .await
}

/// Writes all content and returns the tree, or `None` when a file changed size while it was read.
async fn write_tree(
    repo: &Repo,
    worktree: &Path,
    git_dir: Option<&Path>,
    walks: &(Walk, Walk),
    staged: &[Vec<u8>],
) -> Result<Option<String>, GitError> {
    let scratch = Scratch::new(repo)?;
    let mut items = Vec::new();
    let mut paths = Vec::new();
    let roots = [("work/", Some(worktree), &walks.0), ("admin/", git_dir, &walks.1)];
    for (prefix, root, walk) in roots {
        let Some(root) = root else { continue };
        for entry in &walk.entries {
            let full = root.join(&entry.path);
            let mut spelled = prefix.as_bytes().to_vec();
            spelled.extend_from_slice(&escape(&entry.path));
            let (mode, size, source) = match entry.kind {
                Kind::File if entry.mode & 0o111 != 0 => ("100755", entry.size, full),
                Kind::File => ("100644", entry.size, full),
                Kind::Link => {
                    let target = std::fs::read_link(&full).map_err(GitError::io(&full))?;
                    let (copy, size) =
                        scratch.write(&items.len().to_string(), target.as_os_str().as_bytes())?;
                    ("120000", size, copy)
                }
                Kind::Dir | Kind::Special => continue,
            };
            paths.extend_from_slice(&quote(&source));
            paths.push(b'\n');
            items.push(Item { spelled, mode, size });
        }
    }
    let Some(oids) = write_blobs(repo, paths, &items).await? else { return Ok(None) };
    let mut input = Vec::new();
    for (item, oid) in items.iter().zip(&oids) {
        input.extend_from_slice(format!("{} {oid} 0\t", item.mode).as_bytes());
        input.extend_from_slice(&item.spelled);
        input.push(0);
    }
    for record in staged {
        let Some(path) = staged_path(record) else { continue };
        let fields = String::from_utf8_lossy(&record[..record.len() - path.len() - 1]).into_owned();
        if let [mode, oid, stage] = fields.split(' ').collect::<Vec<_>>()[..] {
            input.extend_from_slice(format!("{mode} {oid} 0\tstaged/{stage}/").as_bytes());
            input.extend_from_slice(path);
            input.push(0);
        }
    }
    let index = scratch.path().join("index");
    let git = |args: &[&str]| {
        let git = Git::write(repo.store()).env("GIT_INDEX_FILE", &index).time_limit(TIME_LIMIT);
        git.option("core.protectNTFS=false").option("core.protectHFS=false").args(args)
    };
    git(&["update-index", "-z", "--index-info"]).input(input).run().await?;
    git(&["write-tree", "--missing-ok"]).text().await.map(Some)
}

/// Stores the files byte for byte and reads their sizes back.
async fn write_blobs(repo: &Repo, paths: Vec<u8>, items: &[Item]) -> Result<Option<Vec<String>>, GitError> {
    let args = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
    let hash = Git::write(repo.store()).args(args).input(paths).time_limit(TIME_LIMIT).answer().await?;
    if hash.code != 0 {
        // A file that vanished since the walk is a change, not a failure.
        let gone = hash.stderr.contains("No such file or directory");
        return if gone { Ok(None) } else { Err(hash.into_error()) };
    }
    let oids: Vec<String> = String::from_utf8_lossy(&hash.stdout).lines().map(str::to_owned).collect();
    let args = ["cat-file", "--batch-check=%(objectsize)"];
    let sizes =
        Git::read(repo.store()).args(args).input(oids.join("\n")).time_limit(TIME_LIMIT).text().await?;
    let mut sizes = sizes.lines();
    let agree = items.iter().all(|item| sizes.next().and_then(|size| size.parse().ok()) == Some(item.size));
    Ok((agree && oids.len() == items.len()).then_some(oids))
}

async fn describe(tree: &Tree, owner: Owner, walks: &(Walk, Walk)) -> Result<Meta, GitError> {
    let head = Git::read(tree).args(["rev-parse", "-q", "--verify", "HEAD^{commit}"]).answer().await?;
    let branch = Git::read(tree).args(["symbolic-ref", "-q", "--short", "HEAD"]).answer().await?;
    let line =
        |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).trim().to_owned()).filter(|s| !s.is_empty());
    let mut meta = Meta {
        version: 1,
        owner,
        path: to_text(tree.path().as_os_str().as_bytes()),
        git_dir: tree.private_dir().and_then(Path::file_name).map(|name| to_text(name.as_bytes())),
        head: line(&head.stdout),
        branch: line(&branch.stdout),
        dirs: Vec::new(),
        modes: Vec::new(),
        caches: walks.0.caches.iter().map(|path| to_text(path.as_os_str().as_bytes())).collect(),
        special: Vec::new(),
    };
    for (prefix, walk) in [("work", &walks.0), ("admin", &walks.1)] {
        let filled: HashSet<&Path> = walk.entries.iter().filter_map(|entry| entry.path.parent()).collect();
        for entry in &walk.entries {
            let path = to_text(Path::new(prefix).join(&entry.path).as_os_str().as_bytes());
            match entry.kind {
                Kind::Dir if entry.mode != 0o755 || !filled.contains(entry.path.as_path()) => {
                    meta.dirs.push((path, entry.mode));
                }
                Kind::File if entry.mode != 0o644 && entry.mode != 0o755 => {
                    meta.modes.push((path, entry.mode))
                }
                Kind::Special => meta.special.push(path),
                _ => {}
            }
        }
    }
    Ok(meta)
}

async fn commit(repo: &Repo, tree: &str, meta: &Meta, git_dir: Option<&Path>) -> Result<String, GitError> {
    let message = serde_json::to_string(meta).map_err(|error| GitError::io(repo.path())(error.into()))?;
    let mut args = vec!["commit-tree".to_owned(), "--no-gpg-sign".into(), tree.to_owned()];
    for parent in remembered(repo, meta, git_dir).await? {
        args.extend(["-p".to_owned(), parent]);
    }
    let identity = ["user.name=Forge".to_owned(), "user.email=forge@localhost".to_owned()];
    let commit = Git::write(repo.store()).options(&identity).option("i18n.commitEncoding=UTF-8");
    commit.args(args).args(["-F", "-"]).input(message).text().await
}

/// Commits that perhaps only this worktree leads to: its heads and the places where its HEAD was.
async fn remembered(repo: &Repo, meta: &Meta, git_dir: Option<&Path>) -> Result<Vec<String>, GitError> {
    let mut names = BTreeSet::new();
    for (dir, name) in git_dir.into_iter().flat_map(|dir| HEADS.iter().map(move |name| (dir, name))) {
        let text = forge_os::file::read(dir, Path::new(name), MAX_HEAD_BYTES).unwrap_or_default();
        let words = text.split(|byte| !byte.is_ascii_hexdigit()).rev();
        let ids =
            words.filter(|word| matches!(word.len(), 40 | 64) && word.iter().any(|digit| *digit != b'0'));
        names.extend(ids.take(MAX_PARENTS).map(|id| String::from_utf8_lossy(id).into_owned()));
    }
    let input = names.into_iter().collect::<Vec<_>>().join("\n");
    let args = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
    let known = Git::read(repo.store()).args(args).input(input).text().await?;
    let commits = known.lines().filter_map(|line| line.strip_suffix(" commit")).map(str::to_owned);
    // The head is first, so that the keep commit reads as a child of it.
    let mut parents: Vec<String> = meta.head.iter().cloned().collect();
    parents.extend(commits.filter(|commit| Some(commit) != meta.head.as_ref()).take(MAX_PARENTS));
    Ok(parents)
}

async fn publish(repo: &Repo, owner: Owner, commit: &str) -> Result<String, GitError> {
    let _writing = repo.writing().await;
    let next = references(repo, owner).await?.last().map_or(1, |(n, _)| n + 1);
    let reference = format!("{}{next}", prefix(owner));
    let zero = "0".repeat(commit.len());
    Git::write(repo.main()).args(["update-ref", &reference, commit, &zero]).run_patiently().await?;
    Ok(reference)
}

fn prefix(owner: Owner) -> String {
    format!("refs/forge/keep/{owner}/")
}

/// The owner's keep references by number, with their commits.
pub(crate) async fn references(repo: &Repo, owner: Owner) -> Result<Vec<(u64, String)>, GitError> {
    let prefix = prefix(owner);
    let args = ["for-each-ref", "--format=%(refname) %(objectname)", &prefix];
    let text = Git::read(repo.main()).args(args).text().await?;
    let read = |line: &str| {
        let (name, commit) = line.split_once(' ')?;
        Some((name.strip_prefix(&prefix)?.parse().ok()?, commit.to_owned()))
    };
    let mut found: Vec<(u64, String)> = text.lines().filter_map(read).collect();
    found.sort();
    Ok(found)
}
