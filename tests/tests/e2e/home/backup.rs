//! `forge backup` and `forge backup restore`, beside a server at work and after it.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use forge_tests::{TestForge, output, text, words};
use serde_json::{Value, json};

async fn run(forge: &TestForge, args: &[&str]) -> Output {
    let mut command = forge.command();
    command.args(args);
    output(command).await
}

async fn backup(forge: &TestForge, file: &Path) -> Value {
    let made = run(forge, &["backup", file.to_str().unwrap(), "--json"]).await;
    assert!(made.status.success(), "{}", words(&made));
    serde_json::from_slice(&made.stdout).unwrap()
}

/// Every file below a folder with its bytes; sockets and locks come and go.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => open.push(entry.path()),
                kind if kind.is_file() => {
                    found.insert(entry.path(), std::fs::read(entry.path()).unwrap());
                }
                _ => {}
            }
        }
    }
    found
}

#[tokio::test]
async fn a_backup_beside_a_server_at_work_brings_everything_back() {
    let mut forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let done = forge.start_scripted(&project, "done", "write a.txt x\nsay first words").await;
    let done = done.attempt();
    let done_run = text(&forge.settled(&done).await[0]["id"]);
    let log = forge.raw_log(&done_run).await;
    let live = forge.start_scripted(&project, "live", "say at work\nsleep 600000").await;
    let live = live.attempt();
    let live_run = text(&forge.runs(&live).await[0]["id"]);
    forge.until_said(&live_run, "at work").await;
    std::fs::write(forge.home().join("token"), "secret").unwrap();

    let file = forge.dir().join("it.tar.zst");
    let told = backup(&forge, &file).await;
    assert_eq!(text(&told["file"]), file.to_str().unwrap());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let left: Vec<_> =
        std::fs::read_dir(forge.dir()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("unfinished")), "{left:?}");
    let again = run(&forge, &["backup", file.to_str().unwrap()]).await;
    assert!(!again.status.success() && words(&again).contains("exists"), "{}", words(&again));

    let restore = ["backup", "restore", "--replace", file.to_str().unwrap()];
    let refused = run(&forge, &restore).await;
    assert!(!refused.status.success() && words(&refused).contains("another Forge"), "{}", words(&refused));
    forge.post("/api/tasks", &json!({"project_id": project, "title": "after the backup"})).await.data();
    forge.terminate().await;
    let refused = run(&forge, &restore).await;
    assert_eq!(refused.status.code(), Some(5), "{}", words(&refused));
    assert!(words(&refused).contains("an agent is still running"), "{}", words(&refused));
    forge.up().await;
    forge.post(&format!("/api/task-attempts/{live}/stop"), &json!({})).await.data();
    forge.settled(&live).await;
    forge.terminate().await;

    let refused = run(&forge, &["backup", "restore", file.to_str().unwrap()]).await;
    assert!(words(&refused).contains("--replace") && refused.status.code() == Some(5), "{}", words(&refused));
    let restored = run(&forge, &restore).await;
    assert!(restored.status.success(), "{}", words(&restored));
    assert!(words(&restored).contains("before-restore-"), "{}", words(&restored));
    assert_eq!(std::fs::read_to_string(forge.home().join("token")).unwrap(), "secret", "the token stays");
    forge.up().await;
    let tasks = forge.get(&format!("/api/tasks?project_id={project}")).await.data();
    let mut titles: Vec<_> = tasks.as_array().unwrap().iter().map(|task| text(&task["title"])).collect();
    titles.sort();
    assert_eq!(titles, ["done", "live"]);
    assert_eq!(forge.raw_log(&done_run).await, log);
    let runs = forge.settled(&live).await;
    assert_eq!(runs[0]["status"], "failed", "its keeper is gone");
    assert!(
        forge.raw_log(&live_run).await.contains("at work"),
        "the log of an agent at work was taken along"
    );
    assert!(repo.join("README.md").exists());
}

