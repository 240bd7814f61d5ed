//! The diff stream: every kind of change, kept up to date, in batches that stay small.

use forge_tests::{Socket, TestForge, git, text};
use serde_json::{Value, json};

async fn start(forge: &TestForge, script: &str) -> (String, std::path::PathBuf, std::path::PathBuf) {
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "diff", script).await;
    let id = task.attempt();
    forge.settled(&id).await;
    (id, text(&task["task_attempt"]["worktree_path"]).into(), repo)
}

async fn next(socket: &mut Socket) -> Value {
    socket.next().await.unwrap()["JsonPatch"][0].clone()
}

/// The next changed files by their path.
async fn collect(socket: &mut Socket, count: usize) -> serde_json::Map<String, Value> {
    let mut files = serde_json::Map::new();
    while files.len() < count {
        let change = next(socket).await;
        assert_eq!(change["op"], "add", "{change}");
        files.insert(text(&change["path"]), change["value"]["content"].clone());
    }
    files
}

#[tokio::test]
async fn every_kind_of_change_is_told_and_kept_up_to_date() {
    let forge = TestForge::start().await;
    let (id, path, _) = start(&forge, "write a.txt one\nsay done").await;
    git(&path, &["mv", "README.md", "READ~ME.md"]);
    std::fs::write(path.join("big.txt"), "a line of text\n".repeat(200_000)).unwrap();
    std::fs::write(path.join("binary.dat"), [0, 1, 2]).unwrap();
    std::fs::write(path.join("Cargo.lock"), "version = 4\n").unwrap();
    let mut socket = forge.socket(&format!("/api/task-attempts/{id}/diff/ws")).await;
    let files = collect(&mut socket, 5).await;
    let renamed = &files["/entries/READ~0ME.md"];
    assert_eq!((&renamed["change"], &renamed["oldPath"]), (&json!("renamed"), &json!("README.md")));
    let added = &files["/entries/a.txt"];
    assert_eq!((&added["change"], &added["oldContent"]), (&json!("added"), &json!(null)));
    assert_eq!((&added["contentOmitted"], &added["lockFile"]), (&json!(false), &json!(false)));
    assert!(text(&added["newContent"]).starts_with("one"));
    let big = &files["/entries/big.txt"];
    assert_eq!(
        (&big["contentOmitted"], &big["newContent"], &big["additions"]),
        (&json!(true), &json!(null), &json!(200_000))
    );
    let binary = &files["/entries/binary.dat"];
    assert_eq!((&binary["contentOmitted"], &binary["additions"]), (&json!(true), &json!(null)));
    assert_eq!(files["/entries/Cargo.lock"]["lockFile"], true);

    // An edit that changes neither the size nor the number of lines is an edit all the same.
    std::fs::write(path.join("Cargo.lock"), "version = 5\n").unwrap();
    let changed = next(&mut socket).await;
    assert_eq!(
        (&changed["path"], &changed["value"]["content"]["newContent"]),
        (&json!("/entries/Cargo.lock"), &json!("version = 5\n"))
    );
    std::fs::remove_file(path.join("Cargo.lock")).unwrap();
    assert_eq!(next(&mut socket).await, json!({"op": "remove", "path": "/entries/Cargo.lock"}));

    let mut stats = forge.socket(&format!("/api/task-attempts/{id}/diff/ws?stats_only=true")).await;
    for (_, file) in collect(&mut stats, 4).await {
        assert_eq!((&file["contentOmitted"], &file["newContent"]), (&json!(true), &json!(null)), "{file}");
    }
}

