//! Board and beads as one queue: what happens on one side happens on the other, once, whatever happens to the server.

use std::path::Path;

use forge_tests::{TestForge, text};
use serde_json::{Value, json};

use crate::beads::{BARE, project};

async fn switch(forge: &TestForge, project: &str, mirror: bool) {
    let answer = forge.put(&format!("/api/projects/{project}/dispatch"), &json!({"mirror": mirror})).await;
    assert_eq!(answer.data()["mirror"], mirror);
}

async fn make_bead(forge: &TestForge, project: &str, title: &str) -> String {
    let body = json!({"project_id": project, "title": title, "description": "as written"});
    text(&forge.post("/api/beads", &body).await.data()["id"])
}

async fn make_task(forge: &TestForge, project: &str, title: &str) -> String {
    let body = json!({"project_id": project, "title": title, "description": "as written"});
    text(&forge.post("/api/tasks", &body).await.data()["id"])
}

/// The bead that a task became.
async fn bead_of(forge: &TestForge, project: &str, task: &str) -> String {
    let path = format!("/api/beads?project_id={project}");
    let is_it = |bead: &&Value| bead["standing"]["task_id"] == task;
    let beads = forge
        .until(&path, "the task is a bead", |all| all.as_array().unwrap().iter().any(|bead| is_it(&bead)));
    text(&beads.await.as_array().unwrap().iter().find(is_it).unwrap()["id"])
}

/// The task that a bead became.
async fn task_of(forge: &TestForge, project: &str, bead: &str) -> String {
    let path = format!("/api/beads/{bead}?project_id={project}");
    let found =
        forge.until(&path, "the bead is a task", |bead| bead["standing"]["task_id"].is_string()).await;
    text(&found["standing"]["task_id"])
}

async fn bead_is(forge: &TestForge, project: &str, bead: &str, key: &str, value: &str) -> Value {
    let path = format!("/api/beads/{bead}?project_id={project}");
    forge.until(&path, &format!("{key} of the bead is {value}"), |bead| bead[key] == value).await
}

async fn task_is(forge: &TestForge, task: &str, key: &str, value: &str) -> Value {
    let path = format!("/api/tasks/{task}");
    forge.until(&path, &format!("{key} of the task is {value}"), |task| task[key] == value).await
}

async fn edit_task(forge: &TestForge, task: &str, change: Value) {
    forge.put(&format!("/api/tasks/{task}"), &change).await.data();
}

/// Changes a bead as another program would: the record, and when it was changed.
fn edit_bead(repo: &Path, id: &str, change: Value) {
    let file = repo.join(".beads/issues.jsonl");
    let lines = std::fs::read_to_string(&file).unwrap();
    let lines = lines.lines().map(|line| {
        let mut bead: Value = serde_json::from_str(line).unwrap();
        if bead["id"] == id {
            bead["updated_at"] = jiff::Timestamp::now().to_string().into();
            bead.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        }
        format!("{bead}\n")
    });
    put_beads(repo, &lines.collect::<String>());
}

fn put_beads(repo: &Path, lines: &str) {
    let new = repo.join(".beads/new");
    std::fs::write(&new, lines).unwrap();
    std::fs::rename(new, repo.join(".beads/issues.jsonl")).unwrap();
}

async fn count(forge: &TestForge, path: &str) -> usize {
    forge.get(path).await.data().as_array().unwrap().len()
}

/// Everything that happened before this was carried over when it returns.
async fn carried_over(forge: &TestForge, project: &str) {
    let last = make_task(forge, project, "The last").await;
    let bead = bead_of(forge, project, &last).await;
    edit_task(forge, &last, json!({"status": "done"})).await;
    bead_is(forge, project, &bead, "status", "closed").await;
}

