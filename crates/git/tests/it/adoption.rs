//! Worktrees of other programs: adopted as they are, or released where nothing is lost.

use std::path::{Path, PathBuf};

use forge_git::{GitError, adopt, is_strange, list, release, retire, strange_worktree};
use forge_types::AttemptId;
use pretty_assertions::assert_eq;

use crate::fixture::{Fixture, git, owner, read, write};

const BRANCH: &str = "other/work";

/// A worktree that another program made, with staged, unstaged and untracked work.
fn other(f: &Fixture, path: &Path) -> PathBuf {
    git(&f.project(), &["worktree", "add", "-q", "-b", BRANCH, path.to_str().unwrap()]);
    write(&path.join("staged.txt"), "staged");
    git(path, &["add", "staged.txt"]);
    write(&path.join("a.txt"), "changed\n");
    write(&path.join("new.txt"), "new");
    std::fs::canonicalize(path).unwrap()
}

fn state(path: &Path) -> (String, String, String) {
    (
        git(path, &["status", "--porcelain=v2", "--branch"]),
        read(&path.join("a.txt")),
        read(&path.join("new.txt")),
    )
}

#[tokio::test]
async fn a_worktree_elsewhere_moves_below_the_base_with_all_that_is_in_it() {
    let f = Fixture::new().await;
    let from = other(&f, &f.dir.path().join("elsewhere"));
    let before = state(&from);
    let id = AttemptId::random();
    assert!(is_strange(&f.base, owner(id), &from));
    assert_eq!(strange_worktree(&f.repo, &f.base, BRANCH, None).as_ref(), Some(&from));
    let to = f.base.path().join("here");
    let at = adopt(&f.repo, &f.base, (owner(id), None), BRANCH, &from, &to).await.unwrap();
    assert_eq!((at.as_path(), from.exists(), state(&to)), (to.as_path(), false, before));
    assert!(!is_strange(&f.base, owner(id), &to) && is_strange(&f.base, owner(AttemptId::random()), &to));
    assert_eq!(strange_worktree(&f.repo, &f.base, BRANCH, None), None);
    let key = format!("branch.{BRANCH}.forgeAttempt");
    assert_eq!(git(&f.project(), &["config", &key]), id.to_string());
    assert!(git(&f.project(), &["worktree", "list"]).contains("worktrees/here"));
    let listed = list(&f.base).await.unwrap();
    assert_eq!(listed[0].mark.as_ref().map(|mark| mark.owner), Some(owner(id)));
    // From now on it is like any other.
    retire(&f.repo, &f.base, owner(id), &to).await.unwrap();
    assert!(!to.exists());
}

#[tokio::test]
async fn a_worktree_below_the_base_stays_and_an_adoption_that_was_cut_off_goes_on() {
    let f = Fixture::new().await;
    f.base.make().unwrap();
    let from = other(&f, &f.base.path().join("there"));
    let before = state(&from);
    let id = AttemptId::random();
    let to = f.base.path().join("not-used");
    let at = adopt(&f.repo, &f.base, (owner(id), None), BRANCH, &from, &to).await.unwrap();
    assert_eq!((at.file_name(), to.exists(), state(&from)), (from.file_name(), false, before.clone()));
    let again = adopt(&f.repo, &f.base, (owner(id), None), BRANCH, &from, &to).await;
    assert!(matches!(again, Err(GitError::NotForges { .. })), "{again:?}");

    // It was moved, and git's record was not updated any more.
    let late = f.base.path().join("late");
    std::fs::rename(&from, &late).unwrap();
    adopt(&f.repo, &f.base, (owner(id), None), BRANCH, &from, &late).await.unwrap();
    assert_eq!(state(&late), before);
}

#[tokio::test]
async fn only_what_is_nobodys_and_on_the_branch_is_adopted() {
    let f = Fixture::new().await;
    let id = AttemptId::random();
    let to = f.base.path().join("to");
    let (_, ours) = f.start("Ours").await;
    let main = f.project();
    let elsewhere = other(&f, &f.dir.path().join("elsewhere"));
    for (path, branch) in [(&ours.path, ours.branch.as_str()), (&main, "main"), (&elsewhere, "main")] {
        let refused = adopt(&f.repo, &f.base, (owner(id), None), branch, path, &to).await;
        assert!(
            matches!(refused, Err(GitError::NotForges { .. } | GitError::OffBranch { .. })),
            "{refused:?}"
        );
    }
    git(&main, &["worktree", "lock", elsewhere.to_str().unwrap()]);
    let locked = adopt(&f.repo, &f.base, (owner(id), None), BRANCH, &elsewhere, &to).await;
    assert!(locked.unwrap_err().to_string().contains("locked"));
    assert!(elsewhere.exists() && !to.exists());
}

#[tokio::test]
async fn a_worktree_is_let_go_only_when_nothing_in_it_is_uncommitted() {
    let f = Fixture::new().await;
    let path = other(&f, &f.dir.path().join("elsewhere"));
    let before = state(&path);
    let refused = release(&f.repo, &f.base, BRANCH, &path).await.unwrap_err();
    assert!(matches!(refused, GitError::Dirty { .. }), "{refused}");
    assert_eq!(state(&path), before);
    git(&path, &["add", "-A"]);
    git(&path, &["commit", "-qm", "all of it"]);
    let tip = git(&path, &["rev-parse", "HEAD"]);
    release(&f.repo, &f.base, BRANCH, &path).await.unwrap();
    assert_eq!(
        (git(&path, &["rev-parse", "HEAD"]), git(&path, &["status", "--porcelain"])),
        (tip.clone(), "".into())
    );
    assert_eq!(git(&path, &["branch", "--show-current"]), "", "it is on no branch");
    assert_eq!(git(&f.project(), &["rev-parse", BRANCH]), tip);
}
