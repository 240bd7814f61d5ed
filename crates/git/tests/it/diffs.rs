use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};

use std::slice::from_ref;

use forge_git::{ContentReader, Counting, FileDiff, commit_all, diff_commit, diff_worktree};
use forge_types::DiffChange;

use crate::fixture::{Fixture, git, write};

fn by_key(files: Vec<FileDiff>) -> BTreeMap<String, FileDiff> {
    files.into_iter().map(|file| (file.key().to_owned(), file)).collect()
}

#[tokio::test]
async fn every_kind_of_change_is_listed_and_the_index_is_not_touched() {
    let f = Fixture::new().await;
    let long: String = (0..50).map(|n| format!("line {n}\n")).collect();
    write(&f.project().join("long.txt"), &long);
    write(&f.project().join("tool.sh"), "#!/bin/sh\n");
    write(&f.project().join("gone.txt"), "bye\n");
    git(&f.project(), &["add", "-A"]);
    git(&f.project(), &["commit", "-qm", "more"]);
    let (_, w) = f.start("diff").await;
    let p = &w.path;
    std::fs::rename(p.join("long.txt"), p.join("moved.txt")).unwrap();
    std::fs::remove_file(p.join("gone.txt")).unwrap();
    std::fs::set_permissions(p.join("tool.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    write(&p.join("a.txt"), "one\n2\nthree\nfour\n");
    write(&p.join("bin.dat"), [0u8, 1, 2, 255]);
    write(&p.join("big.txt"), "x".repeat(3000));
    write(&p.join("noise.log"), "ignored");
    write(&p.join("ünï \"q\" \n:(glob)*.txt"), "strange\n");
    symlink("a.txt", p.join("link")).unwrap();
    git(p, &["init", "-q", "nested"]);
    write(&p.join("nested/n.txt"), "nested");
    write(&p.join("staged.txt"), "staged\n");
    git(p, &["add", "staged.txt"]);
    let index = git(p, &["rev-parse", "--git-path", "index"]);
    let before = std::fs::read(p.join(&index)).unwrap();
    let files = by_key(diff_worktree(&f.repo, p, &w.head, Counting::Count).await.unwrap());
    assert_eq!(std::fs::read(p.join(&index)).unwrap(), before);
    let kinds: BTreeMap<&str, DiffChange> =
        files.iter().map(|(key, file)| (key.as_str(), file.change)).collect();
    let want = BTreeMap::from([
        ("moved.txt", DiffChange::Renamed),
        ("gone.txt", DiffChange::Deleted),
        ("tool.sh", DiffChange::PermissionChange),
        ("a.txt", DiffChange::Modified),
        ("bin.dat", DiffChange::Added),
        ("big.txt", DiffChange::Added),
        ("ünï \"q\" \n:(glob)*.txt", DiffChange::Added),
        ("link", DiffChange::Added),
        ("staged.txt", DiffChange::Added),
    ]);
    assert_eq!(kinds, want);
    let a = &files["a.txt"];
    assert_eq!((a.additions, a.deletions), (Some(2), Some(1)));
    assert!(files["bin.dat"].binary && files["bin.dat"].additions.is_none());
    assert_eq!(files["moved.txt"].old_path.as_deref(), Some("long.txt"));
    let mut reader = ContentReader::new(&f.repo, p);
    let a = reader.load(from_ref(a), 2048).await.unwrap().remove(0);
    assert_eq!(a.old_content.as_deref(), Some("one\ntwo\nthree\n"));
    assert_eq!(a.new_content.as_deref(), Some("one\n2\nthree\nfour\n"));
    for key in ["bin.dat", "big.txt"] {
        let omitted = reader.load(from_ref(&files[key]), 2048).await.unwrap().remove(0);
        assert!(omitted.content_omitted && omitted.new_content.is_none(), "{key}");
    }
    let strange = reader.load(from_ref(&files["ünï \"q\" \n:(glob)*.txt"]), 2048).await.unwrap().remove(0);
    assert_eq!(strange.new_content.as_deref(), Some("strange\n"));
    let gone = reader.load(from_ref(&files["gone.txt"]), 2048).await.unwrap().remove(0);
    assert_eq!((gone.old_content.as_deref(), gone.new_content), (Some("bye\n"), None));
    assert_eq!(
        reader.load(from_ref(&files["link"]), 2048).await.unwrap().remove(0).new_content.as_deref(),
        Some("a.txt")
    );
}

#[tokio::test]
async fn contents_are_the_same_from_loose_objects_and_from_packs() {
    let f = Fixture::new().await;
    let (_, w) = f.start("packed").await;
    write(&w.path.join("a.txt"), "changed\n");
    write(&w.path.join("new.txt"), "x".repeat(3000));
    commit_all(&f.repo, &w.path, "c").await.unwrap();
    let head = git(&w.path, &["rev-parse", "HEAD"]);
    let files = diff_commit(&f.repo, &head, Counting::Skip).await.unwrap();
    let loose = ContentReader::new(&f.repo, &w.path).load(&files, 2048).await.unwrap();
    git(&f.project(), &["repack", "-adq"]);
    git(&f.project(), &["prune-packed", "-q"]);
    let packed = ContentReader::new(&f.repo, &w.path).load(&files, 2048).await.unwrap();
    assert_eq!(loose, packed);
    let contents = |at: usize| (loose[at].old_content.as_deref(), loose[at].new_content.as_deref());
    assert_eq!(contents(0), (Some("one\ntwo\nthree\n"), Some("changed\n")));
    assert_eq!(contents(1), (None, None), "too large to be included");
}

#[tokio::test]
async fn a_commit_differs_from_its_first_parent_as_the_worktree_did() {
    let f = Fixture::new().await;
    let (_, w) = f.start("commit diff").await;
    write(&w.path.join("a.txt"), "changed\n");
    write(&w.path.join("new.txt"), "new\n");
    let mut live = diff_worktree(&f.repo, &w.path, &w.head, Counting::Count).await.unwrap();
    commit_all(&f.repo, &w.path, "c").await.unwrap();
    let landed = diff_commit(&f.repo, "HEAD", Counting::Count).await.unwrap();
    assert!(
        landed.is_empty() || landed.iter().all(|file| file.change == DiffChange::Added),
        "main's first commit"
    );
    let head = git(&w.path, &["rev-parse", "HEAD"]);
    let mut landed = diff_commit(&f.repo, &head, Counting::Count).await.unwrap();
    for file in live.iter_mut().chain(&mut landed) {
        if let Some(new) = &mut file.new {
            *new = forge_git::Blob { oid: None, size: None, modified: None };
        }
    }
    assert_eq!(live, landed);
    assert_eq!(diff_worktree(&f.repo, &w.path, &head, Counting::Count).await.unwrap(), []);
}

#[tokio::test]
async fn crlf_checkouts_do_not_differ_in_every_line() {
    let f = Fixture::new().await;
    write(&f.project().join(".gitattributes"), "*.txt text eol=crlf\n");
    git(&f.project(), &["add", "-A"]);
    git(&f.project(), &["commit", "-qm", "crlf"]);
    let (_, w) = f.start("crlf").await;
    write(&w.path.join("a.txt"), "one\r\ntwo\r\nthree\r\nfour\r\n");
    let files = diff_worktree(&f.repo, &w.path, &w.head, Counting::Count).await.unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!((files[0].additions, files[0].deletions), (Some(1), Some(0)));
    let diff = ContentReader::new(&f.repo, &w.path).load(&files, 1 << 20).await.unwrap().remove(0);
    assert_eq!(diff.new_content.as_deref(), Some("one\ntwo\nthree\nfour\n"));
}

#[tokio::test]
async fn an_edit_in_the_very_moment_of_the_last_look_is_seen() {
    let f = Fixture::new().await;
    let (_, w) = f.start("racy").await;
    git(&w.path, &["config", "core.trustctime", "false"]);
    let index = w.path.join(git(&w.path, &["rev-parse", "--git-path", "index"]));
    let moment = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let at_that_moment = |path: &std::path::Path| {
        std::fs::File::options().write(true).open(path).unwrap().set_modified(moment).unwrap();
    };
    write(&w.path.join("a.txt"), "one\ntwo\nthree\n");
    at_that_moment(&w.path.join("a.txt"));
    git(&w.path, &["update-index", "--refresh"]);
    at_that_moment(&index);
    write(&w.path.join("a.txt"), "one\nTWO\nthree\n");
    at_that_moment(&w.path.join("a.txt"));
    let files = diff_worktree(&f.repo, &w.path, &w.head, Counting::Count).await.unwrap();
    assert_eq!(files.len(), 1, "same size, same time, other content");
}

#[tokio::test]
async fn what_an_agent_puts_in_the_place_of_a_file_meanwhile_is_not_read() {
    let f = Fixture::new().await;
    let (_, w) = f.start("diff").await;
    write(&w.path.join("a.txt"), "changed\n");
    write(&w.path.join("dir/b.txt"), "changed\n");
    let files = diff_worktree(&f.repo, &w.path, &w.head, Counting::Skip).await.unwrap();
    assert_eq!(files.len(), 2);
    let elsewhere = f.dir.path().join("elsewhere");
    write(&elsewhere.join("b.txt"), "secret\n");
    std::fs::remove_dir_all(w.path.join("dir")).unwrap();
    symlink(&elsewhere, w.path.join("dir")).unwrap();
    std::fs::remove_file(w.path.join("a.txt")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, w.path.join("a.txt"), mode).unwrap();
    for diff in ContentReader::new(&f.repo, &w.path).load(&files, 2048).await.unwrap() {
        assert!(diff.content_omitted && diff.new_content.is_none(), "{diff:?}");
    }
}

#[tokio::test]
async fn what_was_counted_before_gives_the_same_figures_as_counting_all() {
    let f = Fixture::new().await;
    let lines = |from: u32| (from..from + 20).map(|n| format!("line {n}\n")).collect::<String>();
    for n in 0..250 {
        write(&f.project().join(format!("src/{n}.txt")), lines(n * 20));
    }
    git(&f.project(), &["add", "-A"]);
    git(&f.project(), &["commit", "-qm", "files"]);
    let (_, w) = f.start("counted").await;
    let p = &w.path;
    let file = |n: u32| p.join(format!("src/{n}.txt"));
    let append = |n: u32, text: &str| write(&file(n), lines(n * 20) + text);
    let commit = || git(p, &["commit", "-qam", "work"]);
    for n in 0..250 {
        append(n, "new\n");
    }
    commit();
    let same = async |step: &str| {
        // Under another name nothing is known.
        let fresh = f.dir.path().join(step);
        symlink(p, &fresh).unwrap();
        let looked = diff_worktree(&f.repo, p, &w.head, Counting::Count).await.unwrap();
        let counted = diff_worktree(&f.repo, &fresh, &w.head, Counting::Count).await.unwrap();
        assert_eq!(looked, counted, "{step}");
        looked.iter().map(|file| file.additions.unwrap_or(0)).sum::<u64>()
    };
    assert_eq!(same("first").await, 250);
    assert_eq!(same("again").await, 250);
    append(1, "more\nand more\n");
    append(2, "no newline at the end");
    write(&file(3), "other\r\n");
    assert_eq!(same("edited").await, 250 + 1);
    commit();
    assert_eq!(same("committed").await, 250 + 1);
    append(10, "a\nb\nc\n");
    commit();
    assert_eq!(same("edited and committed").await, 250 + 3);
    std::fs::remove_file(file(4)).unwrap();
    std::fs::set_permissions(file(5), PermissionsExt::from_mode(0o755)).unwrap();
    write(&file(6), [0u8, 1, 2]);
    write(&p.join("untracked.txt"), "one\ntwo\n");
    same("odd").await;
    std::fs::rename(file(7), p.join("moved.txt")).unwrap();
    same("renamed").await;
    write(&p.join(".gitattributes"), "src/8.txt -diff\n");
    same("attributes").await;
    git(p, &["add", "-A"]);
    commit();
    same("attributes committed").await;
    write(&p.join(".gitattributes"), "src/9.txt -diff\n");
    commit();
    same("attributes changed").await;
    git(p, &["checkout", "-q", &w.head]);
    assert_eq!(same("nothing").await, 0);
}
