use forge_git::{GitError, Repo, SearchScope, ahead_behind, check_git, commit_all, merge_base, spawned};
use forge_types::wire::{MatchType, SearchResult};

use crate::fixture::{Fixture, git, write};

#[tokio::test]
async fn a_linked_worktree_opens_the_main_repository() {
    let f = Fixture::new().await;
    let (_, w) = f.start("open").await;
    for path in [w.path.join("dir"), f.project().join("dir"), f.project()] {
        let repo = Repo::open(&path).await.unwrap();
        assert_eq!(repo.path().to_string_lossy(), git(&f.project(), &["rev-parse", "--show-toplevel"]));
    }
    let bare = f.dir.path().join("bare.git");
    git(f.dir.path(), &["clone", "-q", "--bare", &f.project().to_string_lossy(), &bare.to_string_lossy()]);
    let linked = f.dir.path().join("linked");
    git(&bare, &["worktree", "add", "-q", "--detach", &linked.to_string_lossy(), "main"]);
    for path in [&bare, &linked] {
        assert_eq!(Repo::open(path).await.unwrap().path(), std::fs::canonicalize(&bare).unwrap());
    }
    let none = Repo::open(f.dir.path()).await.unwrap_err();
    assert!(matches!(none, GitError::NoRepository(_)), "{none}");
    assert!(matches!(Repo::open(&f.dir.path().join("no")).await, Err(GitError::NoRepository(_))));
    assert!(check_git().await.unwrap().major >= 2);
}

#[tokio::test]
async fn branches_resolve_local_first_and_follow_changes_without_new_processes() {
    let f = Fixture::new().await;
    let clone = f.dir.path().join("clone");
    git(&f.project(), &["branch", "only-remote"]);
    git(f.dir.path(), &["clone", "-q", &f.project().to_string_lossy(), &clone.to_string_lossy()]);
    let repo = Repo::open(&clone).await.unwrap();
    let full = |tip: Option<forge_git::BranchTip>| tip.map(|tip| tip.full_ref);
    assert_eq!(full(repo.resolve_branch("main").await.unwrap()).unwrap(), "refs/heads/main");
    assert_eq!(full(repo.resolve_branch("origin/main").await.unwrap()).unwrap(), "refs/remotes/origin/main");
    let remote = full(repo.resolve_branch("only-remote").await.unwrap());
    assert_eq!(remote.unwrap(), "refs/remotes/origin/only-remote");
    for odd in ["nope", "main~0", "HEAD^{commit}", "--all", "main\n", ""] {
        assert_eq!(repo.resolve_branch(odd).await.unwrap(), None, "{odd:?}");
    }
    let before = spawned();
    git(&clone, &["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "x"]);
    git(&clone, &["pack-refs", "--all"]);
    let tip = repo.resolve_branch("main").await.unwrap().unwrap();
    assert_eq!(tip.commit, git(&clone, &["rev-parse", "main"]));
    assert_eq!(spawned(), before);
    let listed = repo.branches().await.unwrap();
    assert_eq!(listed[0].name, "main");
    assert!(listed[0].is_current && !listed[0].is_remote);
    let names: Vec<_> = listed.iter().map(|branch| branch.name.as_str()).collect();
    assert!(
        names.contains(&"origin/only-remote") && !names.iter().any(|name| name.ends_with("HEAD")),
        "{names:?}"
    );
    assert_eq!(ahead_behind(&repo, "main", "origin/main").await.unwrap(), (1, 0));
    let base = merge_base(&repo, "main", "origin/main").await.unwrap();
    assert_eq!(base.unwrap(), f.head());
}

#[tokio::test]
async fn prefixes_are_checked_by_gits_own_rule() {
    for (prefix, valid) in [
        ("", true),
        ("forge", true),
        ("a.b", true),
        ("a/b", false),
        ("a b", false),
        ("x.lock", false),
        ("-x", false),
        ("..", false),
        (".x", false),
    ] {
        assert_eq!(Repo::valid_branch_prefix(prefix).await.unwrap(), valid, "{prefix:?}");
    }
}

#[tokio::test]
async fn search_respects_gitignore_by_default() {
    let f = Fixture::new().await;
    write(&f.project().join("ignored/secret.txt"), "x");
    write(&f.project().join("node_modules/secret.js"), "x");
    write(&f.project().join("src/Secret.rs"), "x");
    let paths = |hits: Vec<SearchResult>| hits.into_iter().map(|hit| hit.path).collect::<Vec<_>>();
    let tracked = f.repo.search_files("SECRET", SearchScope::Tracked, 10).await.unwrap();
    assert_eq!(paths(tracked), ["src/Secret.rs"]);
    let all = f.repo.search_files("secret", SearchScope::All, 10).await.unwrap();
    assert_eq!(paths(all), ["src/Secret.rs", "ignored/secret.txt"]);
    let dirs = f.repo.search_files("dir", SearchScope::Tracked, 10).await.unwrap();
    assert_eq!(dirs[1].match_type, MatchType::DirectoryName);
    assert_eq!(dirs[1].path, "dir/b.txt");
    assert_eq!(f.repo.search_files("t", SearchScope::Tracked, 1).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_repository_made_where_another_was_is_not_taken_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r");
    let mut repos = Vec::new();
    for text in ["one", "two"] {
        let repo = Repo::init(&path).await.unwrap();
        write(&path.join("a.txt"), text);
        commit_all(&repo, &path, text).await.unwrap();
        let tip = repo.resolve_branch("main").await.unwrap().unwrap();
        assert_eq!(tip.commit, git(&path, &["rev-parse", "main"]), "{text}");
        std::fs::rename(&path, dir.path().join(text)).unwrap();
        // Still in use by somebody when the next one is made.
        repos.push(repo);
    }
}

#[tokio::test]
async fn the_folder_of_hooks_is_the_one_that_the_user_configured() {
    let f = Fixture::new().await;
    let (_, w) = f.start("hooks").await;
    let found = async || forge_git::Hook::find(&w.path).await.unwrap();
    assert_eq!(found().await.path(), f.repo.common_dir().join("hooks/pre-commit"));
    git(&f.project(), &["config", "core.hooksPath", "tools/hooks"]);
    let inside = found().await;
    let real = std::fs::canonicalize(&w.path).unwrap();
    assert_eq!((inside.path(), inside.in_checkout), (real.join("tools/hooks/pre-commit"), true));
}
