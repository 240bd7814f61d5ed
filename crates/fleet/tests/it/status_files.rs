//! Status files on disk: kept complete when changed, reported when they change, removed only when they are old.

use std::fs;
use std::path::Path;
use std::time::Duration;

use forge_fleet::status_file::{self, Change, StatusFileError, Watch};
use forge_fleet::worker::{WorkerId, WorkerStatus};
use forge_types::Millis;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::LONG;

fn put(dir: &Path, name: &str, value: Value) {
    let draft = dir.join(format!(".{name}"));
    fs::write(&draft, value.to_string()).unwrap();
    fs::rename(draft, dir.join(name)).unwrap();
}

fn id(text: &str) -> WorkerId {
    WorkerId::new(text).unwrap()
}

async fn next(watch: &mut Watch) -> Change {
    tokio::time::timeout(LONG, watch.next()).await.expect("a change")
}

async fn written(watch: &mut Watch) -> (String, WorkerStatus) {
    match next(watch).await {
        Change::Written(file) => (file.worker_id, file.status),
        Change::Removed(file) => panic!("{file:?} was removed"),
    }
}

#[test]
fn pausing_keeps_what_it_does_not_know_and_makes_no_file() {
    let dir = TempDir::new().unwrap();
    assert_eq!(status_file::pause(dir.path(), &id("nobody"), "why").unwrap(), None);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

    put(
        dir.path(),
        "other-name.json",
        json!({"worker_id": "a", "status": "active", "own": {"x": [1, 2]}, "pid": 7}),
    );
    let paused = status_file::pause(dir.path(), &id("a"), "lunch").unwrap().unwrap();
    assert_eq!((paused.status, paused.pause_reason.as_deref()), (WorkerStatus::Paused, Some("lunch")));
    assert!(paused.paused_at.is_some());
    let resumed = status_file::resume(dir.path(), &id("a")).unwrap().unwrap();
    assert_eq!((resumed.status, resumed.paused_at, resumed.pid), (WorkerStatus::Idle, None, Some(7)));
    assert_eq!(resumed.fields["own"], json!({"x": [1, 2]}));
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["other-name.json"]);
}

#[test]
fn a_new_life_takes_back_what_the_last_one_said_about_its_end() {
    let dir = tempfile::tempdir().expect("a folder");
    put(dir.path(), "a.json", json!({"worker_id": "a", "status": "stopped", "exit_code": 0, "mine": 1}));
    let file = status_file::begin(dir.path(), &id("a")).expect("written").expect("there");
    assert_eq!((file.status, file.fields.get("exit_code")), (WorkerStatus::Starting, None));
    assert_eq!(file.fields["mine"], 1);
}

#[test]
fn a_corrupt_file_is_shown_but_not_written_over() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.json"), "{\"status\": ").unwrap();
    let error = status_file::pause(dir.path(), &id("a"), "why").unwrap_err();
    assert!(matches!(error, StatusFileError::NotUnderstood { .. }), "{error}");
    assert_eq!(fs::read_to_string(dir.path().join("a.json")).unwrap(), "{\"status\": ");
    let all = status_file::read_all(dir.path()).unwrap();
    assert_eq!((all.len(), all[0].status), (1, WorkerStatus::Error));
    assert_eq!(status_file::read_all(&dir.path().join("missing")).unwrap(), []);
}

#[tokio::test]
async fn existing_files_and_changes_are_one_stream() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path().join("made/for/it");
    let mut watch = status_file::watch(&dir).unwrap();
    put(&dir, "a.json", json!({"status": "active"}));
    assert_eq!(written(&mut watch).await, ("a".into(), WorkerStatus::Active));
    put(&dir, "a.json", json!({"status": "idle"}));
    assert_eq!(written(&mut watch).await, ("a".into(), WorkerStatus::Idle));
    // Not one of them.
    fs::write(dir.join("notes.txt"), "x").unwrap();
    fs::remove_file(dir.join("a.json")).unwrap();
    assert!(matches!(next(&mut watch).await, Change::Removed(file) if file.worker_id == "a"));

    let mut second = status_file::watch(&dir).unwrap();
    put(&dir, "b.json", json!({"status": "starting"}));
    assert_eq!(written(&mut watch).await, ("b".into(), WorkerStatus::Starting));
    assert_eq!(written(&mut second).await, ("b".into(), WorkerStatus::Starting));
}

