//! The server may die at any moment: no log byte, no exit code and no agent is lost.

use std::collections::BTreeSet;
use std::time::Duration;

use forge_tests::{TestForge, await_file, eventually, patches, text};
use serde_json::{Value, json};

/// What an agent prints takes a while, and it ends when it may, so that every crash hits it in the middle.
const SCRIPT: &str = "say begin\nlines 300 80\nsleep 200\nwrite a.txt one\nsleep 200\nstderr warning\nsleep 300\n\
                      lines 300 80\nsleep 300\nrun echo from a tool; while [ ! -e ../go ]; do sleep 0.02; done\n\
                      write b.txt two\nsay end";

async fn story(forge: &TestForge, attempt: &str) -> Vec<(Value, Value, Vec<Value>)> {
    let mut story = Vec::new();
    for run in forge.settled(attempt).await {
        let path = format!("/api/execution-processes/{}/normalized-logs/ws", text(&run["id"]));
        let frames = forge.socket(&path).await.until_closed().await;
        story.push((run["status"].clone(), run["exit_code"].clone(), frames));
    }
    story
}

/// Entries differ between two runs only in the worktree's name and the agent's own ids.
fn shape(frames: &[Value]) -> Vec<(Value, Value, Value)> {
    let ops = patches(frames);
    ops.iter()
        .map(|op| (op["op"].clone(), op["path"].clone(), op["value"]["content"]["content"].clone()))
        .collect()
}

#[tokio::test]
async fn many_crashes_change_nothing_in_what_is_told_in_the_end() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let go = forge.worktrees().join("go");
    std::fs::write(&go, "").unwrap();
    let calm = forge.start_scripted(&project, "the title", SCRIPT).await;
    let calm = story(&forge, &calm.attempt()).await;
    assert_eq!(calm[0].0, "completed");

    std::fs::remove_file(&go).unwrap();
    let mut tasks = Vec::new();
    for _ in 0..4 {
        tasks.push(forge.start_scripted(&project, "the title", SCRIPT).await);
    }
    // Pseudo-random pauses, the same in every run of the test.
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..12 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        tokio::time::sleep(Duration::from_millis(seed % 120)).await;
        forge.crash();
        forge.up().await;
    }
    std::fs::write(&go, "").unwrap();
    for task in &tasks {
        let told = story(&forge, &task.attempt()).await;
        assert_eq!(told.len(), calm.len());
        assert_eq!((&told[0].0, &told[0].1), (&calm[0].0, &calm[0].1));
        assert_eq!(shape(&told[0].2), shape(&calm[0].2));
        let task = forge.get(&format!("/api/tasks/{}", text(&task["id"]))).await.data();
        assert_eq!(task["status"], "inreview");
    }
}

#[tokio::test]
async fn ten_agents_outlive_a_crash_and_keep_their_exit_codes() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let mut tasks = Vec::new();
    for n in 0..10 {
        let script = format!("echo before; {}; echo after {n}; exit {n}", await_file("../go"));
        tasks.push(forge.start_with(&project, "SHELL", &format!("t{n}"), &script).await);
    }
    forge.crash();
    forge.up().await;
    std::fs::write(forge.worktrees().join("go"), "").unwrap();
    for (n, task) in tasks.iter().enumerate() {
        let runs = forge.settled(&task.attempt()).await;
        assert_eq!(runs[0]["exit_code"], n, "{runs:?}");
        assert_eq!(runs[0]["status"], if n == 0 { "completed" } else { "failed" });
        // The prompt of a shell agent is the whole text, title included; the script's own output follows.
        let log = forge.raw_log(&text(&runs[0]["id"])).await;
        assert!(log.contains("before\n") && log.ends_with(&format!("after {n}\n")), "{log}");
    }
}

#[tokio::test]
async fn an_agent_that_ends_while_no_server_lives_is_settled_by_the_next_one() {
    let mut forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let script = format!("run {}\nwrite late.txt x\nsay late work", await_file("../go"));
    let task = forge.start_scripted(&project, "t", &script).await;
    let run = text(&forge.runs(&task.attempt()).await[0]["id"]);
    forge.crash();
    std::fs::write(forge.worktrees().join("go"), "").unwrap();
    eventually("the agent has ended", || forge.keeper_state(&run)["phase"] == "ended").await;
    forge.up().await;
    let runs = forge.settled(&task.attempt()).await;
    assert_eq!((&runs[0]["status"], &runs[0]["exit_code"]), (&json!("completed"), &json!(0)));
    let branch = task.branch();
    assert_eq!(forge_tests::git(&repo, &["log", "-1", "--format=%s", &branch]), "late work");
}

