//! The database of a running server, of a start that was killed, and of a home that lost it.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use forge_tests::{TestForge, err, output};
use serde_json::json;

const KILLS: u32 = 20;

#[tokio::test]
async fn a_first_start_that_is_killed_at_any_moment_starts_again() {
    let mut forge = TestForge::start().await;
    forge.terminate().await;
    let prepare = |number: u32| {
        let mut command = forge.command();
        command.arg("prepare-db").env("FORGE_HOME", forge.dir().join(format!("home-{number}")));
        command
    };
    let begun = Instant::now();
    assert!(output(prepare(KILLS)).await.status.success());
    let whole = begun.elapsed();
    for number in 0..KILLS {
        let mut command = prepare(number);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Not waited for anything: the moments are spread over what a start takes.
        tokio::time::sleep(whole.mul_f64(f64::from(number) / f64::from(KILLS))).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let again = output(prepare(number)).await;
        let words = err(&again);
        assert!(again.status.success(), "killed at {number}/{KILLS} of {whole:?}: {words}");
    }
}

#[tokio::test]
async fn a_server_whose_database_vanished_saves_nothing_and_says_so() {
    let forge = TestForge::start().await;
    let (project, _repo) = forge.project("repo").await;
    let (database, away) = (forge.home().join("db.sqlite"), forge.dir().join("away"));
    let body = json!({"project_id": project, "title": "lost"});
    std::fs::rename(&database, &away).unwrap();
    let refused = forge.post("/api/tasks", &body).await;
    assert_eq!(refused.status, 503, "{}", refused.text);
    for word in ["db.sqlite", "put the file back", "forge backup restore"] {
        assert!(refused.message().contains(word), "{word}: {}", refused.text);
    }
    for path in ["/health", "/api/health"] {
        let answer = forge.get(path).await;
        assert_eq!((answer.status, answer.message().contains("db.sqlite")), (503, true), "{}", answer.text);
    }
    std::fs::rename(&away, &database).unwrap();
    forge.post("/api/tasks", &body).await.data();
    assert_eq!(forge.get("/health").await.status, 200);
    std::fs::File::options().write(true).open(&database).unwrap().set_len(0).unwrap();
    assert_eq!(forge.post("/api/tasks", &body).await.status, 503, "it was emptied in its place");
}

#[tokio::test]
async fn a_home_that_lost_its_database_does_not_begin_again_without_a_word() {
    let mut forge = TestForge::start().await;
    let (project, _repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "t", "write a.txt x\nsay done").await;
    forge.settled(&task.attempt()).await;
    forge.terminate().await;
    let home = forge.home();
    let database = home.join("db.sqlite");
    std::fs::rename(&database, home.join("lost")).unwrap();
    let refused = async |args: &[&str]| {
        let mut command = forge.command();
        command.args(args);
        let answer = output(command).await;
        let words = err(&answer);
        assert!(!answer.status.success(), "{args:?}");
        for word in ["db.sqlite", "forge backup restore", "begin again"] {
            assert!(words.contains(word), "{word}: {words}");
        }
    };
    for args in [&["serve", "--port", "0"][..], &["prepare-db"]] {
        refused(args).await;
        assert!(!database.exists(), "nothing took its place");
        std::fs::write(&database, "").unwrap();
        refused(args).await;
        std::fs::remove_file(&database).unwrap();
    }
    // The file alone tells it too.
    std::fs::rename(home.join("runs"), forge.dir().join("runs-away")).unwrap();
    refused(&["prepare-db"]).await;
    std::fs::remove_file(home.join("installation")).unwrap();
    forge.up().await;
    assert_eq!(forge.get("/api/projects").await.data(), json!([]));
}

#[tokio::test]
async fn a_home_that_lost_its_database_before_any_run_is_refused_too() {
    let mut forge = TestForge::start().await;
    forge.project("repo").await;
    forge.terminate().await;
    let database = forge.home().join("db.sqlite");
    std::fs::remove_file(&database).unwrap();
    let mut command = forge.command();
    command.arg("prepare-db");
    let answer = output(command).await;
    let words = err(&answer);
    assert!(!answer.status.success() && words.contains("is missing or empty"), "{words}");
    assert!(!database.exists(), "nothing took its place");
}

#[tokio::test]
async fn the_database_of_another_home_is_refused_until_somebody_accepts_it() {
    let (mut forge, mut other) = (TestForge::start().await, TestForge::start().await);
    forge.terminate().await;
    other.terminate().await;
    std::fs::copy(other.home().join("db.sqlite"), forge.home().join("db.sqlite")).unwrap();
    let mut command = forge.command();
    command.args(["serve", "--port", "0"]);
    let answer = output(command).await;
    let words = err(&answer);
    assert!(!answer.status.success() && words.contains("is another home's"), "{words}");
    assert!(words.contains("To accept it, move"), "{words}");
    std::fs::remove_file(forge.home().join("installation")).unwrap();
    forge.up().await;
    let id = |home: PathBuf| std::fs::read_to_string(home.join("installation")).unwrap();
    assert_eq!(id(forge.home()), id(other.home()));
}

#[tokio::test]
async fn a_damaged_database_is_told_once_and_with_the_way_back() {
    let mut forge = TestForge::start().await;
    forge.terminate().await;
    std::fs::write(forge.home().join("db.sqlite"), "no database, and long enough to be looked at as one")
        .unwrap();
    let mut command = forge.command();
    command.args(["serve", "--port", "0"]);
    let words = err(&output(command).await);
    let told: Vec<_> = words.matches("is damaged").collect();
    assert!(told.len() == 1 && words.contains("forge backup restore --replace"), "{words}");
}

#[tokio::test]
async fn what_a_merge_adds_is_on_the_disk_before_it_is_answered() {
    let traces = tempfile::tempdir().unwrap();
    let forge = TestForge::with(&[], &[("GIT_TRACE2_EVENT", traces.path().to_str().unwrap())]).await;
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "t", "write a.txt x\nsay done").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    forge.post(&format!("/api/task-attempts/{attempt}/merge"), &json!({})).await.data();
    assert_eq!(forge_tests::git(&repo, &["show", "main:a.txt"]), "x");
    // Git tells at its end what it synced; the server does not wait for the last line of that.
    let synced = |verb: &str| {
        let files = std::fs::read_dir(traces.path()).unwrap().flatten();
        let traces = files.map(|file| std::fs::read_to_string(file.path()).unwrap_or_default());
        traces
            .filter(|trace| trace.contains(&format!("\"{verb}\"")))
            .any(|trace| trace.contains("hardware-flush"))
    };
    for verb in ["commit-tree", "update-ref"] {
        forge_tests::eventually(&format!("git {verb} has synced"), || synced(verb)).await;
    }
}