#[tokio::test]
async fn a_bead_is_a_task_and_both_follow_each_other() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    let bead = make_bead(&forge, &id, "Lay the floor").await;
    switch(&forge, &id, true).await;
    let task = task_of(&forge, &id, &bead).await;
    let shown = task_is(&forge, &task, "status", "todo").await;
    assert_eq!((&shown["title"], &shown["description"]), (&json!("Lay the floor"), &json!("as written")));

    edit_bead(&repo, &bead, json!({"title": "Lay both floors", "design": "Oak"}));
    let shown = task_is(&forge, &task, "title", "Lay both floors").await;
    assert_eq!(shown["description"], "as written\n\nDesign:\nOak");
    edit_task(&forge, &task, json!({"description": "rewritten\n\nDesign:\nOak"})).await;
    let shown = bead_is(&forge, &id, &bead, "description", "rewritten").await;
    assert_eq!((&shown["design"], &shown["title"]), (&json!("Oak"), &json!("Lay both floors")));

    edit_bead(&repo, &bead, json!({"status": "in_progress", "assignee": "alice"}));
    task_is(&forge, &task, "status", "inprogress").await;
    edit_bead(&repo, &bead, json!({"status": "closed", "close_reason": "It lies"}));
    task_is(&forge, &task, "status", "done").await;
    edit_task(&forge, &task, json!({"status": "todo"})).await;
    bead_is(&forge, &id, &bead, "status", "open").await;
    edit_bead(&repo, &bead, json!({"status": "closed", "close_reason": "wontfix: too old"}));
    task_is(&forge, &task, "status", "cancelled").await;
    let kept = bead_is(&forge, &id, &bead, "status", "closed").await;
    assert_eq!(kept["close_reason"], "wontfix: too old");
}

#[tokio::test]
async fn a_task_is_a_bead_and_its_end_closes_it_with_a_reason() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    let before = make_task(&forge, &id, "Before").await;
    switch(&forge, &id, true).await;
    let after = make_task(&forge, &id, "After").await;
    for (task, status, stage) in [(before, "done", "Done"), (after, "cancelled", "Cancelled")] {
        let bead = bead_of(&forge, &id, &task).await;
        let made = bead_is(&forge, &id, &bead, "status", "open").await;
        assert_eq!((&made["issue_type"], &made["priority"]), (&json!("task"), &json!(2)));
        edit_task(&forge, &task, json!({"status": status})).await;
        let reason = text(&bead_is(&forge, &id, &bead, "status", "closed").await["close_reason"]);
        assert!(reason.starts_with(stage) && reason.contains(&task), "{reason}");
        assert_eq!(forge.get(&format!("/api/tasks/{task}")).await.data()["status"], status);
    }
    assert_eq!(count(&forge, &format!("/api/tasks?project_id={id}")).await, 2);
    assert_eq!(count(&forge, &format!("/api/beads?project_id={id}")).await, 2);
}

#[tokio::test]
async fn where_both_changed_the_newer_wins_and_the_other_text_is_kept() {
    let mut forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    let [one, other] = [make_bead(&forge, &id, "One").await, make_bead(&forge, &id, "Other").await];
    switch(&forge, &id, true).await;
    let [task, other_task] = [task_of(&forge, &id, &one).await, task_of(&forge, &id, &other).await];
    switch(&forge, &id, false).await;
    edit_bead(&repo, &one, json!({"title": "By bead"}));
    edit_task(&forge, &task, json!({"title": "By task"})).await;
    edit_task(&forge, &other_task, json!({"title": "By task"})).await;
    edit_bead(&repo, &other, json!({"title": "By bead"}));
    forge.crash();
    forge.up().await;
    switch(&forge, &id, true).await;
    let kept = bead_is(&forge, &id, &one, "title", "By task").await;
    assert!(text(&kept["comments"][0]["text"]).contains("By bead\n\nas written"), "{kept:#}");
    task_is(&forge, &other_task, "title", "By bead").await;
    carried_over(&forge, &id).await;
    let kept = bead_is(&forge, &id, &other, "title", "By bead").await;
    assert!(text(&kept["comments"][0]["text"]).contains("By task\n\nas written"), "{kept:#}");
    assert_eq!(kept["comments"].as_array().unwrap().len(), 1);
    assert_eq!(forge.get(&format!("/api/tasks/{task}")).await.data()["title"], "By task");
}

#[tokio::test]
async fn a_side_that_gave_way_before_a_crash_gives_way_after_it() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    let bead = make_bead(&forge, &id, "Old").await;
    switch(&forge, &id, true).await;
    let task = task_of(&forge, &id, &bead).await;
    switch(&forge, &id, false).await;
    edit_task(&forge, &task, json!({"title": "By task"})).await;
    // As a server leaves it that dies between the comment and the text: the bead is the newer one now.
    let said = "The bead and its task were both changed, and the text of the bead gave way:\n\nBy bead\n\nas written";
    let comment = json!({"id": 1, "author": "forge", "text": said});
    edit_bead(&repo, &bead, json!({"title": "By bead", "comments": [comment]}));
    switch(&forge, &id, true).await;
    let kept = bead_is(&forge, &id, &bead, "title", "By task").await;
    assert_eq!(kept["comments"].as_array().unwrap().len(), 1, "{kept:#}");
}

