use forge_git::{Committed, GitError, delete_file};
use pretty_assertions::assert_eq;

use crate::fixture::{Fixture, git, owner, read, write};

fn saved(dir: &std::path::Path, file: &str) -> String {
    let newest =
        git(dir, &["for-each-ref", "--sort=-refname", "--count=1", "--format=%(refname)", "refs/forge/undo"]);
    git(dir, &["show", &format!("{newest}:{file}")])
}

#[tokio::test]
async fn exactly_the_deletion_is_committed() {
    let f = Fixture::new().await;
    let (id, w) = f.start("delete").await;
    write(&w.path.join("dir/b.txt"), "changed, not staged\n");
    write(&w.path.join("staged.txt"), "new and staged\n");
    git(&w.path, &["add", "staged.txt"]);
    write(&w.path.join("untracked [x].txt"), "untracked\n");
    let before = git(&w.path, &["status", "--porcelain"]);

    let deleted = delete_file(&f.repo, &w.path, owner(id), &w.branch, "a.txt").await.unwrap();
    assert!(matches!(deleted, Committed::Commit(_)));
    assert_eq!(
        git(&w.path, &["show", "--name-status", "--format=%s", "HEAD"]),
        "Delete file: a.txt\n\nD\ta.txt"
    );
    assert_eq!(git(&w.path, &["status", "--porcelain"]), before);
    assert_eq!(read(&w.path.join("staged.txt")), "new and staged\n");
    let again = delete_file(&f.repo, &w.path, owner(id), &w.branch, "a.txt").await.unwrap_err();
    assert!(matches!(again, GitError::FileMissing { .. }), "{again}");
}

#[tokio::test]
async fn content_that_no_commit_has_is_saved_first() {
    let f = Fixture::new().await;
    let (id, w) = f.start("delete").await;
    write(&w.path.join("a.txt"), "edited\n");
    write(&w.path.join("*new*.txt"), "never tracked\n");
    write(&w.path.join("debug.log"), "ignored\n");
    let head = git(&w.path, &["rev-parse", "HEAD"]);
    for (file, content) in [("*new*.txt", "never tracked"), ("debug.log", "ignored")] {
        let deleted = delete_file(&f.repo, &w.path, owner(id), &w.branch, file).await.unwrap();
        assert_eq!(deleted, Committed::Nothing);
        assert!(!w.path.join(file).exists());
        assert_eq!(saved(&w.path, file), content);
    }
    assert_eq!(git(&w.path, &["rev-parse", "HEAD"]), head);
    delete_file(&f.repo, &w.path, owner(id), &w.branch, "a.txt").await.unwrap();
    assert_eq!(saved(&w.path, "a.txt"), "edited");
}

#[tokio::test]
async fn nothing_outside_the_worktree_is_reached() {
    let f = Fixture::new().await;
    let (id, w) = f.start("delete").await;
    let outside = f.dir.path().join("outside");
    write(&outside.join("x.txt"), "not yours");
    std::os::unix::fs::symlink(&outside, w.path.join("link")).unwrap();
    std::os::unix::fs::symlink(outside.join("x.txt"), w.path.join("file-link")).unwrap();
    git(&w.path, &["add", "-A"]);
    git(&w.path, &["commit", "-qm", "links"]);
    let absolute = outside.join("x.txt").to_string_lossy().into_owned();
    let files = [
        "link/x.txt",
        "file-link",
        "../outside/x.txt",
        "dir",
        "dir/",
        ".git",
        ".git/HEAD",
        "",
        ".",
        &absolute,
    ];
    for file in files {
        let refused = delete_file(&f.repo, &w.path, owner(id), &w.branch, file).await.unwrap_err();
        assert!(matches!(refused, GitError::BadPath { .. }), "{file}: {refused}");
    }
    assert_eq!(read(&outside.join("x.txt")), "not yours");
    assert_eq!(git(&w.path, &["status", "--porcelain"]), "");
}