#[tokio::test]
async fn a_thousand_files_all_arrive_whole_and_in_any_mode() {
    let forge = TestForge::start().await;
    let (id, path, repo) = start(&forge, "say done").await;
    for n in 0..1000 {
        let dir = path.join(format!("d{}", n % 30));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(format!("{n}.txt")), format!("file {n}\n").repeat(20)).unwrap();
    }
    let diff = format!("/api/task-attempts/{id}/diff/ws");
    let dirty = collect(&mut forge.socket(&diff).await, 1000).await;
    git(&path, &["add", "-A"]);
    git(&path, &["commit", "-qm", "a thousand"]);
    let committed = collect(&mut forge.socket(&diff).await, 1000).await;
    assert_eq!(dirty, committed, "committing changes nothing about the diff");
    forge.post(&format!("/api/task-attempts/{id}/merge"), &json!(null)).await.data();
    let mut socket = forge.socket(&diff).await;
    let landed = collect(&mut socket, 1000).await;
    assert_eq!(socket.next().await, Some(json!({"finished": true})));
    assert_eq!(committed, landed);
    assert_eq!(landed["/entries/d1~11.txt"]["newContent"], "file 1\n".repeat(20));

    // The newest merge is the one that is shown, and a worktree that is away is not needed for it.
    std::fs::write(path.join("second.txt"), "2\n").unwrap();
    git(&path, &["add", "-A"]);
    git(&path, &["commit", "-qm", "second"]);
    forge.post(&format!("/api/task-attempts/{id}/merge"), &json!(null)).await.data();
    forge.post(&format!("/api/worktrees/{id}/retire"), &json!(null)).await.data();
    let mut socket = forge.socket(&diff).await;
    assert_eq!(collect(&mut socket, 1).await.keys().collect::<Vec<_>>(), ["/entries/second.txt"]);
    assert_eq!(socket.next().await, Some(json!({"finished": true})));
    assert!(!path.exists());
    assert_eq!(git(&repo, &["rev-list", "--count", "main"]), "3");
}

#[tokio::test]
async fn a_stopped_rebase_is_shown_against_the_merge_base_of_branch_and_target() {
    let forge = TestForge::start().await;
    let (id, path, repo) = start(&forge, "write README.md ours\nsay done").await;
    std::fs::write(repo.join("README.md"), "theirs\n").unwrap();
    git(&repo, &["commit", "-qam", "theirs"]);
    let stopped = forge.post(&format!("/api/task-attempts/{id}/rebase"), &json!(null)).await;
    assert_eq!(stopped.body["error_data"]["op"], "rebase", "{}", stopped.text);
    assert_eq!(
        git(&path, &["rev-parse", "HEAD"]),
        git(&repo, &["rev-parse", "main"]),
        "HEAD is the new base"
    );
    let mut socket = forge.socket(&format!("/api/task-attempts/{id}/diff/ws")).await;
    let readme = &collect(&mut socket, 1).await["/entries/README.md"];
    assert_eq!(readme["oldContent"], "# test\n", "where the branch left its target");
    assert!(text(&readme["newContent"]).contains("<<<<<<<"), "{readme}");
}

#[tokio::test]
async fn a_stopped_rebase_has_the_same_files_in_the_stream_and_in_the_patch() {
    let forge = TestForge::start().await;
    let (id, _, repo) = start(&forge, "write README.md ours\nsay done").await;
    for (file, content) in [("README.md", "theirs\n"), ("new.txt", "of the target\n")] {
        std::fs::write(repo.join(file), content).unwrap();
    }
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-qm", "theirs"]);
    let attempt = format!("/api/task-attempts/{id}");
    forge.post(&format!("{attempt}/rebase"), &json!(null)).await;
    let told = collect(&mut forge.socket(&format!("{attempt}/diff/ws")).await, 2).await;
    let patch = forge.get(&format!("{attempt}/diff")).await.data();
    let files = patch["files"].as_array().unwrap();
    let mut paths: Vec<String> =
        files.iter().map(|file| format!("/entries/{}", text(&file["path"]))).collect();
    paths.sort();
    assert_eq!(told.keys().collect::<Vec<_>>(), paths.iter().collect::<Vec<_>>());
}
