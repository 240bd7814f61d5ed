//! Projects, tasks, settings and use from the command line, and what shells and manuals are given.

use forge_tests::{TestForge, git, text};
use serde_json::json;

use super::desk::{forge, worked};

#[tokio::test]
async fn a_project_is_added_shown_and_forgotten_and_its_repository_stays() {
    let server = TestForge::start().await;
    let repo = server.repository("shop");
    std::fs::create_dir(repo.join("sub")).unwrap();
    forge(&server, &repo, &["task", "add", "Too early"]).await.assert(4, &["forge project add"]);
    let scripts = ["project", "add", "--setup-script", "true", "--copy-files", ".env"];
    forge(&server, &repo.join("sub"), &scripts).await.assert(0, &["added shop", &repo.to_string_lossy()]);
    forge(&server, &repo, &["project", "add"]).await.assert(5, &["already"]);
    forge(&server, server.dir(), &["project", "add", "/"]).await.assert(4, &["git init"]);
    forge(&server, &repo, &["project", "show"])
        .await
        .assert(0, &["shop", "setup     true", "copies    .env"]);

    let project = text(&server.get("/api/projects").await.data()[0]["id"]);
    let attempt = worked(&server, &project, "Work", "write a.txt one").await;
    let branch = text(&server.get(&format!("/api/task-attempts/{attempt}")).await.data()["branch"]);
    forge(&server, &repo, &["project", "rm", "shop"]).await.assert(2, &["1 task", "--yes"]);
    assert_eq!(server.get("/api/projects").await.data().as_array().unwrap().len(), 1);
    let gone = forge(&server, &repo, &["project", "rm", "SHOP", "--yes"]).await;
    gone.assert(0, &["removed shop with its 1 task", "all branches are kept", "refs/forge/keep"]);
    assert_eq!(server.get("/api/projects").await.data(), json!([]));
    assert!(!git(&repo, &["rev-parse", &branch]).is_empty());
}

#[tokio::test]
async fn a_task_is_written_down_started_changed_and_ended() {
    let server = TestForge::start().await;
    let (_, repo) = server.project("repo").await;
    std::fs::write(repo.join("task.md"), "write a.txt from the file\n").unwrap();
    forge(&server, &repo, &["task", "add", "From a file", "-f", "task.md"])
        .await
        .assert(0, &["added", "forge task start"]);
    forge(&server, &repo, &["task", "add", "x", "-f", "gone.md"]).await.assert(4, &["--file", "gone.md"]);
    forge(&server, &repo, &["task", "add", "x", "-x", "SCRIPTED"]).await.assert(2, &["--start"]);
    forge(&server, &repo, &["task", "start", "from a file", "-x", "SCRIPTED"])
        .await
        .assert(0, &["started SCRIPTED on forge/"]);
    let attempt = text(&server.get("/api/task-attempts").await.data()[0]["id"]);
    server.settled(&attempt).await;
    forge(&server, &repo, &["task", "show", "from a file"])
        .await
        .assert(0, &["inreview", "from the file", &attempt[..8]]);
    forge(&server, &repo, &["task", "edit", "from a file", "--title", "Renamed"])
        .await
        .assert(0, &["inreview Renamed"]);
    forge(&server, &repo, &["task", "edit", "renamed"]).await.assert(2, &["nothing to change"]);
    forge(&server, &repo, &["task", "done", "@last"]).await.assert(0, &["done Renamed"]);
    forge(&server, &repo, &["task", "cancel", "renamed"]).await.assert(0, &["cancelled Renamed"]);
    forge(&server, &repo, &["task", "rm", "renamed"]).await.assert(2, &["--yes"]);
    forge(&server, &repo, &["task", "rm", "renamed", "--yes"])
        .await
        .assert(0, &["removed", "branches are kept"]);

    let started = ["task", "add", "At once", "-d", "say hi", "--start", "-x", "SCRIPTED", "--json"];
    let attempt = forge(&server, &repo, &started).await.json();
    assert_eq!(attempt["executor"], "SCRIPTED");
    let refused = ["task", "add", "Not at all", "--start", "-x", "SCRIPTED", "-b", "nowhere"];
    forge(&server, &repo, &refused).await.assert(4, &["nowhere"]);
    let tasks = forge(&server, &repo, &["task", "list", "--json"]).await.json();
    assert_eq!(tasks.as_array().unwrap().len(), 1, "a refused start leaves no task: {tasks}");
}

