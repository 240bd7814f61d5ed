//! Push and pull requests, against real git remotes and a code host that writes down what it was asked.

use std::process::Command;

use forge_tests::{Dialect, Seen, TestForge, err, eventually, git, out, output, text};
use serde_json::{Value, json};

use crate::publish::{Published, TOKEN};

#[tokio::test]
async fn without_a_token_the_users_own_git_pushes() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let bare = forge.dir().join("origin.git");
    git(forge.dir(), &["init", "-q", "--bare", &bare.to_string_lossy()]);
    let task = forge.start_scripted(&project, "Publish", "write a.txt one\nsay done").await;
    let attempt = task.attempt();
    let branch = task.branch();
    forge.settled(&attempt).await;
    let push = format!("/api/task-attempts/{attempt}/push");

    let lonely = forge.post(&push, &json!({})).await;
    assert_eq!(lonely.status, 409, "{}", lonely.text);
    assert!(lonely.message().contains("git remote add origin"), "{}", lonely.text);

    git(&repo, &["remote", "add", "origin", &format!("file://{}", bare.display())]);
    assert_eq!(forge.post(&push, &json!({})).await.data(), Value::Null);
    assert_eq!(git(&bare, &["rev-parse", &branch]), git(&repo, &["rev-parse", &branch]));

    let worktree = text(&task["task_attempt"]["container_ref"]);
    std::fs::write(format!("{worktree}/a.txt"), "changed by hand\n").unwrap();
    let dirty = forge.post(&push, &json!({})).await;
    assert_eq!(dirty.status, 409, "{}", dirty.text);
    assert!(dirty.message().contains("a.txt"), "{}", dirty.text);
    let pr = forge.post(&format!("/api/task-attempts/{attempt}/pr"), &json!({"title": "t"})).await;
    assert_eq!((pr.status, &pr.body["success"]), (200, &json!(false)), "{}", pr.text);
    assert!(
        pr.message().starts_with("Failed to create PR: ") && pr.message().contains("code host"),
        "{}",
        pr.text
    );
}

#[tokio::test]
async fn a_token_reaches_the_host_and_is_seen_nowhere_else() {
    let world = Published::with_token(Dialect::Github).await;
    let task = world.worked("Token").await;
    let attempt = &task["task_attempt"];
    world.act(attempt, "push", &json!({})).await.data();
    assert_eq!(
        git(&world.bare, &["rev-parse", &text(&attempt["branch"])]),
        git(&world.repo, &["rev-parse", &text(&attempt["branch"])])
    );
    let pushed = world.host.seen().into_iter().filter(|seen| seen.path.ends_with("git-receive-pack"));
    assert!(pushed.count() > 0, "the push went over HTTP");
    assert!(!world.host.token_was_in_arguments(), "ps shows the token");

    let files = Command::new("grep").args(["-rlF", TOKEN]).arg(world.forge.dir()).output().unwrap();
    let files = out(&files);
    let settings = world.forge.home().join("config.json");
    assert_eq!(files.trim(), settings.to_string_lossy(), "the settings alone hold the token");
    assert!(!world.forge.get("/api/task-attempts").await.text.contains(TOKEN));

    world.host.require("another-token");
    let refused = world.act(attempt, "push", &json!({})).await;
    assert_eq!(refused.status, 500, "{}", refused.text);
    assert_eq!(refused.message(), "GitHub token is invalid or expired; set a new one in the settings");
}

#[tokio::test]
async fn a_pull_request_is_opened_watched_and_ends_its_task_on_every_host() {
    for dialect in [Dialect::Github, Dialect::Gitlab, Dialect::Gitea] {
        let world = Published::with_token(dialect).await;
        let (first, second) = (world.worked("First").await, world.worked("Second").await);
        let body = json!({"title": "Change it", "description": "Why."});
        let url = world.act(&first["task_attempt"], "pr", &body).await.data();
        let again = world.act(&first["task_attempt"], "pr", &body).await.data();
        assert_eq!(url, again, "{dialect:?}: a second wish answers the same pull request");
        assert!(text(&url).contains("/acme/"), "{dialect:?}: {url}");
        world.act(&second["task_attempt"], "pr", &json!({"title": "Other"})).await.data();
        assert_eq!(world.host.pull_count(), 2);
        let (title, words, head, base) = world.host.pull(1);
        assert_eq!((title.as_str(), words.as_str(), base.as_str()), ("Change it", "Why.", "main"));
        assert_eq!(head, first.branch());
        assert_eq!(git(&world.bare, &["rev-parse", &head]), git(&world.repo, &["rev-parse", &head]));

        world.host.set_pull(1, "merged");
        world.host.set_pull(2, "closed");
        let path = |task: &Value| format!("/api/tasks/{}", text(&task["id"]));
        world.forge.until(&path(&first), "the task is done", |task| task["status"] == "done").await;
        let attach = world.act(&first["task_attempt"], "pr/attach", &json!({})).await.data();
        assert_eq!(
            (&attach["pr_status"], &attach["pr_number"]),
            (&json!("merged"), &json!(1)),
            "{dialect:?}"
        );
        let list = format!("/api/tasks?project_id={}", world.project);
        let tasks = world.forge.get(&list).await.data();
        let merged = tasks.as_array().unwrap().iter().find(|task| task["id"] == first["id"]).unwrap();
        assert_eq!(merged["has_merged_attempt"], true, "{dialect:?}");
        let second_now = world.forge.get(&path(&second)).await.data();
        assert_eq!(second_now["status"], "inreview", "{dialect:?}: closing is not merging");

        let seen = world.host.seen();
        let singles = seen.iter().filter(|seen| {
            let last = seen.path.rsplit('/').next().unwrap_or_default();
            seen.method == "GET"
                && (seen.path.contains("/pulls/") || seen.path.contains("/merge_requests/"))
                && last.parse::<i64>().is_ok()
        });
        assert_eq!(singles.count(), 0, "{dialect:?}: one list, not one request for each");
    }
}

