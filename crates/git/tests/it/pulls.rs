use std::path::{Path, PathBuf};

use forge_git::{Pulled, checkout_state, pull_rebase, remote_for};
use pretty_assertions::assert_eq;

use crate::fixture::{Fixture, git, read, write};

/// A bare repository with the project's `main`, and a colleague's clone of it.
fn shared(f: &Fixture) -> PathBuf {
    let bare = f.dir.path().join("origin.git");
    git(f.dir.path(), &["init", "-q", "--bare", "-b", "main", &bare.to_string_lossy()]);
    git(&f.project(), &["remote", "add", "origin", &bare.to_string_lossy()]);
    git(&f.project(), &["push", "-q", "-u", "origin", "main"]);
    let other = f.dir.path().join("other");
    git(f.dir.path(), &["clone", "-q", &bare.to_string_lossy(), &other.to_string_lossy()]);
    git(&other, &["config", "user.name", "C"]);
    git(&other, &["config", "user.email", "c@c"]);
    other
}

fn save(dir: &Path, file: &str, text: &str) {
    write(&dir.join(file), text);
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-q", "-m", text]);
}

async fn pull(f: &Fixture) -> Pulled {
    let remote = remote_for(&f.repo, "main").await.unwrap();
    pull_rebase(&f.repo, &remote, None).await.unwrap()
}

#[tokio::test]
async fn local_commits_are_put_on_top_of_the_remote_ones() {
    let f = Fixture::new().await;
    let other = shared(&f);
    save(&other, "theirs.txt", "theirs");
    git(&other, &["push", "-q"]);
    save(&f.project(), "mine.txt", "mine");
    write(&f.project().join("untracked.txt"), "u");
    assert_eq!(pull(&f).await, Pulled::Done { from: "origin/main".into() });
    assert_eq!(git(&f.project(), &["log", "--format=%s"]), "mine\ntheirs\nfirst");
    let state = checkout_state(&f.repo).await.unwrap();
    assert_eq!(state.branch.as_deref(), Some("main"));
    assert_eq!(state.upstream.as_deref(), Some("origin/main"));
    assert_eq!((state.changed_count, state.untracked_count), (0, 1));
}

#[tokio::test]
async fn a_pull_that_cannot_be_finished_changes_nothing() {
    let f = Fixture::new().await;
    let other = shared(&f);
    save(&other, "a.txt", "theirs");
    git(&other, &["push", "-q"]);

    write(&f.project().join("a.txt"), "not committed");
    let before = f.head();
    let dirty = pull(&f).await;
    assert!(
        matches!(&dirty, Pulled::Refused { reason, details } if reason.contains("uncommitted") && details == "a.txt")
    );
    assert_eq!((f.head(), read(&f.project().join("a.txt"))), (before, "not committed".into()));

    git(&f.project(), &["commit", "-q", "-am", "mine"]);
    let before = f.head();
    let conflict = pull(&f).await;
    assert!(
        matches!(&conflict, Pulled::Refused { reason, .. } if reason.contains("Conflicts")),
        "{conflict:?}"
    );
    assert_eq!(f.head(), before);
    assert_eq!(git(&f.project(), &["status", "--porcelain"]), "");
    assert!(!f.project().join(".git/rebase-merge").exists());
}

#[tokio::test]
async fn a_commit_that_the_remote_took_back_is_kept_here() {
    let f = Fixture::new().await;
    let other = shared(&f);
    save(&f.project(), "mine.txt", "mine");
    git(&f.project(), &["push", "-q"]);
    save(&other, "theirs.txt", "theirs");
    git(&other, &["push", "-q", "--force"]);
    assert_eq!(pull(&f).await, Pulled::Done { from: "origin/main".into() });
    assert_eq!(git(&f.project(), &["log", "--format=%s"]), "mine\ntheirs\nfirst");
}

#[tokio::test]
async fn a_branch_that_the_remote_lacks_cannot_be_pulled() {
    let f = Fixture::new().await;
    shared(&f);
    git(&f.project(), &["checkout", "-q", "-b", "new"]);
    assert!(matches!(pull(&f).await, Pulled::Refused { reason, .. } if reason.contains("no branch 'new'")));
    git(&f.project(), &["checkout", "-q", "--detach"]);
    assert!(
        matches!(pull(&f).await, Pulled::Refused { reason, .. } if reason.contains("no branch is checked out"))
    );
}