#[tokio::test]
async fn a_backup_with_a_wrong_byte_is_refused_and_nothing_changes() {
    let mut forge = TestForge::start().await;
    let (project, _repo) = forge.project("repo").await;
    forge.post("/api/tasks", &json!({"project_id": project, "title": "kept"})).await.data();
    let file = forge.dir().join("it.tar.zst");
    backup(&forge, &file).await;
    forge.terminate().await;
    let (sound, before) = (std::fs::read(&file).unwrap(), files(&forge.home()));
    let broken = forge.dir().join("broken.tar.zst");
    for part in 0..8 {
        let mut bytes = sound.clone();
        let place = (bytes.len() - 1) * part / 7;
        bytes[place] ^= 0x10;
        std::fs::write(&broken, bytes).unwrap();
        let refused = run(&forge, &["backup", "restore", "--replace", broken.to_str().unwrap()]).await;
        assert!(words(&refused).contains("Nothing was changed"), "byte {place}: {}", words(&refused));
        assert_eq!(refused.status.code(), Some(5), "byte {place}: {}", words(&refused));
    }
    std::fs::write(&broken, &sound[..sound.len() / 2]).unwrap();
    let refused = run(&forge, &["backup", "restore", "--replace", broken.to_str().unwrap()]).await;
    assert!(words(&refused).contains("Nothing was changed"), "{}", words(&refused));
    assert!(files(&forge.home()) == before, "the home is as it was");
}

#[tokio::test]
async fn a_backup_goes_to_another_home_without_the_token() {
    let forge = TestForge::start().await;
    forge.project("repo").await;
    std::fs::write(forge.home().join("token"), "secret").unwrap();
    let file = forge.dir().join("it.tar.zst");
    backup(&forge, &file).await;
    let other = forge.dir().join("other");
    let restored = async |args: &[&str]| {
        let mut command = forge.command();
        command.args(["backup", "restore"]).args(args).env("FORGE_HOME", &other);
        output(command).await
    };
    let first = restored(&[file.to_str().unwrap(), "--json"]).await;
    assert!(first.status.success(), "{}", words(&first));
    let told: Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!(told["moved_aside"], json!([]));
    assert!(other.join("db.sqlite").exists() && other.join("config.json").exists());
    for name in ["token", "pid", "port", "backups"] {
        assert!(!other.join(name).exists(), "{name}");
    }
    // A bare copy of a database replaces the database alone.
    let copy = forge.dir().join("copy.sqlite");
    std::fs::copy(other.join("db.sqlite"), &copy).unwrap();
    let second = restored(&[copy.to_str().unwrap(), "--replace"]).await;
    assert!(second.status.success(), "{}", words(&second));
    assert!(other.join("config.json").exists());
    std::fs::write(&copy, "neither a backup nor a database, but long enough for a look").unwrap();
    let third = restored(&[copy.to_str().unwrap(), "--replace"]).await;
    assert!(words(&third).contains("Nothing was changed"), "{}", words(&third));
}

#[tokio::test]
async fn a_database_outside_of_the_home_is_restored_to_its_place_however_often() {
    let mut forge = TestForge::start().await;
    forge.terminate().await;
    // It names the database that is in the home.
    std::fs::remove_file(forge.home().join("installation")).unwrap();
    let (elsewhere, file) = (forge.dir().join("elsewhere"), forge.dir().join("it.tar.zst"));
    std::fs::create_dir(&elsewhere).unwrap();
    let run = async |args: &[&str]| {
        let mut command = forge.command();
        command.args(args).env("DATABASE_URL", format!("sqlite://{}/my.db", elsewhere.display()));
        let answer = output(command).await;
        assert!(answer.status.success(), "{args:?}: {}", words(&answer));
        answer
    };
    run(&["prepare-db"]).await;
    run(&["backup", file.to_str().unwrap()]).await;
    for round in 1..=3 {
        let restored = run(&["backup", "restore", "--replace", "--json", file.to_str().unwrap()]).await;
        let told: Value = serde_json::from_slice(&restored.stdout).unwrap();
        assert_eq!(told["moved_aside"].as_array().unwrap().len(), 2, "{told}");
        let aside = std::fs::read_dir(&elsewhere).unwrap().flatten().filter(|entry| entry.path().is_dir());
        assert_eq!(aside.filter(|entry| entry.path().join("my.db").exists()).count(), round);
        run(&["prepare-db"]).await;
    }
    assert!(!forge.home().join("restore.json").exists());
}

