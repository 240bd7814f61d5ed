//! Giving beads to agents: each is done once, in the order of its dependencies, whatever happens to the server.

use std::collections::HashMap;
use std::path::Path;

use forge_tests::{TestForge, output, text};
use serde_json::{Value, json};

use crate::beads::{BARE, project};

/// Writes a bead down and answers its id.
pub async fn bead(forge: &TestForge, project: &str, title: &str, script: &str, after: &[&str]) -> String {
    let body = json!({"project_id": project, "title": title, "description": script, "depends_on": after});
    text(&forge.post("/api/beads", &body).await.data()["id"])
}

/// Six beads: two to begin with, two that wait for one each, one that waits for those, and the last.
async fn six(forge: &TestForge, project: &str, script: &str) -> Vec<(String, Vec<String>)> {
    let mut made: Vec<(String, Vec<String>)> = Vec::new();
    for (number, after) in [vec![], vec![], vec![0], vec![1], vec![2, 3], vec![4]].into_iter().enumerate() {
        let after: Vec<String> = after.into_iter().map(|place: usize| made[place].0.clone()).collect();
        let on: Vec<&str> = after.iter().map(String::as_str).collect();
        let script = format!("{script}\nwrite {number}.txt done\nsay done");
        let id = bead(forge, project, &format!("Bead {number}"), &script, &on).await;
        made.push((id, after));
    }
    made
}

pub async fn switch_on(forge: &TestForge, project: &str, rule: Value) {
    let mut rule = rule;
    rule["enabled"] = true.into();
    rule["executor_profile_id"] = "SCRIPTED".into();
    let answer = forge.put(&format!("/api/projects/{project}/dispatch"), &rule).await;
    assert_eq!(answer.data()["enabled"], true);
}

async fn all_closed(forge: &TestForge, project: &str, count: usize) -> HashMap<String, Value> {
    let path = format!("/api/beads?project_id={project}&status=closed");
    let closed =
        forge.until(&path, "every bead is closed", |beads| beads.as_array().unwrap().len() == count).await;
    closed.as_array().unwrap().iter().map(|bead| (text(&bead["id"]), bead.clone())).collect()
}

/// Every bead was worked on by one attempt that succeeded, and not before what it waits for was closed.
async fn assert_done_once(forge: &TestForge, project: &str, made: &[(String, Vec<String>)]) {
    all_closed(forge, project, made.len()).await;
    let routings = format!("/api/routing?limit={}", 1000);
    let ended = |all: &Value| all.as_array().unwrap().iter().all(|one| !one["outcome"].is_null());
    let routings = forge.until(&routings, "every decision has its outcome", ended).await;
    let closed = all_closed(forge, project, made.len()).await;
    for (id, after) in made {
        let of_bead: Vec<&Value> =
            routings.as_array().unwrap().iter().filter(|one| one["work"] == **id).collect();
        let outcomes: Vec<&Value> =
            of_bead.iter().map(|one| &one["outcome"]).filter(|word| **word == "closed").collect();
        assert_eq!(outcomes.len(), 1, "{id} is closed once: {of_bead:#?}");
        let begun = of_bead.iter().map(|one| text(&one["decided_at"])).min().unwrap();
        for before in after {
            let end = text(&closed[before]["closed_at"]);
            assert!(instant(&end) <= instant(&begun), "{id} began at {begun}, {before} was closed at {end}");
        }
        let task = text(&closed[id]["standing"]["task_id"]);
        let attempts = forge.get(&format!("/api/task-attempts?task_id={task}")).await.data();
        let done = attempts.as_array().unwrap().iter().filter(|one| one["status"] == "completed").count();
        assert_eq!((attempts.as_array().unwrap().len(), done), (1, 1), "{id}: {attempts:#}");
        assert_eq!(closed[id]["standing"]["lease"], Value::Null, "nobody has it any more");
    }
}

/// Milliseconds and microseconds are written with different lengths.
pub fn instant(time: &str) -> String {
    let digits = time.trim_end_matches('Z');
    let (second, part) = digits.split_once('.').unwrap_or((digits, ""));
    format!("{second}.{:0<3}", part.chars().take(3).collect::<String>())
}