/// Directories and branches of attempts.
type Made = (BTreeSet<String>, BTreeSet<String>);

async fn until_made(forge: &TestForge, repo: &std::path::Path, expected: &Made) {
    let look = || async {
        let made = made(forge, repo);
        if made == *expected { Ok(()) } else { Err(made) }
    };
    forge.eventually(&format!("there are only {expected:?}"), look).await;
}

/// Without spares and trash.
fn made(forge: &TestForge, repo: &std::path::Path) -> Made {
    let entries = std::fs::read_dir(forge.worktrees()).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let branches = forge_tests::git(repo, &["for-each-ref", "--format=%(refname:short)", "refs/heads/forge"]);
    (names.filter(|name| !name.starts_with('.')).collect(), branches.lines().map(str::to_owned).collect())
}

#[tokio::test]
async fn a_crash_in_the_middle_of_starts_leaves_nothing_half_made() {
    let mut forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    for pause_ms in [3, 9, 16, 25, 40, 70] {
        let body = forge.task(&project, "cut off").prompt("write a.txt x\nsay done").body();
        let url = format!("{}/api/tasks/create-and-start", forge.base());
        let starts: Vec<_> = (0..6)
            .map(|_| tokio::spawn(forge_tests::client().build().unwrap().post(&url).json(&body).send()))
            .collect();
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        forge.crash();
        for start in starts {
            // Most of them fail with the server, which is the point.
            let _ = start.await.unwrap();
        }
        forge.up().await;
    }
    let attempts = forge.get("/api/task-attempts").await.data();
    let attempts = attempts.as_array().unwrap();
    for attempt in attempts {
        let runs = forge.settled(&text(&attempt["id"])).await;
        assert_eq!(
            runs.last().unwrap()["status"],
            "completed",
            "a start is completed or was never made: {runs:#?}"
        );
    }
    let name = |path: &Value| text(path).rsplit('/').next().unwrap().to_owned();
    let names: BTreeSet<String> = attempts.iter().map(|attempt| name(&attempt["worktree_path"])).collect();
    let branches: BTreeSet<String> = attempts.iter().map(|attempt| text(&attempt["branch"])).collect();
    // What was cut off is undone in the background of a start.
    until_made(&forge, &repo, &(names, branches)).await;
    let tasks = forge.get(&format!("/api/tasks?project_id={project}")).await.data();
    assert_eq!(tasks.as_array().unwrap().len(), attempts.len(), "no task without its attempt");
}

/// Puts the database back to what it was when `copy` was made.
fn exchange_database(from: &std::path::Path, to: &std::path::Path) {
    for name in ["db.sqlite", "db.sqlite-wal", "db.sqlite-shm"] {
        let _ = std::fs::remove_file(to.join(name));
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

#[tokio::test]
async fn work_whose_rows_are_gone_is_retired_and_keeps_its_branch() {
    let mut forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let backup = forge.dir().join("backup");
    std::fs::create_dir(&backup).unwrap();
    forge.terminate().await;
    exchange_database(&forge.home(), &backup);
    forge.up().await;
    let worked = forge.start_scripted(&project, "worked", "write a.txt x\nsay work").await;
    let idle = forge.start_scripted(&project, "idle", "say nothing").await;
    for task in [&worked, &idle] {
        forge.settled(&task.attempt()).await;
    }
    let place = worked.place();
    std::fs::write(place.join("loose.txt"), "not committed").unwrap();
    forge.terminate().await;
    exchange_database(&backup, &forge.home());
    forge.up().await;
    let branch = worked.branch();
    until_made(&forge, &repo, &(BTreeSet::new(), BTreeSet::from([branch.clone()]))).await;
    assert_eq!(forge_tests::git(&repo, &["log", "-1", "--format=%s", &branch]), "work");
    let keep = format!("refs/forge/keep/{}/1", worked.attempt());
    assert_eq!(forge_tests::git(&repo, &["show", &format!("{keep}:work/loose.txt")]), "not committed");
}
