//! A command that changes something does so in the repository that it is called in, and says in which it did.

use std::path::{Path, PathBuf};

use forge_tests::{Terminal, TestForge, git, text};
use serde_json::json;

use super::desk::{forge, worked};
use crate::beads::BARE;

/// A repository that Forge does not know, with or without a commit.
fn stranger(server: &TestForge, name: &str) -> PathBuf {
    let path = server.dir().join(name);
    std::fs::create_dir_all(&path).unwrap();
    git(&path, &["init", "-q", "-b", "trunk"]);
    git(&path, &["config", "user.name", "Tester"]);
    git(&path, &["config", "user.email", "tester@localhost"]);
    path.canonicalize().unwrap()
}

fn commits(repo: &Path) -> String {
    git(repo, &["rev-list", "--all", "--count"])
}

#[tokio::test]
async fn an_attempt_of_another_repository_is_changed_only_by_its_id_or_its_project() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("shop").await;
    let attempt = worked(&server, &project, "Paint", "write a.txt one").await;
    let (elsewhere, before) = (stranger(&server, "n"), git(&repo, &["rev-parse", "main"]));
    git(&elsewhere, &["commit", "-q", "--allow-empty", "-m", "Begin"]);
    let help = ["this directory does not belong to one", "--project"];
    for args in [
        &["merge", "@last"][..],
        &["merge", "scripted"],
        &["rebase", "@last"],
        &["push", "@last"],
        &["pr", "@last"],
        &["resume", "-", "go on"],
        &["stop", "@last"],
        &["approve", "@last"],
        &["worktree", "retire", "@last"],
        &["worktree", "restore", "@last"],
        &["restore", "@last"],
        &["task", "done", "@last"],
        &["task", "rm", "@last", "--yes"],
        &["run", "--follow", "@last", "go on"],
    ] {
        forge(&server, &elsewhere, args).await.assert(4, &help);
        // Outside of any repository too.
        forge(&server, server.dir(), args).await.assert(4, &help);
    }
    assert_eq!(git(&repo, &["rev-parse", "main"]), before);
    assert_eq!(server.runs(&attempt).await.len(), 1);

    // Who only looks is shown it, and told whose it is.
    let whose = format!("this is attempt {} of shop", &attempt[..8]);
    forge(&server, &elsewhere, &["diff", "@last", "--stat"]).await.assert(0, &["a.txt", &whose]);
    forge(&server, &elsewhere, &["status", &attempt[..8]]).await.assert(0, &["project   shop"]);

    // What is named is meant, and so is the newest of a project that is named.
    forge(&server, &elsewhere, &["rebase", "@last", "--project", "shop"])
        .await
        .assert(0, &["onto main of shop"]);
    forge(&server, &elsewhere, &["merge", "paint", "--project", "n"]).await.assert(4, &["project"]);
    // A title may be there by chance.
    let id = &attempt[..8];
    let help = format!("give its id ({id}) or --project shop");
    for args in [&["merge", "paint"][..], &["stop", "Paint"], &["worktree", "retire", "Paint"]] {
        forge(&server, &elsewhere, args).await.assert(4, &[&help]);
    }
    forge(&server, &elsewhere, &["task", "rm", "Paint", "--yes"]).await.assert(4, &["--project shop"]);
    assert_eq!(git(&repo, &["rev-parse", "main"]), before);
    forge(&server, &elsewhere, &["merge", id]).await.assert(0, &["merged ", " into main of shop as "]);
    assert_ne!(git(&repo, &["rev-parse", "main"]), before);
}

#[tokio::test]
async fn what_was_changed_is_said_with_its_project() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("shop").await;
    worked(&server, &project, "Paint", "write a.txt one").await;
    let at = |args: &'static [&'static str]| forge(&server, &repo, args);
    at(&["task", "add", "Later"]).await.assert(0, &["added ", " Later to shop"]);
    at(&["task", "done", "Later"]).await.assert(0, &["Later of shop"]);
    at(&["task", "rm", "Later", "--yes"]).await.assert(0, &["removed ", " Later of shop"]);
    at(&["stop", "@last"]).await.assert(0, &["nothing is running in ", " in shop"]);
    at(&["worktree", "retire", "@last"]).await.assert(0, &["retired ", " of shop; saved as "]);
    at(&["restore", "@last"]).await.assert(0, &["restored ", " of shop from the "]);
    at(&["resume", "@last", "say more", "--background"]).await.assert(0, &[" of shop"]);
    let told = at(&["run", "-x", "SCRIPTED", "say it", "--background", "--json"]).await.json();
    assert_eq!(told["project"], "shop");
}