#[tokio::test]
async fn six_beads_are_done_once_each_in_the_order_of_their_dependencies() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    let made = six(&forge, &id, "").await;
    switch_on(&forge, &id, json!({"max_workers": 3})).await;
    assert_done_once(&forge, &id, &made).await;
    let first = &made[0].0;
    let why = forge.get(&format!("/api/routing/explain?bead={first}&project_id={id}")).await.data();
    assert_eq!(
        (&why[0]["decision"]["tier"], &why[0]["decision"]["model"]),
        (&json!("standard"), &json!("SCRIPTED"))
    );
    let task =
        text(&forge.get(&format!("/api/beads/{first}?project_id={id}")).await.data()["standing"]["task_id"]);
    let task = forge.get(&format!("/api/tasks/{task}")).await.data();
    assert_eq!(
        (&task["title"], &task["status"]),
        (&json!("Bead 0"), &json!("inreview")),
        "it waits for review"
    );
}

#[tokio::test]
async fn a_server_that_dies_again_and_again_finishes_every_bead_and_none_twice() {
    let mut forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    let made = six(&forge, &id, "sleep 200").await;
    switch_on(&forge, &id, json!({})).await;
    // Pseudo-random pauses, the same in every run of the test: a crash may hit any step.
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..8 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        tokio::time::sleep(std::time::Duration::from_millis(seed % 400)).await;
        forge.crash();
        forge.up().await;
    }
    assert_done_once(&forge, &id, &made).await;
}

#[tokio::test]
async fn a_bead_that_fails_is_tried_so_often_and_then_waits_for_a_person() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    let bad = bead(&forge, &id, "Impossible", "fail there is no such house", &[]).await;
    switch_on(&forge, &id, json!({})).await;
    let path = format!("/api/beads/{bad}?project_id={id}");
    // It is set aside first, and given back a moment later.
    let over = |bead: &Value| bead["standing"]["parked"].is_string() && bead["status"] == "open";
    let parked = forge.until(&path, "it is parked", over).await;
    assert_eq!(parked["standing"]["failures"], 3);
    let why = text(&parked["standing"]["parked"]);
    assert!(why.contains("no such house"), "{why}");
    assert_eq!(parked["comments"].as_array().unwrap().len(), 3, "each try left a word: {parked:#}");
    assert!(parked["assignee"].as_str().unwrap_or_default().is_empty(), "{parked:#}");
    let task = text(&parked["standing"]["task_id"]);
    let attempts = || async { forge.get(&format!("/api/task-attempts?task_id={task}")).await.data() };
    assert_eq!(attempts().await.as_array().unwrap().len(), 3, "one task, three attempts");
    let mut once = forge.command();
    once.args(["dispatch", "--once", "--json"]).current_dir(&repo);
    let told: Value = serde_json::from_slice(&output(once).await.stdout).unwrap();
    assert_eq!(told["started"], json!([]), "it is not tried again by itself");
    assert!(text(&told["waiting"][0]["reason"]).contains("waits for a person"), "{told:#}");
    // A person lets it be tried again, and now it works.
    forge.put(&format!("/api/projects/{id}/dispatch"), &json!({"enabled": false})).await.data();
    rewrite(&repo, &bad, "write done.txt x\nsay done");
    forge.post(&format!("/api/beads/{bad}/release"), &json!({"project_id": id})).await.data();
    switch_on(&forge, &id, json!({})).await;
    all_closed(&forge, &id, 1).await;
    assert_eq!(attempts().await.as_array().unwrap().len(), 4);
}

/// Changes the description of a bead, as somebody with an editor would.
fn rewrite(repo: &Path, bead: &str, description: &str) {
    let file = repo.join(".beads/issues.jsonl");
    let lines = std::fs::read_to_string(&file).unwrap();
    let lines = lines.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["id"] == bead {
            line["description"] = description.into();
        }
        format!("{line}\n")
    });
    std::fs::write(&file, lines.collect::<String>()).unwrap();
}

#[tokio::test]
async fn a_dry_run_tells_what_would_be_done_and_does_nothing() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    for (title, priority) in [("Later", 3), ("Now", 0)] {
        let body = json!({"project_id": id, "title": title, "priority": priority});
        forge.post("/api/beads", &body).await.data();
    }
    let before = std::fs::read(repo.join(".beads/issues.jsonl")).unwrap();
    let dispatch = |args: &[&str]| {
        let mut command = forge.command();
        command.arg("dispatch").args(args).args(["-x", "SCRIPTED", "--json"]).current_dir(&repo);
        output(command)
    };
    let told: Value = serde_json::from_slice(&dispatch(&["--dry-run"]).await.stdout).unwrap();
    let titles: Vec<&Value> = told["started"].as_array().unwrap().iter().map(|one| &one["title"]).collect();
    assert_eq!(titles, [&json!("Now"), &json!("Later")], "the urgent one first");
    assert_eq!(told["started"][0]["decision"]["tier"], "premium");
    let one: Value =
        serde_json::from_slice(&dispatch(&["--dry-run", "--max-workers", "1"]).await.stdout).unwrap();
    assert_eq!((one["started"].as_array().unwrap().len(), &one["waiting"][0]["title"]), (1, &json!("Later")));
    assert_eq!(std::fs::read(repo.join(".beads/issues.jsonl")).unwrap(), before);
    assert_eq!(forge.get("/api/task-attempts").await.data(), json!([]));
    assert_eq!(forge.get("/api/routing").await.data(), json!([]));
    let refused = dispatch(&["--once", "--mode", "worker"]).await;
    assert_eq!(refused.status.code(), Some(2));
    let error: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(
        (&error["error"]["code"], &error["error"]["field"]),
        (&json!("invalid"), &json!("--executor"))
    );
}

