use std::path::PathBuf;

use forge_git::{GitError, Remote, Worktree, push, remote_for};
use pretty_assertions::assert_eq;

use crate::fixture::{Fixture, git, write};

/// A bare repository that the project knows as `name`.
fn add_remote(f: &Fixture, name: &str) -> PathBuf {
    let path = f.dir.path().join(format!("{name}.git"));
    git(f.dir.path(), &["init", "-q", "--bare", "-b", "main", &path.to_string_lossy()]);
    git(&f.project(), &["remote", "add", name, &format!("file://{}", path.display())]);
    path
}

fn commit(w: &Worktree, text: &str) -> String {
    write(&w.path.join("work.txt"), text);
    git(&w.path, &["add", "-A"]);
    git(&w.path, &["commit", "-q", "-m", text]);
    git(&w.path, &["rev-parse", "HEAD"])
}

async fn publish(f: &Fixture, w: &Worktree, remote: &Remote) -> Result<String, GitError> {
    push(&f.repo, &w.path, &w.branch, remote, None).await
}

#[tokio::test]
async fn a_branch_is_pushed_under_its_name_and_follows_the_remote_one() {
    let f = Fixture::new().await;
    let bare = add_remote(&f, "origin");
    let (_, w) = f.start("push me").await;
    let tip = commit(&w, "one");
    write(&w.path.join("untracked.txt"), "stays here");
    let remote = remote_for(&f.repo, "main").await.unwrap();
    assert_eq!(publish(&f, &w, &remote).await.unwrap(), tip);
    assert_eq!(git(&bare, &["rev-parse", &w.branch]), tip);
    assert_eq!(git(&w.path, &["rev-parse", "--abbrev-ref", "@{u}"]), format!("origin/{}", w.branch));
    let next = commit(&w, "two");
    assert_eq!(publish(&f, &w, &remote).await.unwrap(), next);
    assert_eq!(git(&bare, &["for-each-ref", "--format=%(refname)"]), format!("refs/heads/{}", w.branch));
}

#[tokio::test]
async fn rewritten_history_replaces_only_what_was_pushed_from_here() {
    let f = Fixture::new().await;
    let bare = add_remote(&f, "origin");
    let (_, w) = f.start("rewrite").await;
    commit(&w, "one");
    let remote = remote_for(&f.repo, "main").await.unwrap();
    publish(&f, &w, &remote).await.unwrap();
    git(&w.path, &["commit", "-q", "--amend", "-m", "one, reworded"]);
    let reworded = publish(&f, &w, &remote).await.unwrap();
    assert_eq!(git(&bare, &["rev-parse", &w.branch]), reworded);

    // A colleague adds a commit, and this repository even fetches it.
    let other = f.dir.path().join("other");
    git(f.dir.path(), &["clone", "-q", "-b", &w.branch, &bare.to_string_lossy(), &other.to_string_lossy()]);
    git(
        &other,
        &["-c", "user.name=C", "-c", "user.email=c@c", "commit", "-q", "--allow-empty", "-m", "theirs"],
    );
    git(&other, &["push", "-q"]);
    git(&f.project(), &["fetch", "-q", "origin"]);
    let theirs = git(&bare, &["rev-parse", &w.branch]);
    git(&w.path, &["commit", "-q", "--amend", "-m", "one, again"]);
    let refused = publish(&f, &w, &remote).await.unwrap_err();
    assert!(matches!(refused, GitError::Rejected { .. }), "{refused}");
    assert_eq!(git(&bare, &["rev-parse", &w.branch]), theirs, "their commit is still there");
}

#[tokio::test]
async fn changes_to_tracked_files_are_committed_first() {
    let f = Fixture::new().await;
    add_remote(&f, "origin");
    let (_, w) = f.start("dirty").await;
    write(&w.path.join("a.txt"), "not committed");
    let remote = remote_for(&f.repo, "main").await.unwrap();
    let refused = publish(&f, &w, &remote).await.unwrap_err();
    assert!(matches!(&refused, GitError::Dirty { files, .. } if files == &["a.txt"]), "{refused}");
}

#[tokio::test]
async fn the_remote_is_the_one_the_target_follows() {
    let f = Fixture::new().await;
    let none = remote_for(&f.repo, "main").await.unwrap_err();
    assert!(
        matches!(none, GitError::NoRemote(_))
            && none.hint().is_some_and(|hint| hint.contains("git remote add")),
        "{none}"
    );
    add_remote(&f, "fork");
    assert_eq!(remote_for(&f.repo, "main").await.unwrap().name, "fork", "the only one");
    add_remote(&f, "upstream");
    let unclear = remote_for(&f.repo, "main").await.unwrap_err();
    assert!(matches!(unclear, GitError::NoRemote(_)), "{unclear}");
    add_remote(&f, "origin");
    assert_eq!(remote_for(&f.repo, "main").await.unwrap().name, "origin");
    git(&f.project(), &["config", "branch.main.remote", "upstream"]);
    assert_eq!(remote_for(&f.repo, "main").await.unwrap().name, "upstream");
    let fork = remote_for(&f.repo, "fork/main").await.unwrap();
    assert_eq!((fork.name.as_str(), fork.strip("fork/main"), fork.strip("main")), ("fork", "main", "main"));
    assert!(remote_for(&f.repo, "--upload-pack=x").await.is_err());
}

#[tokio::test]
async fn a_remote_that_is_missing_is_reported_without_its_secret() {
    let f = Fixture::new().await;
    let (_, w) = f.start("nowhere").await;
    commit(&w, "one");
    git(&f.project(), &["remote", "add", "origin", "http://me:s3cret@127.0.0.1:1/a/b.git"]);
    let remote = remote_for(&f.repo, "main").await.unwrap();
    let failed = publish(&f, &w, &remote).await.unwrap_err().to_string();
    assert!(failed.contains("127.0.0.1:1") && !failed.contains("s3cret"), "{failed}");
}