#[tokio::test]
async fn an_unchanged_list_is_asked_for_with_its_tag() {
    let world = Published::with_token(Dialect::Github).await;
    let task = world.worked("Watched").await;
    world.act(&task["task_attempt"], "pr", &json!({"title": "t"})).await.data();
    let is_conditional = |seen: &Seen| seen.query.contains("sort=updated") && seen.if_none_match.is_some();
    let count = || world.host.seen().iter().filter(|seen| is_conditional(seen)).count();
    eventually("two conditional requests came", || count() >= 2).await;
}

#[tokio::test]
async fn a_merge_that_fell_off_the_list_while_forge_was_away_is_found() {
    let mut world = Published::with_token(Dialect::Github).await;
    let task = world.worked("Forgotten").await;
    world.act(&task["task_attempt"], "pr", &json!({"title": "t"})).await.data();
    world.forge.terminate().await;
    world.host.set_pull(1, "merged");
    for number in 0..120 {
        world.host.add_pull(&format!("other/{number}"), "main");
    }
    world.forge.up().await;
    let path = format!("/api/tasks/{}", text(&task["id"]));
    world.forge.until(&path, "the task is done", |task| task["status"] == "done").await;
}

#[tokio::test]
async fn what_the_host_refuses_is_a_word_that_clients_know() {
    let world = Published::start(Dialect::Github, None, &[]).await;
    let task = world.worked("Refused").await;
    let open = async || world.act(&task["task_attempt"], "pr", &json!({"title": "t"})).await;
    let none = open().await;
    assert_eq!((none.status, &none.body["error_data"]), (200, &json!("TOKEN_INVALID")), "{}", none.text);
    assert_eq!(none.body["message"], Value::Null);
    assert!(git(&world.bare, &["for-each-ref", "refs/heads/forge"]).is_empty(), "nothing was pushed");

    let world = Published::with_token(Dialect::Github).await;
    let task = world.worked("Refused").await;
    let open = async || world.act(&task["task_attempt"], "pr", &json!({"title": "t"})).await;
    world.host.forbid_writing();
    assert_eq!(open().await.body["error_data"], "INSUFFICIENT_PERMISSIONS");
    world.host.require("another");
    assert_eq!(open().await.body["error_data"], "TOKEN_INVALID");
    assert_eq!(world.host.pull_count(), 0);
    let blank = world.act(&task["task_attempt"], "pr", &json!({"title": " "})).await;
    assert_eq!(blank.status, 422, "{}", blank.text);
    let unknown = world
        .forge
        .post("/api/task-attempts/00000000-0000-4000-8000-000000000000/pr", &json!({"title": "t"}))
        .await;
    assert_eq!(unknown.status, 404, "{}", unknown.text);

    git(
        &world.repo,
        &["remote", "set-url", "origin", &format!("http://127.0.0.1:{}/acme/gone.git", world.host.port)],
    );
    world.host.require(TOKEN);
    assert_eq!(open().await.body["error_data"], "REPO_NOT_FOUND_OR_NO_ACCESS");
}

#[tokio::test]
async fn a_pull_request_made_elsewhere_is_attached() {
    let world = Published::with_token(Dialect::Gitlab).await;
    let task = world.worked("Attach").await;
    let attempt = &task["task_attempt"];
    let none = world.act(attempt, "pr/attach", &json!({})).await.data();
    assert_eq!(none, json!({"pr_attached": false, "pr_url": null, "pr_number": null, "pr_status": null}));
    world.host.add_pull("somebody/else", "main");
    let old = world.host.add_pull(&text(&attempt["branch"]), "main");
    world.host.set_pull(old, "closed");
    let open = world.host.add_pull(&text(&attempt["branch"]), "main");
    let attached = world.act(attempt, "pr/attach", &Value::Null).await.data();
    assert_eq!((&attached["pr_number"], &attached["pr_status"]), (&json!(open), &json!("open")));
    world.host.set_pull(open, "merged");
    let path = format!("/api/tasks/{}", text(&task["id"]));
    world.forge.until(&path, "the task is done", |task| task["status"] == "done").await;

    let task = world.worked("Attach by number").await;
    let branch = task.branch();
    let merged = world.host.add_pull(&branch, "main");
    world.host.set_pull(merged, "merged");
    world.host.add_pull(&branch, "other");
    let attached = world.act(&task["task_attempt"], "pr/attach", &json!({"pr_number": merged})).await.data();
    assert_eq!((&attached["pr_number"], &attached["pr_status"]), (&json!(merged), &json!("merged")));
    let task = world.forge.get(&format!("/api/tasks/{}", text(&task["id"]))).await.data();
    assert_eq!(task["status"], "done", "a merged one ends the task at once");
}

