//! git-lfs works with Forge's git as it does with the user's own.

use std::path::Path;

use forge_git::{Committed, Counting, commit_all, diff_worktree, push, remote_for, squash_merge};

use crate::fixture::{Fixture, git, read, try_git, write};

const POINTER: &str = "version https://git-lfs.github.com/spec/v1";

/// A repository that keeps `*.bin` with git-lfs, and a remote that takes them; nothing when git-lfs is not installed.
async fn repository() -> Option<Fixture> {
    let f = Fixture::new().await;
    let project = f.project();
    if try_git(&project, &["lfs", "version"]).0 != 0 {
        eprintln!("git-lfs is missing: not tried");
        return None;
    }
    git(&project, &["lfs", "install", "--local"]);
    git(f.dir.path(), &["init", "-q", "--bare", "remote.git"]);
    let url = format!("file://{}", f.dir.path().join("remote.git").display());
    git(&project, &["remote", "add", "origin", &url]);
    write(&project.join(".gitattributes"), "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    write(&project.join("old.bin"), "old content");
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-qm", "large files"]);
    Some(f)
}

fn count_objects(dir: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    entries.flatten().map(|entry| if entry.path().is_dir() { count_objects(&entry.path()) } else { 1 }).sum()
}

#[tokio::test]
async fn large_files_are_pointers_in_commits_content_in_checkouts_and_uploaded_by_a_push() {
    let Some(f) = repository().await else { return };
    let (_, w) = f.start("large").await;
    assert_eq!(read(&w.path.join("old.bin")), "old content", "a new worktree has the content");
    write(&w.path.join("new.bin"), "new content");
    let diff = diff_worktree(&f.repo, &w.path, "main", Counting::Count).await.unwrap();
    assert_eq!(
        diff.iter().map(|file| (file.key(), file.additions)).collect::<Vec<_>>(),
        [("new.bin", Some(3))]
    );
    assert!(matches!(commit_all(&f.repo, &w.path, "m").await.unwrap(), Committed::Commit(_)));
    assert!(git(&w.path, &["cat-file", "-p", "HEAD:new.bin"]).starts_with(POINTER));

    let remote = remote_for(&f.repo, "main").await.unwrap();
    push(&f.repo, &w.path, &w.branch, &remote, None).await.unwrap();
    assert_eq!(count_objects(&f.dir.path().join("remote.git/lfs/objects")), 2, "both files are uploaded");

    squash_merge(&f.repo, &w.path, &w.branch, "main", "landed").await.unwrap();
    assert_eq!(read(&f.project().join("new.bin")), "new content", "the user's checkout has the content");
    assert!(git(&f.project(), &["cat-file", "-p", "main:new.bin"]).starts_with(POINTER));
    assert_eq!(git(&f.project(), &["status", "--porcelain"]), "");
}
