//! What there was before a step, to be held against what there is after it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forge_tests::{git, out};

use super::world::World;

pub struct Ledger {
    /// Everything that a branch, a reflog, a worktree or a reference of Forge leads to.
    commits: BTreeSet<String>,
    /// Every file of every directory with its bytes; of a link, its target.
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Branches and the HEAD of every directory.
    heads: BTreeMap<PathBuf, String>,
}

impl Ledger {
    pub fn of(world: &World) -> Ledger {
        let commits = git(&world.repo, &["rev-list", "--all", "--reflog"]);
        let mut files = BTreeMap::new();
        let branches = git(&world.repo, &["for-each-ref", "refs/heads"]);
        let mut heads = BTreeMap::from([(PathBuf::from("branches"), branches)]);
        for root in world.paths() {
            collect(&root, &mut files);
            let head = git(&root, &["rev-parse", "HEAD", "--abbrev-ref", "HEAD"]);
            heads.insert(root, head);
        }
        Ledger { commits: commits.lines().map(str::to_owned).collect(), files, heads }
    }

    pub fn assert_nothing_lost(&self, after: &Ledger, world: &World, context: &str) {
        let lost: Vec<_> = self.commits.difference(&after.commits).collect();
        assert!(lost.is_empty(), "{context}\ncommits are lost: {lost:?}");
        let is_there = |(path, bytes): &(&PathBuf, &Vec<u8>)| after.files.get(*path) == Some(*bytes);
        let gone: Vec<_> = self.files.iter().filter(|file| !is_there(file)).collect();
        if gone.is_empty() {
            return;
        }
        let objects = git(&world.repo, &["rev-list", "--objects", "--all", "--reflog"]);
        let kept: BTreeSet<&str> = objects.lines().filter_map(|line| line.split(' ').next()).collect();
        for (path, bytes) in gone {
            // As it is, or as git stores it where line ends are converted.
            let raw = hash(&world.repo, bytes, &["--no-filters"]);
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let stored = || hash(&world.repo, bytes, &["--path", &name]);
            let is_kept = kept.contains(raw.as_str()) || kept.contains(stored().as_str());
            assert!(is_kept, "{context}\nthe content of {} is lost: {bytes:?}", path.display());
        }
    }

    pub fn assert_same(&self, after: &Ledger, context: &str) {
        // A refusal may bring back a worktree that was away, but changes nothing that was there.
        for (place, head) in &self.heads {
            assert_eq!(after.heads.get(place), Some(head), "{context}\na refusal moved {}", place.display());
        }
        for (path, bytes) in &self.files {
            assert_eq!(after.files.get(path), Some(bytes), "{context}\na refusal changed {}", path.display());
        }
    }
}

fn collect(dir: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if entry.file_name() == ".git" {
            continue;
        }
        if kind.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            files.insert(path, target.into_os_string().into_encoded_bytes());
        } else if kind.is_dir() && !path.join(".git").exists() {
            // A submodule keeps its own.
            collect(&path, files);
        } else if kind.is_file() {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
}

fn hash(repo: &Path, bytes: &[u8], args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(repo).arg("hash-object").args(args).arg("--stdin");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    out(&output).trim().to_owned()
}