#[tokio::test]
async fn a_run_that_opens_a_pull_request_tells_its_address() {
    let world = Published::with_token(Dialect::Github).await;
    let run = async |script: &str| {
        let mut command = world.forge.command();
        command.args(["run", "--auto-pr", "-x", "SCRIPTED", script]).current_dir(&world.repo);
        String::from_utf8(output(command).await.stdout).unwrap()
    };
    let told = run("write a.txt one\nsay done").await;
    let row =
        told.lines().find(|line| line.trim_start().starts_with("pr ")).unwrap_or_else(|| panic!("{told}"));
    assert!(row.ends_with("/pull/1"), "{told}");
    world.host.require("another");
    let told = run("write b.txt one\nsay done").await;
    assert!(told.contains("pr       not opened: ") && told.contains("forge pr "), "{told}");
}

#[tokio::test]
async fn a_pull_request_opens_by_itself_when_it_was_asked_for() {
    let world = Published::with_token(Dialect::Github).await;
    let start = async |script: &str| {
        let task = world.forge.task(&world.project, "By itself").prompt(script).with("auto_pr", true);
        task.start().await["task_attempt"].clone()
    };
    let attempt = start("write a.txt one\nsay done").await;
    assert_eq!(attempt["auto_pr"], json!({"state": "waiting"}));
    let path = format!("/api/task-attempts/{}", text(&attempt["id"]));
    let opened = world.forge.until(&path, "it is open", |now| now["auto_pr"]["state"] == "opened").await;
    assert!(text(&opened["auto_pr"]["url"]).ends_with("/pull/1"), "{opened}");
    assert_eq!(world.host.pull(1).0, "By itself");

    let follow = format!("/api/task-attempts/{}/follow-up", text(&attempt["id"]));
    world.forge.post(&follow, &json!({"prompt": "write b.txt two\nsay more"})).await.data();
    world.forge.settled(&text(&attempt["id"])).await;
    let branch = text(&attempt["branch"]);
    let head = |repo| git(repo, &["rev-parse", &branch]);
    eventually("the later work is pushed", || head(&world.bare) == head(&world.repo)).await;
    assert_eq!(world.host.pull_count(), 1);

    let idle = start("say nothing to do").await;
    world.forge.settled(&text(&idle["id"])).await;
    world.host.require("another");
    let failing = start("write c.txt three\nsay done").await;
    let path = format!("/api/task-attempts/{}", text(&failing["id"]));
    let failed = world.forge.until(&path, "it failed", |now| now["auto_pr"]["state"] == "failed").await;
    assert!(text(&failed["auto_pr"]["message"]).contains("token"), "{failed}");
    let idle = world.forge.get(&format!("/api/task-attempts/{}", text(&idle["id"]))).await.data();
    assert_eq!(idle["auto_pr"]["state"], "waiting", "without changes there is nothing to propose");
}

#[tokio::test]
#[cfg_attr(
    not(has_gh),
    ignore = "the program `gh` is missing; `scripts/dev/prepare-system.sh tests` installs it"
)]
async fn the_login_of_gh_is_used_and_gh_sees_what_forge_made() {
    let world = Published::start(Dialect::Github, None, &[("GH_ENTERPRISE_TOKEN", TOKEN)]).await;
    world.host.require(TOKEN);
    let task = world.worked("Seen by gh").await;
    world.act(&task["task_attempt"], "pr", &json!({"title": "Hello gh"})).await.data();
    let made =
        world.host.seen().into_iter().find(|seen| seen.method == "POST" && seen.path.ends_with("/pulls"));
    assert_eq!(made.unwrap().authorization, Some(format!("Bearer {TOKEN}")));

    let proxy = format!("http://127.0.0.1:{}", world.host.port);
    // The host lives in this runtime, which must go on while gh waits for it.
    let client = tokio::process::Command::new("gh")
        .args(["api", "repos/acme/widgets/pulls/1", "--jq", ".title + \" \" + .head.ref"])
        .env("GH_HOST", "github.localhost")
        .env("GH_TOKEN", TOKEN)
        .env("GH_CONFIG_DIR", world.forge.dir().join("gh-client"))
        .env("http_proxy", &proxy)
        .env("HTTP_PROXY", &proxy)
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(forge_tests::PATIENCE, client).await.expect("gh ends").unwrap();
    let said = out(&output).trim().to_owned();
    let error = err(&output);
    assert_eq!(said, format!("Hello gh {}", task.branch()), "{error}");
}
