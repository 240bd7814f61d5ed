//! The repository and the directories: sound, with everything that was ever written in them, and each merge once.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::chaos::check::Row;
use crate::chaos::ledger::Existence;
use crate::chaos::table::Promise;
use crate::chaos::witness::Witness;
use crate::chaos::world::Stage;
use crate::{git, text};

/// git itself finds nothing to complain about. Spares are made in the background, and what is being written looks broken
/// for a moment; damage stays.
pub fn sound(stage: &Stage<'_>) {
    for args in [&["fsck", "--full", "--no-dangling"][..], &["worktree", "list"]] {
        let complaint = || {
            let output = Command::new("git").arg("-C").arg(&stage.repo).args(args).output().expect("git");
            let words =
                [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            (!output.status.success()).then(|| format!("{}: {}", output.status, words.concat().trim()))
        };
        if let Some(words) = complaint().and_then(|first| Some(format!("{first}; again {}", complaint()?))) {
            stage.server.broke(Promise::Wrong, format!("git {args:?} in {}: {words}", stage.repo.display()));
        }
    }
}

/// Every file that an agent ever finished is in a directory, in the trash or in a commit; what a completed run left is
/// in a commit of a branch.
pub fn files(stage: &Stage<'_>, runs: &[Row]) {
    let all = Witness::all(&stage.root);
    let files: Vec<(&Witness, PathBuf)> =
        all.iter().flat_map(|witness| witness.files().into_iter().map(move |file| (witness, file))).collect();
    let hashes = hashes(&stage.repo, files.iter().map(|(_, file)| file.as_path()));
    let kept = objects(&stage.repo, &["--all", "--reflog"]);
    let committed = objects(&stage.repo, &["--branches"]);
    let places = places(&stage.server.worktrees);
    let completed: BTreeSet<&str> =
        runs.iter().filter(|run| run.status == "completed").map(|run| run.id.as_str()).collect();
    stage.server.tally().files += files.len();
    for ((witness, file), hash) in files.iter().zip(&hashes) {
        let name = file.file_name().unwrap_or_default();
        let bytes = std::fs::read(file).unwrap_or_default();
        let on_disk =
            || places.iter().any(|place| std::fs::read(place.join(name)).is_ok_and(|is| is == bytes));
        if !kept.contains(hash) && !on_disk() {
            let what = format!("{} of run {} is nowhere", name.display(), witness.run);
            stage.server.broke(Promise::Lost, what);
        }
        let is_tracked = file.extension().is_some_and(|extension| extension == "txt");
        if is_tracked && completed.contains(witness.run.as_str()) && !committed.contains(hash) {
            let what = format!("{} of completed run {} is in no branch", name.display(), witness.run);
            stage.server.broke(Promise::Lost, what);
        }
    }
}

/// Directories of attempts, and retired ones in the trash.
fn places(base: &Path) -> Vec<PathBuf> {
    let inside = |dir: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let trash = inside(&base.join(".forge-trash"));
    let trees = trash.iter().flat_map(|item| inside(item).into_iter().chain([item.clone()]));
    inside(base).into_iter().chain(trees).filter(|path| path.is_dir()).collect()
}

fn objects(repo: &Path, of: &[&str]) -> BTreeSet<String> {
    let objects = git(repo, &[&["rev-list", "--objects"], of].concat());
    objects.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn hashes<'a>(repo: &Path, files: impl Iterator<Item = &'a Path>) -> Vec<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(repo).args(["hash-object", "--no-filters", "--stdin-paths"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("git");
    let names: String = files.map(|file| format!("{}\n", file.display())).collect();
    let mut input = child.stdin.take().expect("its input");
    let writer = std::thread::spawn(move || input.write_all(names.as_bytes()));
    let output = child.wait_with_output().expect("git");
    writer.join().expect("the writer").expect("git reads");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Every acknowledged merge has its record and its commit, and no work lands twice.
pub async fn merges(stage: &Stage<'_>) {
    let landed = git(&stage.repo, &["rev-list", "--first-parent", "main"]);
    let landed: BTreeSet<&str> = landed.lines().collect();
    let known = stage.ledger().known().to_vec();
    for known in known.iter().filter(|known| known.existence == Existence::There) {
        let path = format!("/api/task-attempts/{}/branch-status", known.attempt);
        let Some(status) = stage.server.read(&path).await else { continue };
        let merges = status["merges"].as_array().cloned().unwrap_or_default();
        let commits: Vec<String> = merges.iter().map(|merge| text(&merge["merge_commit"])).collect();
        let of = format!("attempt {} (branch {})", known.attempt, known.branch);
        if commits.len() < known.merges {
            let what =
                format!("{of}: {} merges were acknowledged, {} are recorded", known.merges, commits.len());
            stage.server.broke(Promise::Lost, what);
        }
        for commit in commits.iter().filter(|commit| !landed.contains(commit.as_str())) {
            stage.server.broke(Promise::Lost, format!("{of}: merge {commit} is not on main"));
        }
        if commits.iter().collect::<BTreeSet<_>>().len() < commits.len() {
            stage.server.broke(Promise::Doubled, format!("{of}: a merge is recorded twice: {commits:?}"));
        }
    }
    let added = git(&stage.repo, &["log", "--diff-filter=A", "--name-only", "--format=", "main"]);
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for name in added.lines().filter(|name| !name.is_empty()) {
        *times.entry(name).or_default() += 1;
    }
    for (name, times) in times.iter().filter(|(_, times)| **times > 1) {
        stage.server.broke(Promise::Doubled, format!("{name} landed on main {times} times"));
    }
}