#[tokio::test]
async fn what_is_deleted_on_one_side_stays_on_the_other_and_does_not_come_back() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    let [gone, buried, left] = ["Gone", "Buried", "Left"].map(|title| make_bead(&forge, &id, title));
    let [gone, buried, left] = [gone.await, buried.await, left.await];
    switch(&forge, &id, true).await;
    let gone_task = task_of(&forge, &id, &gone).await;
    let buried_task = task_of(&forge, &id, &buried).await;
    let left_task = task_of(&forge, &id, &left).await;
    edit_bead(&repo, &buried, json!({"status": "tombstone"}));
    let lines = std::fs::read_to_string(repo.join(".beads/issues.jsonl")).unwrap();
    let gone_line = lines.lines().find(|line| line.contains(&gone)).unwrap().to_owned();
    put_beads(
        &repo,
        &lines
            .lines()
            .filter(|line| **line != *gone_line)
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    );
    forge.delete(&format!("/api/tasks/{left_task}")).await;
    carried_over(&forge, &id).await;
    for task in [&gone_task, &buried_task] {
        edit_task(&forge, task, json!({"title": "By itself"})).await;
    }
    carried_over(&forge, &id).await;
    let beads = forge.get(&format!("/api/beads?project_id={id}&status=open")).await.data();
    let open: Vec<&Value> = beads.as_array().unwrap().iter().map(|bead| &bead["id"]).collect();
    assert_eq!(open, [&json!(left)], "no bead came back");
    assert_eq!(beads[0]["standing"]["task_id"], Value::Null, "and no task");
    // A checkout of another branch takes beads away for a while.
    let lines = std::fs::read_to_string(repo.join(".beads/issues.jsonl")).unwrap();
    put_beads(&repo, &format!("{lines}{gone_line}\n"));
    bead_is(&forge, &id, &gone, "title", "By itself").await;
    assert_eq!(task_of(&forge, &id, &gone).await, gone_task);
}

#[tokio::test]
async fn the_dispatcher_works_on_the_same_task_and_its_status_is_left_alone_meanwhile() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    switch(&forge, &id, true).await;
    let body = json!({"project_id": id, "title": "At work", "description": "hang"});
    let task = text(&forge.post("/api/tasks", &body).await.data()["id"]);
    let bead = bead_of(&forge, &id, &task).await;
    let on = json!({"enabled": true, "executor_profile_id": "SCRIPTED"});
    forge.put(&format!("/api/projects/{id}/dispatch"), &on).await.data();
    let attempts = format!("/api/task-attempts?task_id={task}");
    let found = forge.until(&attempts, "it is at work", |all| all.as_array().unwrap().len() == 1).await;
    edit_task(&forge, &task, json!({"status": "todo"})).await;
    edit_task(&forge, &task, json!({"status": "cancelled"})).await;
    forge.put(&format!("/api/projects/{id}/dispatch"), &json!({"enabled": false})).await.data();
    carried_over(&forge, &id).await;
    let held = forge.get(&format!("/api/beads/{bead}?project_id={id}")).await.data();
    assert_eq!(held["status"], "in_progress", "an agent has it: {held:#}");
    forge.post(&format!("/api/task-attempts/{}/stop", text(&found[0]["id"])), &json!({})).await.data();
    let path = format!("/api/beads/{bead}?project_id={id}");
    forge.until(&path, "it is given back", |bead| bead["standing"]["lease"].is_null()).await;
    assert_eq!(count(&forge, &format!("/api/tasks?project_id={id}")).await, 2, "no second task for the bead");
}

