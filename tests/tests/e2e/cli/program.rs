//! The program itself: what it says when things are in the way, and what it knows without a server.

use forge_tests::{TestForge, err, out, text};

#[tokio::test]
async fn a_taken_port_is_explained() {
    let forge = TestForge::start().await;
    let port = forge.base().rsplit_once(':').unwrap().1.to_owned();
    let other = tempfile::tempdir().unwrap();
    let mut command = forge.command();
    let output = command.args(["serve", "--port", &port]).env("FORGE_HOME", other.path()).output().unwrap();
    let words = err(&output);
    assert!(!output.status.success());
    for word in ["another Forge", &forge.server_pid().to_string(), "--port", "BACKEND_PORT"] {
        assert!(words.contains(word), "'{word}' is missing in: {words}");
    }
}

#[tokio::test]
async fn a_home_in_use_is_refused() {
    let forge = TestForge::start().await;
    let output = forge.command().args(["serve", "--port", "0"]).output().unwrap();
    let words = err(&output);
    assert!(
        !output.status.success() && words.contains("FORGE_HOME") && words.contains(forge.base()),
        "{words}"
    );
}

#[tokio::test]
async fn a_database_is_prepared_without_a_server_and_never_below_one() {
    let mut forge = TestForge::start().await;
    let refused = forge.command().arg("prepare-db").output().unwrap();
    let words = err(&refused);
    assert!(!refused.status.success() && words.contains(forge.base()), "{words}");
    forge.terminate().await;

    let other = tempfile::tempdir().unwrap();
    let home = other.path().join("home");
    for _ in ["made", "left as it is"] {
        let output = forge.command().arg("prepare-db").env("FORGE_HOME", &home).output().unwrap();
        let words = out(&output);
        let database = home.join("db.sqlite");
        assert!(output.status.success() && words.contains(&database.display().to_string()), "{words}");
        assert!(std::fs::metadata(&database).unwrap().len() > 0);
    }
    assert!(!home.join("config.json").exists(), "only the database is prepared");
}

#[tokio::test]
async fn whoami_finds_the_full_id_from_inside_a_worktree_without_a_server() {
    let mut forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "t", "write sub/a.txt x\nsay done").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    forge.terminate().await;
    let place = task.place().join("sub");
    let output = forge.command().args(["whoami", "--json"]).current_dir(&place).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(text(&told["id"]), attempt);
    assert_eq!(told["branch"], task["task_attempt"]["branch"]);
    let outside = forge.command().arg("whoami").current_dir(&repo).output().unwrap();
    assert!(!outside.status.success());
}

#[tokio::test]
async fn the_demo_shows_three_agents_and_merges_one() {
    let forge = TestForge::start().await;
    let dir = forge.dir().join("demo");
    let output = forge.command().arg("demo").arg("--dir").arg(&dir).output().unwrap();
    let words = out(&output);
    assert!(output.status.success(), "{words}\n{}", err(&output));
    assert!(words.contains("merged into main"), "{words}");
    assert_eq!(forge_tests::git(&dir.join("hello"), &["rev-list", "--count", "main"]), "3");
    assert_eq!(forge_tests::git(&dir.join("hello"), &["branch", "--list", "forge/*"]).lines().count(), 3);
}
