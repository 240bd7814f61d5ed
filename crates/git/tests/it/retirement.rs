use std::path::Path;
use std::time::Duration;

use forge_git::{GitError, Source, empty_trash, list, restore, retire, trash};
use forge_types::{AttemptId, Millis};

use crate::fixture::{Fixture, base, git, naming, owner, read, try_git, write};

fn later() -> Millis {
    Millis(Millis::now().0 + 10_000)
}

#[tokio::test]
async fn a_retired_worktree_is_in_the_trash_and_its_branch_stays() {
    let f = Fixture::new().await;
    let (id, w) = f.start("retire").await;
    write(&w.path.join("untracked.txt"), "u");
    write(&w.path.join("noise.log"), "ignored");
    write(&w.path.join("node_modules/m.js"), "cache");
    let kept = retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    assert!(!w.path.exists());
    assert!(git(&f.project(), &["branch", "--list", &w.branch]).contains(&w.branch));
    assert!(!git(&f.project(), &["worktree", "list"]).contains(&w.name));
    let names = git(&f.project(), &["ls-tree", "-r", "--name-only", &kept.commit, "work/"]);
    assert!(names.contains("work/untracked.txt") && names.contains("work/noise.log"), "{names}");
    assert!(!names.contains("node_modules"), "{names}");
    let item = &trash(&f.base).await.unwrap()[0];
    assert_eq!((item.owner, &item.original, &item.reference), (owner(id), &w.path, &kept.reference));
    let back = restore(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    assert_eq!((back.source, back.branch), (Source::Trash, Some(w.branch.clone())));
    assert_eq!(read(&w.path.join("node_modules/m.js")), "cache");
    assert_eq!(git(&w.path, &["status", "--porcelain"]), "?? untracked.txt");
    assert!(trash(&f.base).await.unwrap().is_empty());
    assert_eq!(std::fs::read_dir(f.base.path().join(".forge-trash")).unwrap().count(), 0);
}

#[tokio::test]
async fn restore_overwrites_nothing_and_makes_a_deleted_branch_again() {
    let f = Fixture::new().await;
    let (id, w) = f.start("over").await;
    git(&w.path, &["commit", "-q", "--allow-empty", "-m", "only here"]);
    let head = git(&w.path, &["rev-parse", "HEAD"]);
    retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    write(&w.path.join("mine"), "mine");
    assert!(matches!(restore(&f.repo, &f.base, owner(id), &w.path).await, Err(GitError::Exists(_))));
    assert_eq!(read(&w.path.join("mine")), "mine");
    git(&f.project(), &["branch", "-D", &w.branch]);
    git(&f.project(), &["-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now"]);
    let elsewhere = f.base.path().join("elsewhere");
    restore(&f.repo, &f.base, owner(id), &elsewhere).await.unwrap();
    assert_eq!(git(&elsewhere, &["rev-parse", "HEAD"]), head);
    let nothing = restore(&f.repo, &f.base, owner(AttemptId::random()), &f.base.path().join("n")).await;
    assert!(matches!(nothing, Err(GitError::NothingKept(_))));
}

#[tokio::test]
async fn commits_that_only_the_worktree_remembers_survive_garbage_collection() {
    let f = Fixture::new().await;
    let (id, w) = f.start("reflog").await;
    git(&w.path, &["commit", "-q", "--allow-empty", "-m", "thrown away"]);
    let lost = git(&w.path, &["rev-parse", "HEAD"]);
    git(&w.path, &["reset", "-q", "--hard", &w.head]);
    // A second one, so that ORIG_HEAD no longer names the first.
    git(&w.path, &["commit", "-q", "--allow-empty", "-m", "thrown away too"]);
    git(&w.path, &["reset", "-q", "--hard", &w.head]);
    write(&w.path.join("staged"), "staged only");
    git(&w.path, &["add", "staged"]);
    write(&w.path.join("staged"), "then changed");
    retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    empty_trash(&f.base, Duration::ZERO, later()).await.unwrap();
    git(&f.project(), &["reflog", "expire", "--all", "--expire=now"]);
    git(&f.project(), &["gc", "-q", "--prune=now"]);
    git(&f.project(), &["cat-file", "-e", &lost]);
    restore(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    assert_eq!(git(&w.path, &["show", ":staged"]), "staged only");
    assert_eq!(read(&w.path.join("staged")), "then changed");
}

#[tokio::test]
async fn strangers_and_the_main_checkout_are_refused_untouched() {
    let f = Fixture::new().await;
    let (id, w) = f.start("mine").await;
    let inside = f.base.path().join("plain");
    write(&inside.join("f"), "x");
    let foreign = f.base.path().join("foreign");
    git(&f.project(), &["worktree", "add", "-q", "--detach", &foreign.to_string_lossy()]);
    let outside = f.dir.path().join("outside");
    git(&f.project(), &["worktree", "add", "-q", "--detach", &outside.to_string_lossy()]);
    let link = f.base.path().join("link");
    std::os::unix::fs::symlink(&w.path, &link).unwrap();
    for path in [&inside, &foreign, &outside, &f.project(), &link, &f.base.path().to_owned()] {
        let refused = retire(&f.repo, &f.base, owner(id), path).await.unwrap_err();
        assert!(matches!(refused, GitError::NotForges { .. }), "{}: {refused}", path.display());
        assert!(path.exists());
    }
    let wrong = retire(&f.repo, &f.base, owner(AttemptId::random()), &w.path).await.unwrap_err();
    assert!(matches!(wrong, GitError::NotForges { .. }), "{wrong}");
    assert_eq!(git(&f.project(), &["for-each-ref", "refs/forge"]), "");
    let listed = list(&f.base).await.unwrap();
    let marks: Vec<_> = listed.iter().map(|l| (l.path.clone(), l.mark.is_some())).collect();
    assert!(
        marks.contains(&(inside, false))
            && marks.contains(&(foreign, false))
            && marks.contains(&(w.path, true))
    );
}

#[tokio::test]
async fn two_installations_on_one_base_leave_each_other_alone() {
    let f = Fixture::new().await;
    let other = base(f.base.path(), "there");
    let (id, w) = f.start("ours").await;
    let refused = retire(&f.repo, &other, owner(id), &w.path).await.unwrap_err();
    assert!(matches!(refused, GitError::NotForges { .. }), "{refused}");
    let ensured = forge_git::ensure(&f.repo, &other, owner(id), &w.branch, &w.path, None).await;
    assert!(matches!(ensured, Err(GitError::NotForges { .. })));
    retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    assert!(trash(&other).await.unwrap().is_empty());
    assert_eq!(empty_trash(&other, Duration::ZERO, later()).await.unwrap(), Default::default());
    assert_eq!(trash(&f.base).await.unwrap().len(), 1);
    let theirs = forge_git::claim(&f.repo, &other, &naming(id, "ours"), &w.head).await.unwrap();
    assert_ne!(theirs.branch, w.branch);
}

#[tokio::test]
async fn the_trash_keeps_what_its_snapshot_does_not_hold() {
    let f = Fixture::new().await;
    let mut items = Vec::new();
    for title in ["whole", "late", "unreferenced", "young"] {
        let (id, w) = f.start(title).await;
        write(&w.path.join("work.txt"), title);
        write(&w.path.join("node_modules/m.js"), "cache");
        let kept = retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
        items.push((kept.trash.clone().unwrap(), kept));
    }
    write(&items[1].0.join("tree/late.txt"), "written after the snapshot");
    git(&f.project(), &["update-ref", "-d", &items[2].1.reference]);
    let day = Duration::from_secs(86_400);
    assert_eq!(empty_trash(&f.base, day, later()).await.unwrap(), Default::default());
    let emptied = empty_trash(&f.base, Duration::ZERO, later()).await.unwrap();
    assert_eq!(emptied.deleted.len(), 2);
    assert!(emptied.bytes > 0 && emptied.deleted.contains(&items[0].0));
    let left: Vec<&Path> = emptied.left.iter().map(|(path, _)| path.as_path()).collect();
    assert!(left.contains(&items[1].0.as_path()) && left.contains(&items[2].0.as_path()), "{left:?}");
    assert_eq!(read(&items[1].0.join("tree/late.txt")), "written after the snapshot");
}

#[tokio::test]
async fn retiring_forgets_no_other_worktree() {
    let f = Fixture::new().await;
    let (id, w) = f.start("one").await;
    let (_, unmounted) = f.start("on an unmounted disk").await;
    let aside = f.dir.path().join("aside");
    std::fs::rename(&unmounted.path, &aside).unwrap();
    retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    std::fs::rename(&aside, &unmounted.path).unwrap();
    assert_eq!(try_git(&unmounted.path, &["status", "--porcelain"]), (0, String::new()));
}

/// The mark in the private git directory is a copy, and agents can write there.
#[tokio::test]
async fn no_agent_keeps_its_worktree_from_coming_back() {
    type Plant = fn(&Path);
    let plants: [(&str, Plant); 4] = [
        ("nothing", |mark| std::fs::remove_file(mark).unwrap()),
        ("nonsense", |mark| write(mark, "{")),
        ("another's", |mark| {
            let text = read(mark).replace("here", "there");
            write(mark, text.replacen("-", "0", 1));
        }),
        ("a folder", |mark| {
            std::fs::remove_file(mark).unwrap();
            write(&mark.join("file"), "x");
        }),
    ];
    for (what, plant) in plants {
        for source in [Source::Trash, Source::Keep] {
            let f = Fixture::new().await;
            let (id, w) = f.start("block").await;
            write(&w.path.join("untracked"), "u");
            let git_dir = git(&w.path, &["rev-parse", "--absolute-git-dir"]);
            plant(&Path::new(&git_dir).join("forge-owner.json"));
            plant_id(&git_dir, what);
            retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
            if source == Source::Keep {
                std::fs::remove_dir_all(f.base.path().join(".forge-trash")).unwrap();
            }
            let back = restore(&f.repo, &f.base, owner(id), &w.path).await;
            let back = back.unwrap_or_else(|error| panic!("{what}, {source:?}: {error}"));
            assert_eq!((back.source, read(&w.path.join("untracked"))), (source, "u".to_owned()));
            let me = forge_git::whoami(&w.path).unwrap().expect("a mark").mark;
            assert_eq!((me.owner, me.installation.as_str()), (owner(id), "here"), "{what}, {source:?}");
            retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
        }
    }
}

fn plant_id(git_dir: &str, what: &str) {
    let id = Path::new(git_dir).join("forge-attempt");
    std::fs::remove_file(&id).unwrap();
    if what == "a folder" {
        write(&id.join("file"), "x");
    }
}

#[tokio::test]
async fn a_crash_before_the_private_directory_is_forgotten_does_not_hinder_a_restore() {
    let f = Fixture::new().await;
    let (id, w) = f.start("crash").await;
    write(&w.path.join("untracked"), "u");
    let git_dir = git(&w.path, &["rev-parse", "--absolute-git-dir"]);
    let aside = f.dir.path().join("aside");
    let copied = std::process::Command::new("cp").arg("-a").arg(&git_dir).arg(&aside).status().unwrap();
    assert!(copied.success());
    retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    std::fs::create_dir_all(f.repo.common_dir().join("worktrees")).unwrap();
    std::fs::rename(&aside, &git_dir).unwrap();
    restore(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    assert_eq!(git(&w.path, &["status", "--porcelain"]), "?? untracked");
    assert_eq!(git(&f.project(), &["worktree", "list"]).lines().count(), 2);
}

#[tokio::test]
async fn a_pipe_in_place_of_a_caches_tag_holds_up_no_retirement() {
    let f = Fixture::new().await;
    let (id, w) = f.start("pipe").await;
    write(&w.path.join("target/x"), "x");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, w.path.join("target/CACHEDIR.TAG"), mode).unwrap();
    let kept = retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    let names = git(&f.project(), &["ls-tree", "-r", "--name-only", &kept.commit, "work/"]);
    assert!(names.contains("work/target/x"), "a folder without a tag is no cache: {names}");
}