#[tokio::test]
async fn a_database_in_a_folder_of_the_home_is_backed_up_once_and_restored_however_often() {
    let mut forge = TestForge::start().await;
    forge.terminate().await;
    let (home, file) = (forge.dir().join("nested"), forge.dir().join("it.tar.zst"));
    std::fs::create_dir_all(home.join("data")).unwrap();
    std::fs::write(home.join("data/note"), "kept").unwrap();
    let database = home.join("data/db.sqlite");
    let run = async |args: &[&str]| {
        let mut command = forge.command();
        command.args(args).env("FORGE_HOME", &home);
        command.env("DATABASE_URL", format!("sqlite://{}", database.display()));
        let answer = output(command).await;
        assert!(answer.status.success(), "{args:?}: {}", words(&answer));
        answer
    };
    run(&["prepare-db"]).await;
    let made = run(&["backup", "--json", file.to_str().unwrap()]).await;
    let told: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!((&told["files"], &told["left_out"]), (&json!(2), &json!([])), "{told}");
    for _ in 0..2 {
        std::fs::write(home.join("data/note"), "changed").unwrap();
        run(&["backup", "restore", "--replace", file.to_str().unwrap()]).await;
        assert_eq!(std::fs::read_to_string(home.join("data/note")).unwrap(), "kept");
        run(&["prepare-db"]).await;
    }
    assert!(!home.join("restore.json").exists());
}

#[tokio::test]
async fn a_home_restored_beside_the_one_that_was_backed_up_leaves_its_worktrees_alone() {
    let mut first = TestForge::start().await;
    let (project, _repo) = first.project("repo").await;
    let done = first.start_scripted(&project, "done", "write a.txt x\nsay done").await;
    let attempt = done.attempt();
    let place = done.place();
    first.settled(&attempt).await;
    let file = first.dir().join("it.tar.zst");
    backup(&first, &file).await;
    let base = first.worktrees();
    let mut second = TestForge::with(&["--worktree-dir", base.to_str().unwrap()], &[]).await;
    second.terminate().await;
    std::fs::remove_dir_all(second.home()).unwrap();
    let restored = run(&second, &["backup", "restore", "--json", file.to_str().unwrap()]).await;
    let told: Value = serde_json::from_slice(&restored.stdout).unwrap();
    assert_eq!(text(&told["other_home"]), first.home().to_str().unwrap(), "{}", words(&restored));
    second.up().await;

    let follow_up = (format!("/api/task-attempts/{attempt}/follow-up"), json!({"prompt": "write b.txt y"}));
    let refused = second.post(&follow_up.0, &follow_up.1).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.message().contains("a worktree of another Forge home"), "{}", refused.text);
    let living = second.start_scripted(&project, "living", "say at work\nsleep 600000").await;
    let living_run = text(&second.runs(&living.attempt()).await[0]["id"]);
    second.until_said(&living_run, "at work").await;
    first.terminate().await;
    first.up().await;
    let report = first.get("/api/worktrees").await.data();
    let path = &living["task_attempt"]["worktree_path"];
    let line = report["worktrees"].as_array().unwrap().iter().find(|line| line["path"] == *path).unwrap();
    assert_eq!(line["standing"], "other_forge");

    // The branch is free once the first home has put its worktree away.
    first.post(&format!("/api/worktrees/{attempt}/retire"), &json!({})).await.data();
    second.post(&follow_up.0, &follow_up.1).await.data();
    second.settled(&attempt).await;
    assert_eq!(std::fs::read_to_string(place.join("a.txt")).unwrap().trim(), "x");
    assert_eq!(std::fs::read_to_string(place.join("b.txt")).unwrap().trim(), "y");
    let living = living.attempt();
    second.post(&format!("/api/task-attempts/{living}/stop"), &json!({})).await.data();
}