#[tokio::test]
async fn a_dependency_that_the_agent_finds_comes_first() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    let needed = bead(&forge, &id, "Found later", "write found.txt x\nsay done", &[]).await;
    // Its own command line, with the beads that everybody sees, as a real agent would.
    let exe = forge_tests::forge_exe();
    let link = format!("run {} beads dep $FORGE_ASSIGNED_BEAD {needed} --project repo", exe.display());
    let finder = bead(
        &forge,
        &id,
        "Finds it",
        &format!("{link}\nrun test -d $BEADS_DIR && echo $BEADS_DIR >where.txt"),
        &[],
    )
    .await;
    let first = forge.post(&format!("/api/beads/{needed}/claim"), &json!({"project_id": id})).await;
    first.data();
    switch_on(&forge, &id, json!({})).await;
    let path = format!("/api/beads/{finder}?project_id={id}");
    let waits = |bead: &Value| bead["standing"]["blocked_by"] == json!([needed]) && bead["status"] == "open";
    let found = forge.until(&path, "the finder waits", waits).await;
    assert_eq!(found["standing"]["failures"], 0, "that is no failure: {found:#}");
    forge.post(&format!("/api/beads/{needed}/release"), &json!({"project_id": id})).await.data();
    all_closed(&forge, &id, 2).await;
}

#[tokio::test]
async fn a_bead_can_wait_until_its_work_is_merged() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    let one = bead(&forge, &id, "Merged later", "write a.txt x\nsay done", &[]).await;
    switch_on(&forge, &id, json!({"close_on": "merge"})).await;
    let path = format!("/api/beads/{one}?project_id={id}");
    let task = forge.until(&path, "it has a task", |bead| bead["standing"]["task_id"].is_string()).await;
    let task = text(&task["standing"]["task_id"]);
    let attempts = format!("/api/task-attempts?task_id={task}");
    let done = |all: &Value| all[0]["status"] == "completed";
    let attempt = text(&forge.until(&attempts, "the agent is done", done).await[0]["id"]);
    forge.settled(&attempt).await;
    assert_eq!(forge.get(&path).await.data()["status"], "in_progress");
    forge.post(&format!("/api/task-attempts/{attempt}/merge"), &json!({})).await.data();
    all_closed(&forge, &id, 1).await;
}

#[tokio::test]
async fn work_that_lands_by_itself_is_on_the_target_branch_when_its_bead_is_closed() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    bead(&forge, &id, "Lands", "write landed.txt x\nsay Land it", &[]).await;
    switch_on(&forge, &id, json!({"landing": "merge"})).await;
    all_closed(&forge, &id, 1).await;
    assert_eq!(std::fs::read_to_string(repo.join("landed.txt")).unwrap(), "x");
}

#[tokio::test]
async fn a_bead_whose_attempt_a_person_stopped_is_left_to_people() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    let one = bead(&forge, &id, "Stopped", "hang", &[]).await;
    switch_on(&forge, &id, json!({})).await;
    let path = format!("/api/beads/{one}?project_id={id}");
    let held = forge.until(&path, "it is at work", |bead| bead["standing"]["task_id"].is_string()).await;
    let refused = forge.post(&format!("/api/beads/{one}/release"), &json!({"project_id": id})).await;
    assert_eq!(refused.status, 409, "an agent works on it: {refused:?}");
    let attempts = format!("/api/task-attempts?task_id={}", text(&held["standing"]["task_id"]));
    let attempt = text(&forge.get(&attempts).await.data()[0]["id"]);
    forge.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({})).await.data();
    let parked = forge.until(&path, "it is parked", |bead| bead["standing"]["parked"].is_string()).await;
    assert!(text(&parked["standing"]["parked"]).contains("stopped"), "{parked:#}");
    assert_eq!(forge.get(&attempts).await.data().as_array().unwrap().len(), 1);
}