#[tokio::test]
async fn a_bead_whose_work_waits_for_review_leaves_its_task_there() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    let body = json!({"project_id": id, "title": "Reviewed", "description": "write a.txt x\nsay done"});
    let bead = text(&forge.post("/api/beads", &body).await.data()["id"]);
    let on = json!({"enabled": true, "mirror": true, "executor_profile_id": "SCRIPTED"});
    forge.put(&format!("/api/projects/{id}/dispatch"), &on).await.data();
    bead_is(&forge, &id, &bead, "status", "closed").await;
    forge.put(&format!("/api/projects/{id}/dispatch"), &json!({"enabled": false})).await.data();
    carried_over(&forge, &id).await;
    let task = task_of(&forge, &id, &bead).await;
    let attempts = forge.get(&format!("/api/task-attempts?task_id={task}")).await.data();
    task_is(&forge, &task, "status", "inreview").await;
    forge.post(&format!("/api/task-attempts/{}/merge", text(&attempts[0]["id"])), &json!({})).await.data();
    task_is(&forge, &task, "status", "done").await;
    let reason = text(&bead_is(&forge, &id, &bead, "status", "closed").await["close_reason"]);
    assert!(reason.contains(&text(&attempts[0]["id"])), "{reason}");
}

#[tokio::test]
async fn a_task_that_a_person_starts_is_not_given_out_as_well() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    switch(&forge, &id, true).await;
    let task = forge.task(&id, "By hand").prompt("hang").with("base_branch", "main").start().await.id();
    let bead = bead_of(&forge, &id, &task).await;
    bead_is(&forge, &id, &bead, "status", "in_progress").await;
    let mut once = forge.command();
    once.args(["dispatch", "--once", "--json", "-x", "SCRIPTED"]).current_dir(&repo);
    let told: Value = serde_json::from_slice(&forge_tests::output(once).await.stdout).unwrap();
    assert_eq!((&told["started"], &told["waiting"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn a_server_that_dies_again_and_again_makes_nothing_twice() {
    let mut forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    for number in 0..12 {
        make_bead(&forge, &id, &format!("Bead {number}")).await;
        make_task(&forge, &id, &format!("Task {number}")).await;
    }
    switch(&forge, &id, true).await;
    // Pseudo-random pauses, the same in every run of the test: a crash may hit any step.
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..6 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        tokio::time::sleep(std::time::Duration::from_millis(seed % 60)).await;
        forge.crash();
        forge.up().await;
    }
    let path = format!("/api/beads?project_id={id}");
    let all_linked = |all: &Value| {
        let all = all.as_array().unwrap();
        all.len() >= 24 && all.iter().all(|bead| bead["standing"]["task_id"].is_string())
    };
    let beads = forge.until(&path, "every bead is a task", all_linked).await;
    carried_over(&forge, &id).await;
    assert_eq!(beads.as_array().unwrap().len(), 24);
    assert_eq!(count(&forge, &format!("/api/tasks?project_id={id}")).await, 25, "and the last");
    assert_eq!(count(&forge, &path).await, 25);
}

#[tokio::test]
async fn a_bead_that_was_made_just_before_a_crash_belongs_to_its_task() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    let task = make_task(&forge, &id, "Written down").await;
    let line = json!({"id": "repo-1", "title": "Written down", "description": "as written", "status": "open",
        "priority": 2, "issue_type": "task", "external_ref": format!("forge:{task}")});
    put_beads(&repo, &format!("{line}\n"));
    switch(&forge, &id, true).await;
    assert_eq!(task_of(&forge, &id, "repo-1").await, task);
    carried_over(&forge, &id).await;
    assert_eq!(count(&forge, &format!("/api/tasks?project_id={id}")).await, 2, "the last is the other");
}

#[tokio::test]
async fn without_the_switch_nothing_is_touched() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    let bead = make_bead(&forge, &id, "Alone").await;
    make_task(&forge, &id, "Also alone").await;
    let mut on = forge.command();
    on.args(["dispatch", "--mirror", "on", "--json"]).current_dir(&repo);
    let rule: Value = serde_json::from_slice(&forge_tests::output(on).await.stdout).unwrap();
    assert_eq!((&rule["mirror"], &rule["enabled"]), (&json!(true), &json!(false)));
    let task = task_of(&forge, &id, &bead).await;
    carried_over(&forge, &id).await;
    switch(&forge, &id, false).await;
    let before = std::fs::read(repo.join(".beads/issues.jsonl")).unwrap();
    edit_task(&forge, &task, json!({"title": "Changed", "status": "done"})).await;
    make_task(&forge, &id, "Not written down").await;
    // A round by hand looks at all that happened before it.
    forge.post("/api/dispatch", &json!({"project_id": id, "dry_run": true})).await.data();
    assert_eq!(std::fs::read(repo.join(".beads/issues.jsonl")).unwrap(), before);
    assert_eq!(task_of(&forge, &id, &bead).await, task, "the link remains");
}
