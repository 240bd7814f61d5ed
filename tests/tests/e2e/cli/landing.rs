//! Landing work from the command line: each says what happened in a line, and a refusal names what stands in the way.

use forge_tests::{Dialect, TestForge, commit, git};
use serde_json::json;

use super::desk::{forge, worked};
use crate::publish::Published;

#[tokio::test]
async fn a_merge_says_which_commit_it_made_and_takes_a_message() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    worked(&server, &project, "First", "write a.txt one").await;
    let merged =
        forge(&server, &repo, &["merge", "first"]).await.assert(0, &["merged ", " into main of repo as "]);
    assert!(merged.out.contains(&git(&repo, &["rev-parse", "--short=8", "main"])), "{}", merged.out);
    assert_eq!(git(&repo, &["log", "-1", "--format=%s", "main"]), "First");
    worked(&server, &project, "Second", "write b.txt two").await;
    let data = forge(&server, &repo, &["merge", "@last", "-m", "My own words", "--json"]).await.json();
    assert_eq!(data["commit"], git(&repo, &["rev-parse", "main"]));
    assert_eq!(git(&repo, &["log", "-1", "--format=%s", "main"]), "My own words");
    forge(&server, &repo, &["status", "second"]).await.assert(0, &["merged    into main as ", "done"]);
}

#[tokio::test]
async fn a_conflict_names_its_files_and_can_be_taken_back_or_handed_to_the_agent() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let attempt = worked(&server, &project, "Clash", "write README.md mine").await;
    commit(&repo, "README.md", "theirs\n");
    forge(&server, &repo, &["merge", "@last"]).await.assert(5, &["rebase", "first"]);
    forge(&server, &repo, &["rebase", "@last", "--resolve"]).await.assert(5, &["no conflict to resolve"]);
    let help = ["README.md", "--resolve", "--abort"];
    forge(&server, &repo, &["rebase", "@last"]).await.assert(5, &help);
    forge(&server, &repo, &["rebase", "@last"]).await.assert(5, &["an earlier rebase", "--abort"]);
    forge(&server, &repo, &["status", "@last"]).await.assert(0, &["a rebase stopped: README.md"]);
    forge(&server, &repo, &["rebase", "@last", "--abort"]).await.assert(0, &["aborted the rebase"]);
    forge(&server, &repo, &["rebase", "@last", "--abort"]).await.assert(0, &["nothing to abort"]);

    forge(&server, &repo, &["rebase", "@last"]).await.assert(5, &[]);
    forge(&server, &repo, &["rebase", "@last", "--resolve"])
        .await
        .assert(0, &["handed README.md to the agent"]);
    assert_eq!(server.settled(&attempt).await.len(), 2, "the agent was given another run");
}

#[tokio::test]
async fn a_rebase_says_onto_what_and_how_far_ahead() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    worked(&server, &project, "Move", "write a.txt one").await;
    commit(&repo, "other.txt", "main moved on\n");
    forge(&server, &repo, &["rebase", "@last"]).await.assert(0, &["rebased ", "onto main of repo, 1 ahead"]);
    git(&repo, &["branch", "release"]);
    forge(&server, &repo, &["rebase", "@last", "--onto", "release"]).await.assert(0, &["onto release"]);
    forge(&server, &repo, &["status", "@last"]).await.assert(0, &["→ release (1 ahead, 0 behind)"]);
    forge(&server, &repo, &["rebase", "@last", "--onto", "nowhere"]).await.assert(4, &["nowhere"]);
}

#[tokio::test]
async fn a_branch_is_pushed_and_a_pull_request_opened_under_the_tasks_name() {
    let world = Published::with_token(Dialect::Github).await;
    let task = world.worked("Publish it").await;
    let branch = task.branch();
    let (server, repo) = (&world.forge, &world.repo);
    forge(server, repo, &["push", "publish it"]).await.assert(0, &["pushed", &branch]);
    assert_eq!(git(&world.bare, &["rev-parse", &branch]), git(repo, &["rev-parse", &branch]));
    let opened = forge(server, repo, &["pr", "@last"]).await.assert(0, &["http://", "/acme/"]);
    assert_eq!(opened.out.lines().count(), 1, "the address and nothing else: {}", opened.out);
    assert_eq!(world.host.pull(1).0, "Publish it");
    let again = forge(server, repo, &["pr", "@last", "--attach", "1", "--json"]).await.json();
    assert_eq!(again["url"], opened.out.trim());
    forge(server, repo, &["status", "@last"]).await.assert(0, &["#1 open"]);

    world.host.require("another-token");
    world.worked("Locked out").await;
    forge(server, repo, &["pr", "@last"]).await.assert(5, &["token", "forge config set github.pat"]);
}

#[tokio::test]
async fn an_attempt_is_opened_by_address_and_path_and_its_worktree_comes_back() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let attempt = worked(&server, &project, "Open", "write a.txt one").await;
    forge(&server, &repo, &["open", "@last"])
        .await
        .assert(0, &[server.base(), &format!("attempts/{attempt}")]);
    let path = forge(&server, &repo, &["open", "--path", "@last"]).await.assert(0, &[]).out;
    let place = std::path::Path::new(path.trim_end());
    assert!(place.join("a.txt").exists(), "{path}");

    forge(&server, &repo, &["restore"]).await.assert(0, &["no retired worktrees"]);
    forge(&server, &repo, &["restore", "@last"]).await.assert(5, &["is there already"]);
    forge(&server, &repo, &["worktree", "retire", "open"]).await.assert(0, &["saved as refs/forge/keep/"]);
    assert!(!place.exists());
    forge(&server, &repo, &["status", "@last"]).await.assert(0, &["1 ahead", "retired; `forge restore`"]);
    forge(&server, &repo, &["rebase", "@last", "--abort"]).await.assert(5, &["is retired", "forge restore"]);
    assert!(!place.exists(), "looking does not bring it back");
    let retired = forge(&server, &repo, &["restore", "--json"]).await.json();
    assert_eq!((retired.as_array().unwrap().len(), &retired[0]["id"]), (1, &json!(attempt)));
    forge(&server, &repo, &["restore", "open"]).await.assert(0, &["restored ", " of repo from the trash to"]);
    assert!(place.join("a.txt").exists());
}
