//! Continuing a rebase that stopped, without trusting what it left behind.
//!
//! The state of a stopped rebase is where an agent writes, and git would run any program that it names. Invariant:
//! Forge reads it as text, takes nothing from it but ids of commits of the branch, and starts a fresh rebase with them.
//! Until that one has begun, the old state is kept aside and comes back after a crash.

use std::path::{Path, PathBuf};

use crate::command::Git;
use crate::commit::{add_all, is_staged};
use crate::history::is_object_id;
use crate::rebase::{Rebased, alone, conclude, quiet};
use crate::scratch::Scratch;
use crate::status::WorktreeStatus;
use crate::tree::{Tree, read_text};
use crate::{Committed, GitError, Repo};

/// As git names it.
const STATE: &str = "rebase-merge";
/// Where the state waits until the fresh rebase has begun.
const ASIDE: &str = "forge-rebase";
/// What git leaves of an operation beside its state.
const LEFTOVERS: &[&str] = &["CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "MERGE_MSG", "AUTO_MERGE"];

/// What is trusted of a stopped rebase.
struct Stopped {
    /// The commit that did not apply.
    at: String,
    /// Those that come after it.
    rest: Vec<String>,
}

impl Stopped {
    fn read(git_dir: &Path, branch: &str, now: &WorktreeStatus) -> Result<Self, String> {
        if let Some(on) = &now.branch {
            return Err(format!("HEAD is on '{on}'"));
        }
        let dir = git_dir.join(STATE);
        if !dir.is_dir() {
            return Err("it is not what git calls a merge rebase".to_owned());
        }
        let head_name = read_text(&dir.join("head-name"))?;
        if head_name.trim() != format!("refs/heads/{branch}") {
            return Err(format!("it belongs to '{}', not to '{branch}'", head_name.trim()));
        }
        let at = picks(&read_text(&dir.join("done"))?)?.pop().ok_or("none of it is done")?;
        Ok(Self { at, rest: picks(&read_text(&dir.join("git-rebase-todo"))?)? })
    }
}

/// The commits of a list of steps in which every step is a plain `pick`.
fn picks(text: &str) -> Result<Vec<String>, String> {
    let steps = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let read = |step: &str| {
        let mut words = step.split_whitespace();
        match (words.next(), words.next()) {
            (Some("pick" | "p"), Some(id)) if id.len() >= 40 && is_object_id(id) => Ok(id.to_owned()),
            _ => Err(format!("'{step}' is not a plain pick of a commit")),
        }
    };
    steps.map(read).collect()
}

/// Commits what was resolved and replays the rest of the branch onto it.
pub(crate) async fn carry_on(
    repo: &Repo,
    tree: &Tree,
    branch: &str,
    now: &WorktreeStatus,
) -> Result<Committed, GitError> {
    let strange = |reason: String| GitError::StrangeRebase { path: tree.path().to_owned(), reason };
    let stopped = Stopped::read(tree.git_dir(), branch, now).map_err(strange)?;
    let tip = repo.resolver().commit(&format!("refs/heads/{branch}")).await?;
    let tip = tip.ok_or_else(|| GitError::BranchMissing(branch.to_owned()))?;
    let ids: Vec<&str> = stopped.rest.iter().chain([&stopped.at]).map(String::as_str).collect();
    let others = Git::read(tree).args(["rev-list", "--max-count=1", "--stdin"]);
    let others = others.input(format!("{}\n^{tip}\n", ids.join("\n"))).answer().await?;
    if others.code != 0 || !others.stdout.is_empty() {
        return Err(strange(format!("it names commits that '{branch}' does not have")));
    }
    add_all(tree, None).await?;
    if is_staged(tree).await? {
        let args = ["commit", "-q", "--no-verify", "--no-gpg-sign", "--allow-empty", "--allow-empty-message"];
        quiet(repo, tree).await?.args(args).args(["-C", &stopped.at]).run_patiently().await?;
    }
    let onto = repo.head_of(tree.path()).await?;
    let scratch = Scratch::new(repo)?;
    let steps: String = stopped.rest.iter().map(|id| format!("pick {id}\n")).collect();
    let (steps, _) = scratch.write("steps", if steps.is_empty() { b"noop\n" } else { steps.as_bytes() })?;
    let rest: Vec<&str> = ["--no-walk"].into_iter().chain(ids).collect();
    let rebase = alone(repo, quiet(repo, tree).await?, &rest).await?;
    let args = ["rebase", "-q", "-i", "--empty=drop", "--no-stat", "--no-gpg-sign", "--onto"];
    let rebase = rebase.args(args).args([&onto, &tip, branch]);
    let rebase = rebase.env("GIT_SEQUENCE_EDITOR", r#"cp "$REBASE_STEPS""#).env("REBASE_STEPS", steps);
    let aside = Aside::put(tree.git_dir())?;
    let answer = rebase.answer_patiently().await;
    aside.settle(answer.as_ref().is_ok_and(|answer| answer.code == 0))?;
    let answer = answer?;
    match conclude(repo, tree, answer.code == 0).await? {
        Some(Rebased::Done { head }) => Ok(Committed::Commit(head)),
        Some(Rebased::Conflicts { files }) => Ok(Committed::Conflicts(files)),
        None => Err(answer.into_error()),
    }
}

/// The state that was put aside.
struct Aside {
    git_dir: PathBuf,
}

impl Aside {
    fn put(git_dir: &Path) -> Result<Self, GitError> {
        forget(git_dir, LEFTOVERS)?;
        let from = git_dir.join(STATE);
        std::fs::rename(&from, git_dir.join(ASIDE)).map_err(GitError::io(&from))?;
        Ok(Self { git_dir: git_dir.to_owned() })
    }

    /// Puts it back when no rebase has replaced it.
    fn settle(&self, is_done: bool) -> Result<(), GitError> {
        let (state, aside) = (self.git_dir.join(STATE), self.git_dir.join(ASIDE));
        match is_done || state.exists() {
            true => forget(&self.git_dir, &[ASIDE]),
            false => std::fs::rename(&aside, &state).map_err(GitError::io(&aside)),
        }
    }
}

/// Brings back a state that a crash left aside; one whose rebase ended meanwhile is removed.
pub(crate) fn bring_back(git_dir: &Path) -> Result<(), GitError> {
    let aside = Aside { git_dir: git_dir.to_owned() };
    match git_dir.join(ASIDE).exists() {
        true => aside.settle(is_attached(git_dir)),
        false => Ok(()),
    }
}

/// Whether such a state waits to be brought back.
pub(crate) fn is_aside(git_dir: &Path) -> bool {
    git_dir.join(ASIDE).exists() && !is_attached(git_dir)
}

fn is_attached(git_dir: &Path) -> bool {
    read_text(&git_dir.join("HEAD")).is_ok_and(|head| head.starts_with("ref:"))
}

/// Puts the worktree back on its branch and removes the state of the rebase. What git had stashed for it is kept as a
/// stash.
pub(crate) async fn leave(repo: &Repo, tree: &Tree, branch: &str, reset: bool) -> Result<(), GitError> {
    let git_dir = tree.git_dir();
    if reset {
        let checkout = quiet(repo, tree).await?.args(["checkout", "-q", "-f", branch, "--"]);
        checkout.run_patiently().await?;
    }
    let states = [STATE, "rebase-apply", ASIDE];
    for state in states {
        let Ok(stash) = read_text(&git_dir.join(state).join("autostash")) else { continue };
        if is_object_id(stash.trim()) {
            let store = ["stash", "store", "-q", "-m", "autostash of an aborted rebase", stash.trim()];
            // Git refuses what is not a stash.
            Git::write(tree).args(store).answer().await?;
        }
    }
    forget(git_dir, LEFTOVERS)?;
    forget(git_dir, &states)
}

fn forget(git_dir: &Path, names: &[&str]) -> Result<(), GitError> {
    for name in names {
        let path = git_dir.join(name);
        let removed = match std::fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(&path),
            Ok(_) => std::fs::remove_file(&path),
            Err(_) => continue,
        };
        removed.map_err(GitError::io(&path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::picks;

    #[test]
    fn only_plain_picks_are_steps() {
        let id = "83d869c4014685d016aac94dfc47e903a059bbbd";
        let fine = format!("# a comment\n\npick {id} a subject\np {id}\n");
        assert_eq!(picks(&fine).unwrap(), [id, id]);
        for step in [
            "exec touch x",
            "x touch x",
            "edit ID",
            "merge -C ID x",
            "pick HEAD",
            "pick 83d8",
            "break",
            "pick",
        ] {
            assert!(picks(&step.replace("ID", id)).is_err(), "{step}");
        }
    }
}