#[tokio::test]
async fn a_setting_is_read_and_changed_by_its_name_and_a_secret_is_never_shown() {
    let server = TestForge::start().await;
    let dir = server.dir();
    forge(&server, dir, &["config", "get"]).await.assert(0, &["git_branch_prefix", "github.default_pr_base"]);
    assert_eq!(forge(&server, dir, &["config", "get", "theme"]).await.out, "SYSTEM\n");
    forge(&server, dir, &["config", "set", "notifications.sound_enabled", "false"])
        .await
        .assert(0, &["= false"]);
    forge(&server, dir, &["config", "set", "github.default_pr_base", "12"]).await.assert(0, &["= 12"]);
    forge(&server, dir, &["config", "set", "executor_profile", "CODEX:HIGH"])
        .await
        .assert(0, &["CODEX", "HIGH"]);
    let config = server.get("/api/config").await.data();
    assert_eq!(config["notifications"]["sound_enabled"], false);
    assert_eq!(config["notifications"]["push_enabled"], true, "what was not named is kept");
    assert_eq!(config["github"]["default_pr_base"], "12");

    let secret =
        forge(&server, dir, &["config", "set", "github.pat", "ghp_secret"]).await.assert(0, &["****"]);
    let all = forge(&server, dir, &["config", "get", "--json"]).await;
    assert!(!(secret.out + &secret.err + &all.out).contains("ghp_secret"));
    forge(&server, dir, &["config", "unset", "github.pat"]).await.assert(0, &["github.pat = null"]);
    forge(&server, dir, &["config", "set", "max_cost_usd_per_day", "20"]).await.assert(0, &["= 20"]);
    forge(&server, dir, &["status"]).await.assert(0, &["$20.00 a day"]);
    forge(&server, dir, &["config", "unset", "theme"]).await.assert(2, &["cannot be cleared"]);
    forge(&server, dir, &["config", "set", "theme", "PURPLE"]).await.assert(2, &["PURPLE", "DARK"]);
    forge(&server, dir, &["config", "set", "git_prefix", "x"])
        .await
        .assert(4, &["did you mean git_branch_prefix"]);
}

#[tokio::test]
async fn use_is_summed_by_any_key_with_a_total() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    worked(&server, &project, "Spend", "say one").await;
    worked(&server, &project, "Spend more", "say two").await;
    for (key, row) in [
        ("project", "repo"),
        ("executor", "SCRIPTED"),
        ("model", "scripted"),
        ("day", "20"),
        ("task", "Spend more"),
    ] {
        forge(&server, &repo, &["usage", "--by", key]).await.assert(0, &[&key.to_uppercase(), row, "total"]);
    }
    let report = forge(&server, &repo, &["usage", "--by", "task", "--json"]).await.json();
    assert_eq!(report["groups"].as_array().unwrap().len(), 2, "{report}");
    let later = forge(&server, &repo, &["usage", "--since", "2999-01-01", "--json"]).await.json();
    assert_eq!(later["total"]["runs"], 0);
    forge(&server, &repo, &["usage", "--since", "yesterday"]).await.assert(2, &["'yesterday'"]);
}

#[tokio::test]
async fn shells_and_manuals_know_every_command() {
    let server = TestForge::start().await;
    let dir = server.dir();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        forge(&server, dir, &["completions", shell]).await.assert(0, &["rebase", "worktree", "completions"]);
    }
    forge(&server, dir, &["man"]).await.assert(0, &[".TH forge 1"]);
    forge(&server, dir, &["man", "pages/man1"]).await.assert(0, &["pages/man1"]);
    for page in ["forge.1", "forge-list.1", "forge-task-add.1"] {
        assert!(dir.join("pages/man1").join(page).exists(), "{page}");
    }
    assert!(!dir.join("pages/man1/forge-keep.1").exists(), "hidden commands have no page");
}
