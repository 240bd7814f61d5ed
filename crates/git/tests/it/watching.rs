use std::time::Duration;

use forge_git::{Counting, diff_worktree, watch};

use crate::fixture::{Fixture, git, write};

const SOON: Duration = Duration::from_secs(10);
/// Long enough for a wrong wake-up to show, whatever the debounce.
const QUIET: Duration = Duration::from_millis(900);

#[tokio::test]
async fn changes_wake_the_reader_and_ignored_directories_and_reads_do_not() {
    let f = Fixture::new().await;
    let (_, w) = f.start("watch").await;
    write(&w.path.join("node_modules/x/y.js"), "1");
    let mut watch = watch(&w.path).unwrap();
    write(&w.path.join("fresh/deep/new.txt"), "1");
    tokio::time::timeout(SOON, watch.changed()).await.expect("a new file");
    write(&w.path.join("fresh/deep/new.txt"), "2");
    tokio::time::timeout(SOON, watch.changed()).await.expect("a file in a new directory");
    git(&w.path, &["add", "-A"]);
    git(&w.path, &["commit", "-qm", "x"]);
    tokio::time::timeout(SOON, watch.changed()).await.expect("a commit");
    while tokio::time::timeout(QUIET, watch.changed()).await.is_ok() {}
    write(&w.path.join("node_modules/x/y.js"), "2");
    diff_worktree(&f.repo, &w.path, &w.head, Counting::Count).await.unwrap();
    assert!(tokio::time::timeout(QUIET, watch.changed()).await.is_err(), "woken without a change");
}

#[tokio::test]
async fn a_pipe_or_a_device_in_place_of_an_ignore_file_holds_up_no_watch() {
    let f = Fixture::new().await;
    let (_, w) = f.start("watch").await;
    write(&w.path.join("pipe/x"), "1");
    write(&w.path.join("zero/x"), "1");
    write(&w.path.join("well/x"), "1");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, w.path.join("pipe/.gitignore"), mode).unwrap();
    std::os::unix::fs::symlink("/dev/zero", w.path.join("zero/.gitignore")).unwrap();
    let mut watch = watch(&w.path).unwrap();
    write(&w.path.join("well/x"), "2");
    tokio::time::timeout(SOON, watch.changed()).await.expect("a change");
}
