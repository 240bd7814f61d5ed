use std::os::unix::fs::symlink;

use super::*;
use crate::beads::place::Place;
use crate::beads::workspace::{Flavour, Workspace};

const BOUND: Duration = Duration::from_secs(60);

fn store(root: &Path) -> BeadQueueReader {
    let place = Place::find(root, None).unwrap().unwrap();
    let workspace = Workspace { place, flavour: Flavour::Local, program: None, rejected: Vec::new() };
    BeadQueueReader::of(&workspace, "")
}

async fn next(watch: &mut Watch) -> News {
    tokio::time::timeout(BOUND, watch.next()).await.expect("news in time").expect("the watch goes on")
}

async fn ids(watch: &mut Watch) -> Vec<String> {
    match next(watch).await {
        News::Changed(snapshot) => snapshot.beads().iter().map(|bead| bead.id.clone()).collect(),
        News::Trouble(why) => panic!("{why}"),
    }
}

#[tokio::test]
async fn a_change_does_not_wait_for_the_next_look() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join(".beads/issues.jsonl");
    std::fs::create_dir(root.path().join(".beads")).unwrap();
    std::fs::write(&file, "{\"id\":\"f-a\"}\n").unwrap();
    let mut watch = Watch::file_at(store(root.path()), Duration::from_secs(3600));
    assert_eq!(ids(&mut watch).await, ["f-a"]);
    let new = root.path().join(".beads/new");
    std::fs::write(&new, "{\"id\":\"f-b\"}\n").unwrap();
    std::fs::rename(&new, &file).unwrap();
    assert_eq!(ids(&mut watch).await, ["f-b"]);
    // The second change is of the new file.
    std::fs::write(&file, "{\"id\":\"f-c\"}\n").unwrap();
    assert_eq!(ids(&mut watch).await, ["f-c"]);
}

/// Where the file is a link, its directory stays silent when the content changes.
#[tokio::test]
async fn what_is_not_told_is_found_by_looking() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("real.jsonl");
    std::fs::write(&target, "{\"id\":\"f-a\"}\n").unwrap();
    std::fs::create_dir(root.path().join(".beads")).unwrap();
    symlink(&target, root.path().join(".beads/issues.jsonl")).unwrap();
    let mut watch = Watch::file_at(store(root.path()), Duration::from_millis(20));
    assert_eq!(ids(&mut watch).await, ["f-a"]);
    std::fs::write(&target, "{\"id\":\"f-a\"}\n{\"id\":\"f-b\"}\n").unwrap();
    assert_eq!(ids(&mut watch).await, ["f-a", "f-b"]);
}

/// A pipe that takes the file's place is trouble and holds up nothing: the file that follows it is news again.
#[tokio::test]
async fn a_watch_waits_for_no_pipe() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join(".beads/issues.jsonl");
    std::fs::create_dir(root.path().join(".beads")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let mut watch = Watch::file_at(store(root.path()), Duration::from_millis(20));
    match next(&mut watch).await {
        News::Trouble(why) => assert!(why.contains("issues.jsonl is a pipe"), "{why}"),
        News::Changed(snapshot) => panic!("{} beads", snapshot.beads().len()),
    }
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "{\"id\":\"f-a\"}\n").unwrap();
    while !matches!(next(&mut watch).await, News::Changed(snapshot) if snapshot.get("f-a").is_some()) {}
}

#[tokio::test]
async fn a_dropped_watch_ends_its_task() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join(".beads")).unwrap();
    let mut watch = Watch::file(store(root.path()));
    assert!(ids(&mut watch).await.is_empty());
    let task = watch.task.clone();
    assert!(!task.is_finished());
    drop(watch);
    let ended = async {
        while !task.is_finished() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(BOUND, ended).await.expect("the task ends");
}
