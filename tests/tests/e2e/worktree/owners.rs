//! Worktrees: retired and restored through the server, and never touched by another one.

use forge_tests::{Socket, TestForge, git, text};
use serde_json::json;

#[tokio::test]
async fn a_worktree_is_retired_and_comes_back_as_it_was() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "t", "write a.txt one\nsay done").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    let place = task.place();
    std::fs::write(place.join("a.txt"), "edited by hand").unwrap();
    std::fs::write(place.join("new.txt"), "untracked").unwrap();

    let kept = forge.post(&format!("/api/worktrees/{attempt}/retire"), &json!({})).await.data();
    assert!(!place.exists());
    assert!(!git(&repo, &["rev-parse", &text(&kept["reference"])]).is_empty());
    assert_eq!(forge.get(&format!("/api/task-attempts/{attempt}")).await.data()["worktree_deleted"], true);

    forge.post(&format!("/api/worktrees/{attempt}/restore"), &json!({})).await.data();
    assert_eq!(std::fs::read_to_string(place.join("a.txt")).unwrap(), "edited by hand");
    assert_eq!(std::fs::read_to_string(place.join("new.txt")).unwrap(), "untracked");
    assert_eq!(git(&place, &["status", "--porcelain"]), " M a.txt\n?? new.txt");
    assert_eq!(forge.get(&format!("/api/task-attempts/{attempt}")).await.data()["worktree_deleted"], false);
}

#[tokio::test]
async fn who_looks_at_a_retired_attempt_sees_its_branch_and_brings_nothing_back() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "t", "write a.txt one\nsay done").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    let place = task.place();
    std::fs::write(place.join("a.txt"), "edited by hand").unwrap();
    std::fs::write(place.join("new.txt"), "untracked").unwrap();
    let path = format!("/api/task-attempts/{attempt}");
    let mut watched = forge.socket(&format!("{path}/diff/ws")).await;
    assert_eq!(file(&mut watched).await, ("/entries/a.txt".into(), "edited by hand".into()));
    assert_eq!(file(&mut watched).await, ("/entries/new.txt".into(), "untracked".into()));
    forge.post(&format!("/api/worktrees/{attempt}/retire"), &json!({})).await.data();

    let tip = git(&repo, &["rev-parse", &task.branch()]);
    let status = forge.get(&format!("{path}/branch-status")).await.data();
    assert_eq!((&status["head_oid"], &status["commits_ahead"]), (&json!(tip), &json!(1)));
    for unknown in ["has_uncommitted_changes", "uncommitted_count", "untracked_count"] {
        assert_eq!(status[unknown], json!(null), "{unknown}");
    }
    let main = git(&repo, &["rev-parse", "main"]);
    let compared = forge.get(&format!("{path}/commit-compare?sha={main}")).await.data();
    assert_eq!((&compared["head_oid"], &compared["ahead_from_head"]), (&json!(tip), &json!(1)));
    let diff = forge.get(&format!("{path}/diff")).await.data();
    assert_eq!(diff["files"].as_array().unwrap().len(), 1, "{diff}");
    assert_eq!(forge.get(&format!("{path}/file?path=a.txt")).await.text, "one");
    let mut late = forge.socket(&format!("{path}/diff/ws")).await;
    assert_eq!(file(&mut late).await, ("/entries/a.txt".into(), "one".into()));
    assert!(!place.exists(), "looking brings no worktree back");

    // Who was there before is told of the branch, and both of the worktree once it is back.
    let gone = watched.next().await.unwrap()["JsonPatch"][0].clone();
    assert_eq!(gone, json!({"op": "remove", "path": "/entries/new.txt"}));
    assert_eq!(file(&mut watched).await, ("/entries/a.txt".into(), "one".into()));
    forge.post(&format!("/api/worktrees/{attempt}/restore"), &json!({})).await.data();
    for reader in [&mut watched, &mut late] {
        assert_eq!(file(reader).await, ("/entries/a.txt".into(), "edited by hand".into()));
        assert_eq!(file(reader).await, ("/entries/new.txt".into(), "untracked".into()));
    }
}

/// The next changed file and its new content.
async fn file(socket: &mut Socket) -> (String, String) {
    let change = &socket.next().await.unwrap()["JsonPatch"][0];
    (text(&change["path"]), text(&change["value"]["content"]["newContent"]).trim().to_owned())
}

