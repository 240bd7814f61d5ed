use forge_git::{Committed, Repo, commit_all, is_dirty, reset_hard, restore};

use crate::fixture::{Fixture, git, owner, read, write};

#[tokio::test]
async fn everything_is_committed_and_nothing_when_clean() {
    let f = Fixture::new().await;
    let (_, w) = f.start("commit").await;
    assert_eq!(commit_all(&f.repo, &w.path, "x").await.unwrap(), Committed::Nothing);
    write(&w.path.join("n\new \"file\".txt"), "new");
    std::fs::remove_file(w.path.join("a.txt")).unwrap();
    write(&w.path.join("noise.log"), "ignored");
    let Committed::Commit(commit) = commit_all(&f.repo, &w.path, "Subject\n\n# not a comment").await.unwrap()
    else {
        panic!("nothing committed")
    };
    assert_eq!(git(&w.path, &["rev-parse", "HEAD"]), commit);
    assert_eq!(git(&w.path, &["log", "-1", "--format=%B"]).trim(), "Subject\n\n# not a comment");
    assert_eq!(git(&w.path, &["status", "--porcelain"]), "");
    assert!(!git(&w.path, &["ls-files"]).contains("noise.log"));
}

#[tokio::test]
async fn failing_hooks_and_a_missing_identity_lose_no_work() {
    let f = Fixture::new().await;
    let (_, w) = f.start("hooks").await;
    for hook in ["pre-commit", "commit-msg", "prepare-commit-msg"] {
        let path = f.repo.common_dir().join("hooks").join(hook);
        write(&path, "#!/bin/sh\nexit 1\n");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    // An empty value counts as none, whatever the machine's own configuration says.
    git(&f.project(), &["config", "user.name", ""]);
    git(&f.project(), &["config", "user.email", ""]);
    write(&w.path.join("x"), "x");
    commit_all(&f.repo, &w.path, "auto").await.unwrap();
    assert_eq!(git(&w.path, &["log", "-1", "--format=%an <%ae>"]), "Forge <forge@localhost>");
    assert_eq!(git(&f.project(), &["config", "--local", "user.name"]), "");
}

#[tokio::test]
async fn a_reset_saves_uncommitted_work_first() {
    let f = Fixture::new().await;
    let (id, w) = f.start("reset").await;
    git(&w.path, &["commit", "-q", "--allow-empty", "-m", "later"]);
    write(&w.path.join("a.txt"), "precious");
    let kept = reset_hard(&f.repo, &w.path, owner(id), &w.branch, &w.head).await.unwrap().unwrap();
    assert_eq!(kept.reference, format!("refs/forge/keep/{id}/1"));
    assert!(!is_dirty(&f.repo, &w.path).await.unwrap());
    assert_eq!(git(&w.path, &["rev-parse", "HEAD"]), w.head);
    assert_eq!(git(&f.project(), &["show", &format!("{}:work/a.txt", kept.commit)]), "precious");
    assert_eq!(reset_hard(&f.repo, &w.path, owner(id), &w.branch, &w.head).await.unwrap(), None);
    std::fs::rename(&w.path, f.dir.path().join("aside")).unwrap();
    restore(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    assert_eq!(read(&w.path.join("a.txt")), "precious");
}

#[tokio::test]
async fn an_empty_repository_gets_its_first_commit_without_an_index() {
    let dir = tempfile::TempDir::new().unwrap();
    git(dir.path(), &["init", "-q", "-b", "trunk"]);
    write(&dir.path().join("untracked"), "x");
    let repo = Repo::open(dir.path()).await.unwrap();
    assert_eq!(repo.ensure_first_commit().await.unwrap().as_deref(), Some("trunk"));
    assert_eq!(repo.ensure_first_commit().await.unwrap(), None, "it is the first only once");
    assert_eq!(git(dir.path(), &["log", "--format=%s", "trunk"]), "Initial commit");
    assert_eq!(
        repo.current_branch().await.unwrap().as_deref(),
        Some("trunk"),
        "the branch is the user's choice"
    );
    assert_eq!(git(dir.path(), &["status", "--porcelain"]), "?? untracked");
}