#[tokio::test]
async fn beads_are_written_down_where_the_command_is_called_or_not_at_all() {
    let server = TestForge::with(&[], &[BARE]).await;
    let (_, repo) = server.project("shop").await;
    std::fs::create_dir(repo.join(".beads")).unwrap();
    let made = forge(&server, &repo, &["beads", "create", "Lay the floor"]).await.assert(0, &["in shop"]);
    let (bead, file) = (made.out.trim(), repo.join(".beads/issues.jsonl"));
    let before = std::fs::read(&file).unwrap();
    let elsewhere = stranger(&server, "n");
    for args in [
        &["beads", "create", "Mine"][..],
        &["beads", "claim", bead],
        &["beads", "close", bead, "-r", "Done"],
        &["beads", "release", bead],
        &["beads", "dep", bead, bead],
    ] {
        forge(&server, &elsewhere, args).await.assert(4, &["forge beads init", "--project"]);
    }
    assert_eq!(std::fs::read(&file).unwrap(), before, "nobody else's beads are touched");
    forge(&server, &elsewhere, &["beads", "ready"]).await.assert(0, &["Lay the floor", "the beads of shop"]);
    forge(&server, &elsewhere, &["beads", "claim", bead, "--project", "shop"]).await.assert(0, &[" in shop"]);

    let told = forge(&server, &elsewhere, &["beads", "init"]).await;
    told.assert(0, &["created ", ".beads", "first commit on trunk"]);
    forge(&server, &elsewhere, &["beads", "init"]).await.assert(0, &["n already has beads"]);
    forge(&server, &elsewhere, &["beads", "create", "Mine"]).await.assert(0, &["created in n", "n-"]);
}

#[tokio::test]
async fn a_first_commit_is_never_made_without_a_word() {
    let server = TestForge::start().await;
    let said = "created an empty first commit on trunk, because the repository had none";
    let repo = stranger(&server, "added");
    forge(&server, &repo, &["project", "add"]).await.assert(0, &[said, "added added"]);
    assert_eq!((commits(&repo).as_str(), git(&repo, &["branch", "--show-current"]).as_str()), ("1", "trunk"));

    let repo = stranger(&server, "run");
    let told = forge(&server, &repo, &["run", "-x", "SCRIPTED", "say it", "--background", "--json"]).await;
    assert!(told.err.contains(said), "{}", told.err);
    assert_eq!(told.json()["first_commit"], "trunk");

    let repo = stranger(&server, "asked");
    let body = json!({"name": "asked", "git_repo_path": repo, "use_existing_repo": true});
    let project = server.post("/api/projects", &body).await.data();
    assert_eq!(project["first_commit"], "trunk");
    let again = server.get(&format!("/api/projects/{}", text(&project["id"]))).await.data();
    assert!(again.get("first_commit").is_none(), "{again:#}");
}

#[tokio::test]
async fn at_a_terminal_a_first_commit_is_asked_for() {
    let server = TestForge::start().await;
    let question = "Create an empty first commit on trunk? [Y/n]";
    let start = |repo: &Path| {
        let mut command = server.command();
        command.args(["project", "add"]).current_dir(repo);
        Terminal::start(command, 200)
    };
    let repo = stranger(&server, "refused");
    let mut terminal = start(&repo);
    terminal.until(question).await;
    terminal.type_line("n");
    assert_eq!(terminal.ended().await.code(), Some(1));
    assert_eq!(commits(&repo), "0");
    assert_eq!(server.get("/api/projects").await.data(), json!([]));

    let repo = stranger(&server, "agreed");
    let mut terminal = start(&repo);
    terminal.until(question).await;
    terminal.type_line("");
    terminal.until("agreed (").await;
    assert_eq!(terminal.ended().await.code(), Some(0));
    assert_eq!(commits(&repo), "1");
}