#[tokio::test]
async fn a_broken_file_is_an_error_until_it_is_complete() {
    let dir = TempDir::new().unwrap();
    let mut watch = status_file::watch(dir.path()).unwrap();
    let path = dir.path().join("a.json");
    fs::write(&path, "{\"status\": \"act").unwrap();
    assert_eq!(written(&mut watch).await, ("a".into(), WorkerStatus::Error));
    fs::write(&path, "{\"status\": \"active\"}").unwrap();
    assert_eq!(written(&mut watch).await, ("a".into(), WorkerStatus::Active));
}

#[tokio::test]
async fn a_folder_that_was_replaced_is_watched_again() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path().join("status");
    let mut watch = status_file::watch(&dir).unwrap();
    put(&dir, "a.json", json!({"status": "active"}));
    assert_eq!(written(&mut watch).await.0, "a");
    fs::remove_dir_all(&dir).unwrap();
    assert!(matches!(next(&mut watch).await, Change::Removed(_)));
    // The watch makes the folder again once it has noticed.
    let stop = async {
        loop {
            if dir.is_dir() {
                put(&dir, "b.json", json!({"status": "idle"}));
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    let (change, ()) = tokio::join!(next(&mut watch), stop);
    assert!(matches!(change, Change::Written(file) if file.worker_id == "b"));
}

#[test]
fn only_ended_workers_grow_old_and_only_unchanged_files_go() {
    let dir = TempDir::new().unwrap();
    let old = "2020-01-01T00:00:00Z";
    for (name, status, at) in [
        ("stopped", "stopped", old),
        ("failed", "failed", old),
        ("touched", "stopped", old),
        ("active", "active", old),
        ("fresh", "stopped", "2030-01-01T00:00:00Z"),
    ] {
        put(dir.path(), &format!("{name}.json"), json!({"status": status, "last_update": at}));
    }
    fs::write(dir.path().join("corrupt.json"), "{").unwrap();
    let now = Millis("2030-01-02T00:00:00Z".parse::<jiff::Timestamp>().unwrap().as_millisecond());
    let aged = status_file::aged(dir.path(), Duration::from_secs(7 * 86_400), now).unwrap();
    let names = |aged: &[status_file::Aged]| aged.iter().map(|a| a.0.worker_id.clone()).collect::<Vec<_>>();
    assert_eq!(names(&aged), ["failed", "stopped", "touched"]);
    assert_eq!(status_file::read_all(dir.path()).unwrap().len(), 6);

    put(dir.path(), "touched.json", json!({"status": "active", "last_update": old}));
    assert_eq!(names(&status_file::remove(aged)), ["failed", "stopped"]);
    let left: Vec<_> =
        status_file::read_all(dir.path()).unwrap().into_iter().map(|file| file.worker_id).collect();
    assert_eq!(left, ["active", "corrupt", "fresh", "touched"]);
}

#[tokio::test]
async fn a_pipe_or_a_device_among_them_is_a_row_with_the_reason_and_holds_up_nobody() {
    let dir = TempDir::new().unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        dir.path().join("pipe.json"),
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero.json")).unwrap();
    fs::write(dir.path().join("large.json"), " ".repeat(1 << 20)).unwrap();
    put(dir.path(), "well.json", json!({"status": "active"}));
    let rows = status_file::read_all(dir.path()).unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.worker_id.as_str(), row.status)).collect();
    let error = WorkerStatus::Error;
    assert_eq!(found, [("large", error), ("pipe", error), ("well", WorkerStatus::Active), ("zero", error)],);
    for (row, reason) in [(0, "262144 bytes"), (1, "is a pipe"), (3, "leads out of")] {
        assert!(rows[row].reason.as_ref().unwrap().contains(reason), "{:?}", rows[row].reason);
    }
    assert!(matches!(status_file::pause(dir.path(), &id("pipe"), "why"), Err(StatusFileError::File(_))));
    let mut watch = status_file::watch(dir.path()).unwrap();
    let mut seen = Vec::new();
    while seen.len() < 4 {
        seen.push(written(&mut watch).await.0);
    }
    seen.sort();
    assert_eq!(seen, ["large", "pipe", "well", "zero"]);
}
