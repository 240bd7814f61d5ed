//! `POST /api/demo`: a project to look around in, there whole or not at all.

use forge_tests::{TestForge, git, make_program, text};
use serde_json::{Value, json};

/// The attempt of a task of the demo.
async fn attempt(forge: &TestForge, demo: &Value, title: &str) -> String {
    let task = demo["tasks"].as_array().unwrap().iter().find(|task| task["title"] == title).expect(title);
    let attempts = forge.get(&format!("/api/task-attempts?task_id={}", text(&task["id"]))).await.data();
    text(&attempts[0]["id"])
}

#[tokio::test]
async fn a_demo_has_agents_at_work_a_task_to_start_and_a_conflict_to_come() {
    let forge = TestForge::start().await;
    let demo = forge.post("/api/demo", &json!(null)).await.data();
    assert_eq!(demo["project"]["name"], "hello");
    let repo = forge.home().join("demo/hello").canonicalize().unwrap();
    assert_eq!(text(&demo["project"]["git_repo_path"]), repo.to_str().unwrap());
    assert!(git(&repo, &["show", "main:src/greet.py"]).contains("def greet"));
    let tasks: Vec<(String, String)> = demo["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| (text(&task["title"]), text(&task["status"])))
        .collect();
    let want = [
        ("Greet in other languages", "todo"),
        ("Greet the reader", "inprogress"),
        ("Add a license", "inprogress"),
        ("Count the words", "inprogress"),
        ("Describe the program", "inprogress"),
    ];
    assert_eq!(tasks, want.map(|(title, status)| (title.to_owned(), status.to_owned())));

    let mut attempts = Vec::new();
    for (title, _) in &want[1..] {
        let id = attempt(&forge, &demo, title).await;
        let runs = forge.settled(&id).await;
        assert_eq!(runs[0]["status"], "completed", "{title}");
        let entries = forge.entries(&text(&runs[0]["id"])).await;
        let failed = entries.iter().find(|entry| entry["entry_type"]["status"]["status"] == "failed");
        assert_eq!(failed, None, "{title}");
        attempts.push(id);
    }
    let [greet, license, count, describe] = &attempts[..] else { panic!("four attempts") };
    let greeted = forge.get(&format!("/api/task-attempts/{greet}/diff?path=src/greet.py")).await.data();
    assert!(text(&greeted["diff"]).contains("+    for name in names or [\"dear reader\"]:"), "{greeted}");

    let body = json!({"task_id": demo["tasks"][0]["id"], "executor_profile_id": "SCRIPTED"});
    let languages = text(&forge.post("/api/task-attempts", &body).await.data()["id"]);
    let runs = forge.settled(&languages).await;
    let entries = forge.entries(&text(&runs[0]["id"])).await;
    let is_list = |entry: &&Value| entry["entry_type"]["action_type"]["action"] == "todo_management";
    assert_eq!(entries.iter().filter(is_list).count(), 3, "{entries:#?}");
    assert!(entries.iter().all(|entry| entry["entry_type"]["status"]["status"] != "failed"), "{entries:#?}");

    for id in [greet, license, count, &languages] {
        forge.post(&format!("/api/task-attempts/{id}/rebase"), &json!({})).await.data();
        forge.post(&format!("/api/task-attempts/{id}/merge"), &json!(null)).await.data();
    }
    let refused = forge.post(&format!("/api/task-attempts/{describe}/rebase"), &json!({})).await;
    assert_eq!(refused.body["error_data"]["type"], "merge_conflicts", "{}", refused.body);
    let status = forge.get(&format!("/api/task-attempts/{describe}/branch-status")).await.data();
    assert_eq!(status["conflicted_files"], json!(["README.md"]));

    // The demo's agent resolves it, keeps both sides, and the work lands.
    forge.post(&format!("/api/task-attempts/{describe}/conflicts/resolve"), &json!({})).await.data();
    let runs = forge.settled(describe).await;
    assert_eq!(runs.last().unwrap()["status"], "completed", "{runs:#?}");
    let status = forge.get(&format!("/api/task-attempts/{describe}/branch-status")).await.data();
    assert_eq!(
        (&status["is_rebase_in_progress"], &status["conflicted_files"]),
        (&json!(false), &json!([])),
        "{status}"
    );
    let comment = "Please address this review comment on your changes:\n\n1. `README.md`, line 4:\n\n   ```\n   \
        Prints one line of greeting for every name it is given.\n   ```\n\n   `one line of greeting` should be `a greeting`";
    forge.post(&format!("/api/task-attempts/{describe}/follow-up"), &json!({"prompt": comment})).await.data();
    forge.settled(describe).await;
    forge.post(&format!("/api/task-attempts/{describe}/merge"), &json!(null)).await.data();
    let readme = git(&repo, &["show", "main:README.md"]);
    assert!(
        readme.contains(
            "Hello, and welcome! This small program greets people.\nPrints a greeting for every name"
        ),
        "{readme}"
    );
    assert!(!git(&repo, &["ls-tree", "-r", "--name-only", "main"]).contains("notes/"));
}

#[tokio::test]
async fn a_second_demo_takes_the_next_name_and_leaves_the_first_alone() {
    let forge = TestForge::start().await;
    std::fs::create_dir_all(forge.home().join("demo/hello")).unwrap();
    std::fs::write(forge.home().join("demo/hello/mine"), "mine").unwrap();
    let names = [
        forge.post("/api/demo", &json!({})).await.data()["project"]["name"].clone(),
        forge.post("/api/demo", &json!({})).await.data()["project"]["name"].clone(),
    ];
    assert_eq!(names, ["hello-2", "hello-3"]);
    assert_eq!(std::fs::read_dir(forge.home().join("demo/hello")).unwrap().count(), 1);
}

#[tokio::test]
async fn a_demo_that_fails_leaves_no_project_and_no_folder() {
    let forge = TestForge::start().await;
    // Where worktrees belong there is a file, so the first agent cannot start.
    let worktrees = forge.worktrees();
    std::fs::rename(&worktrees, forge.dir().join("aside")).unwrap();
    std::fs::write(&worktrees, "in the way").unwrap();
    let failed = forge.post("/api/demo", &json!(null)).await;
    assert_eq!(failed.body["success"], false, "{}", failed.body);
    assert_eq!(forge.get("/api/projects").await.data(), json!([]));
    assert!(!forge.home().join("demo/hello").exists());

    std::fs::remove_file(&worktrees).unwrap();
    std::fs::rename(forge.dir().join("aside"), &worktrees).unwrap();
    let demo = forge.post("/api/demo", &json!(null)).await.data();
    assert_eq!(demo["project"]["name"], "hello", "the name is free again");
}

/// Refuses the third worktree.
const TWO_ARE_ENOUGH: &str = "#!/bin/sh\n[ $(git for-each-ref refs/heads/forge | wc -l) -lt 2 ]\n";

#[tokio::test]
async fn a_demo_that_fails_with_agents_at_work_ends_them_and_puts_their_worktrees_away() {
    let template = tempfile::tempdir().unwrap();
    let hook = template.path().join("hooks/post-checkout");
    std::fs::create_dir(template.path().join("hooks")).unwrap();
    make_program(&hook, TWO_ARE_ENOUGH);
    let env = [("GIT_TEMPLATE_DIR", template.path().to_str().unwrap()), ("FORGE_SPARES", "0")];
    let forge = TestForge::with(&[], &env).await;
    let failed = forge.post("/api/demo", &json!(null)).await;
    assert_eq!(failed.body["success"], false, "{}", failed.body);
    assert_eq!(forge.get("/api/projects").await.data(), json!([]));
    assert!(!forge.home().join("demo/hello").exists());
    let trash = forge.home().join("demo/.forge-trash");
    let aside = std::fs::read_dir(&trash).unwrap().next().expect("the folder").unwrap().path();
    assert_eq!(git(&aside, &["for-each-ref", "refs/heads/forge"]).lines().count(), 2, "two had begun");
    let names = std::fs::read_dir(forge.worktrees()).unwrap().map(|entry| entry.unwrap().file_name());
    let worktrees: Vec<_> = names.filter(|name| !name.to_string_lossy().starts_with('.')).collect();
    assert_eq!(worktrees, Vec::<std::ffi::OsString>::new());
    for run in std::fs::read_dir(forge.home().join("runs")).unwrap().flatten() {
        let state = std::fs::read_to_string(run.path().join("state.json")).unwrap();
        let state: Value = serde_json::from_str(&state).unwrap();
        assert_eq!(state["phase"], "ended", "{state}");
    }
}