#[tokio::test]
async fn a_follow_up_to_a_retired_attempt_brings_its_uncommitted_work_back() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "t", "say done").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    let place = task.place();
    std::fs::write(place.join("new.txt"), "untracked").unwrap();
    forge.post(&format!("/api/worktrees/{attempt}/retire"), &json!({})).await.data();
    let body = json!({"prompt": "run cat new.txt\nsay seen"});
    forge.post(&format!("/api/task-attempts/{attempt}/follow-up"), &body).await.data();
    let runs = forge.settled(&attempt).await;
    assert!(forge.raw_log(&text(&runs[1]["id"])).await.contains("untracked"));
}

#[tokio::test]
async fn two_servers_with_one_base_never_touch_each_others_trees() {
    let first = TestForge::start().await;
    let base = first.worktrees();
    let second = TestForge::with(&["--worktree-dir", base.to_str().unwrap(), "--expiry-h", "0"], &[]).await;
    let (project, _) = first.project("repo").await;
    let task = first.start_scripted(&project, "t", "write a.txt one\nsay done").await;
    first.settled(&task.attempt()).await;
    let place = task.place();
    std::fs::create_dir(base.join("stranger")).unwrap();
    std::fs::write(base.join("stranger/file"), "mine").unwrap();

    // The second server expires everything at once, sweeps at its start and empties its trash.
    let mut second = second;
    second.terminate().await;
    second.up().await;
    second.post("/api/worktrees/gc", &json!({"older_than_h": 0})).await.data();
    let report = second.get("/api/worktrees").await.data();
    let standing = |path: &std::path::Path| {
        let lines = report["worktrees"].as_array().unwrap();
        let line = lines.iter().find(|line| line["path"] == path.to_string_lossy().as_ref());
        line.map(|line| text(&line["standing"]))
    };
    assert_eq!(standing(&place).as_deref(), Some("other_forge"));
    assert_eq!(standing(&base.join("stranger")).as_deref(), Some("stranger"));
    assert_eq!(std::fs::read_to_string(place.join("a.txt")).unwrap().trim(), "one");
    assert_eq!(std::fs::read_to_string(base.join("stranger/file")).unwrap(), "mine");
}

#[tokio::test]
async fn an_expired_worktree_is_retired_and_not_lost() {
    let mut forge = TestForge::with(&["--expiry-h", "0"], &[]).await;
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "t", "write a.txt one\nsay done").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    let place = task.place();
    std::fs::write(place.join("new.txt"), "untracked").unwrap();
    // The policy is looked after at every start.
    forge.terminate().await;
    forge.up().await;
    let path = format!("/api/task-attempts/{attempt}");
    forge.until(&path, "the worktree is retired", |attempt| attempt["worktree_deleted"] == true).await;
    let keep = format!("refs/forge/keep/{attempt}/");
    let kept = git(&repo, &["for-each-ref", "--format=%(refname)", &keep]);
    assert_eq!(git(&repo, &["show", &format!("{}:work/new.txt", kept.lines().next().unwrap())]), "untracked");
}

#[tokio::test]
async fn no_worktree_is_moved_away_below_a_living_process_that_a_run_started() {
    let mut first = TestForge::start().await;
    let (project, _repo) = first.project("repo").await;
    let base = first.worktrees();
    let mut second = TestForge::with(&["--worktree-dir", base.to_str().unwrap()], &[]).await;
    second.terminate().await;
    first.terminate().await;
    // A home that was copied as files is the same installation.
    std::fs::remove_dir_all(second.home()).unwrap();
    let copied = std::process::Command::new("cp").arg("-a").arg(first.home()).arg(second.home()).status();
    assert!(copied.unwrap().success());
    second.up().await;
    let task = second.start_scripted(&project, "t", "write a.txt precious\nsay at work\nsleep 600000").await;
    let attempt = task.attempt();
    let place = task.place();
    second.until_said(&text(&second.runs(&attempt).await[0]["id"]), "at work").await;

    first.up().await;
    first.until_logged("orphaned worktree stays for now").await;
    assert_eq!(std::fs::read_to_string(place.join("a.txt")).unwrap().trim(), "precious");
    first.terminate().await;
    second.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({})).await.data();
}
