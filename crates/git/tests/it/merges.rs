use forge_git::{GitError, landed, squash_merge};

use crate::fixture::{Fixture, git, read, write};

async fn worked(f: &Fixture) -> forge_git::Worktree {
    let (_, w) = f.start("merge me").await;
    for (n, text) in ["1", "2"].iter().enumerate() {
        write(&w.path.join("work.txt"), text);
        git(&w.path, &["add", "-A"]);
        git(&w.path, &["commit", "-qm", &format!("step {n}")]);
    }
    w
}

async fn merge(f: &Fixture, w: &forge_git::Worktree) -> Result<forge_git::Merged, GitError> {
    squash_merge(&f.repo, &w.path, &w.branch, "main", "Landed\n\nbody").await
}

#[tokio::test]
async fn a_clean_checkout_of_the_target_follows_the_merge() {
    let f = Fixture::new().await;
    let w = worked(&f).await;
    write(&f.project().join("unrelated.txt"), "mine");
    let before = f.head();
    let merged = merge(&f, &w).await.unwrap();
    assert_eq!(f.head(), merged.commit);
    assert_eq!(merged.previous, before);
    assert_eq!(git(&f.project(), &["rev-parse", "main^"]), before);
    assert_eq!(git(&f.project(), &["log", "-1", "--format=%B"]).trim(), "Landed\n\nbody");
    assert_eq!(git(&f.project(), &["status", "--porcelain"]), "?? unrelated.txt");
    assert_eq!(read(&f.project().join("work.txt")), "2");
    assert_eq!(git(&w.path, &["rev-parse", "HEAD"]), merged.commit);
    assert_eq!(git(&w.path, &["status", "--porcelain"]), "");
    let twice = merge(&f, &w).await.unwrap_err();
    assert!(matches!(twice, GitError::NothingToMerge { .. }), "{twice}");
}

#[tokio::test]
async fn a_dirty_target_checkout_is_refused_and_unchanged() {
    let f = Fixture::new().await;
    let w = worked(&f).await;
    let before = git(&f.project(), &["for-each-ref"]);
    write(&f.project().join("a.txt"), "local edit");
    let refused = merge(&f, &w).await.unwrap_err();
    assert!(matches!(&refused, GitError::Dirty { path, .. } if *path == f.project()), "{refused}");
    assert!(refused.to_string().contains("has uncommitted changes: a.txt"), "{refused}");
    assert_eq!(read(&f.project().join("a.txt")), "local edit");
    git(&f.project(), &["checkout", "-q", "a.txt"]);
    // An untracked file in the way counts too, even an ignored one.
    write(&f.project().join("work.txt"), "untracked");
    assert!(matches!(merge(&f, &w).await.unwrap_err(), GitError::Dirty { .. }));
    assert_eq!(read(&f.project().join("work.txt")), "untracked");
    assert_eq!(git(&f.project(), &["for-each-ref"]), before);
    std::fs::remove_file(f.project().join("work.txt")).unwrap();
    write(&w.path.join("unsaved"), "x");
    let refused = merge(&f, &w).await.unwrap_err();
    assert!(matches!(&refused, GitError::Dirty { path, .. } if *path == w.path), "{refused}");
    assert_eq!(git(&f.project(), &["for-each-ref"]), before);
}

#[tokio::test]
async fn a_target_that_is_not_checked_out_moves_alone() {
    let f = Fixture::new().await;
    let w = worked(&f).await;
    git(&f.project(), &["checkout", "-q", "-b", "elsewhere"]);
    write(&f.project().join("a.txt"), "dirty, but not on main");
    let merged = merge(&f, &w).await.unwrap();
    assert_eq!(git(&f.project(), &["rev-parse", "main"]), merged.commit);
    assert!(merged.updated_checkouts.is_empty());
    assert_eq!(read(&f.project().join("a.txt")), "dirty, but not on main");
    assert!(!f.project().join("work.txt").exists());
}

#[tokio::test]
async fn diverged_and_missing_branches_are_named() {
    let f = Fixture::new().await;
    let w = worked(&f).await;
    git(&f.project(), &["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
    let diverged = merge(&f, &w).await.unwrap_err();
    assert!(matches!(diverged, GitError::Diverged(_)), "{diverged}");
    assert!(diverged.to_string().starts_with("Branches diverged: 'main' has 1 commits"), "{diverged}");
    let missing = squash_merge(&f.repo, &w.path, &w.branch, "nope", "m").await.unwrap_err();
    assert_eq!(missing.to_string(), "Branch not found: nope");
}

#[tokio::test]
async fn a_linked_checkout_of_the_target_follows_too() {
    let f = Fixture::new().await;
    let w = worked(&f).await;
    git(&f.project(), &["checkout", "-q", "-b", "elsewhere"]);
    let linked = f.dir.path().join("linked");
    git(&f.project(), &["worktree", "add", "-q", &linked.to_string_lossy(), "main"]);
    merge(&f, &w).await.unwrap();
    assert_eq!(read(&linked.join("work.txt")), "2");
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_target_that_cannot_be_merged_into_says_why_and_stays() {
    let f = Fixture::new().await;
    let w = worked(&f).await;
    let refs = git(&f.project(), &["for-each-ref", "refs/heads"]);
    git(&f.project(), &["update-ref", "refs/remotes/origin/release", "main"]);
    let remote = squash_merge(&f.repo, &w.path, &w.branch, "release", "m").await.unwrap_err();
    assert!(matches!(&remote, GitError::RemoteTarget(name) if name == "release"), "{remote}");

    // The user is in the middle of rebasing the target in a checkout of their own.
    let linked = f.dir.path().join("linked");
    git(&f.project(), &["checkout", "-q", "-b", "elsewhere"]);
    git(&f.project(), &["worktree", "add", "-q", &linked.to_string_lossy(), "main"]);
    git(&linked, &["-c", "sequence.editor=echo break >", "rebase", "-q", "-i", "HEAD"]);
    let rebased = merge(&f, &w).await.unwrap_err();
    assert!(matches!(&rebased, GitError::InProgress { path, .. } if *path == linked), "{rebased}");
    git(&linked, &["rebase", "--abort"]);

    git(&w.path, &["checkout", "-q", "--detach"]);
    let off = merge(&f, &w).await.unwrap_err();
    assert!(matches!(off, GitError::OffBranch { .. }), "{off}");
    git(&w.path, &["checkout", "-q", &w.branch]);
    let now = git(&f.project(), &["for-each-ref", "refs/heads"]);
    let now: Vec<&str> = now.lines().filter(|line| !line.ends_with("/elsewhere")).collect();
    assert_eq!(now.join("\n"), refs);
    merge(&f, &w).await.unwrap();
}

#[tokio::test]
async fn a_landed_branch_is_recognised_until_it_moves_on() {
    let f = Fixture::new().await;
    let w = worked(&f).await;
    assert_eq!(landed(&f.repo, &w.branch, "main").await.unwrap(), None);
    let merged = merge(&f, &w).await.unwrap();
    assert_eq!(landed(&f.repo, &w.branch, "main").await.unwrap(), Some(merged.commit));
    git(&w.path, &["commit", "-q", "--allow-empty", "-m", "more"]);
    assert_eq!(landed(&f.repo, &w.branch, "main").await.unwrap(), None);
}
