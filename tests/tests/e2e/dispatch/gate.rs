//! What keeps work from landing and a bead from being closed: no change, a cleanup script that failed, an open conflict.

use forge_tests::{Dialect, TestForge, git, signal, text};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::beads::{BARE, project};
use crate::dispatch::Field;
use crate::dispatch::{bead, switch_on};
use crate::publish::Published;

async fn parked(forge: &TestForge, project: &str, bead: &str) -> Value {
    let path = format!("/api/beads/{bead}?project_id={project}");
    // The tracker and the store are read one after the other.
    let waits = |bead: &Value| bead["standing"]["parked"].is_string() && bead["status"] == "open";
    forge.until(&path, "it waits for a person", waits).await
}

fn why(bead: &Value) -> String {
    text(&bead["standing"]["parked"])
}

/// That people are told of the bead, and the decision says how it ended.
async fn assert_set_aside(forge: &TestForge, project: &str, bead: &Value) {
    assert_eq!((&bead["status"], &bead["standing"]["lease"]), (&json!("open"), &Value::Null), "{bead:#}");
    let id = text(&bead["id"]);
    let alerts = forge.get("/api/alerts").await.data();
    let told =
        alerts.as_array().unwrap().iter().find(|one| text(&one["message"]).contains(&format!("bead {id} ")));
    let told = told.unwrap_or_else(|| panic!("no alert tells of {id}: {alerts:#}"));
    assert!(text(&told["message"]).contains(&why(bead)), "{told:#}");
    let routed = forge.get(&format!("/api/routing/explain?bead={id}&project_id={project}")).await.data();
    assert_eq!(routed[0]["outcome"], "parked", "{routed:#}");
}

#[tokio::test]
async fn a_bead_that_ends_without_a_change_is_set_aside_however_it_was_to_land() {
    let forge = TestForge::with(&[], &[BARE]).await;
    for (name, rule) in [
        ("one", json!({"landing": "merge", "close_on": "merge"})),
        ("two", json!({"landing": "review", "close_on": "merge"})),
        ("three", json!({"landing": "review", "close_on": "success"})),
    ] {
        let (id, repo) = forge.project(name).await;
        std::fs::create_dir(repo.join(".beads")).unwrap();
        let before = git(&repo, &["rev-parse", "main"]);
        let talk = bead(&forge, &id, "Only talk", "say I did nothing", &[]).await;
        // The agent commits by itself, and there is still nothing in it.
        let hollow = "run git commit -q --allow-empty -m Hollow && echo committed\nsay done";
        let hollow = bead(&forge, &id, "Hollow", hollow, &[]).await;
        switch_on(&forge, &id, rule).await;
        for bead in [&talk, &hollow] {
            let bead = parked(&forge, &id, bead).await;
            assert!(why(&bead).starts_with("no changes: "), "{bead:#}");
            assert_set_aside(&forge, &id, &bead).await;
        }
        assert_eq!(git(&repo, &["rev-parse", "main"]), before, "nothing has landed");
    }
}

#[tokio::test]
async fn work_whose_result_is_words_may_end_without_a_change() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    let body =
        json!({"project_id": id, "title": "Why?", "description": "say because", "issue_type": "research"});
    let asked = text(&forge.post("/api/beads", &body).await.data()["id"]);
    switch_on(&forge, &id, json!({"landing": "merge", "close_on": "merge"})).await;
    let path = format!("/api/beads/{asked}?project_id={id}");
    let closed = forge.until(&path, "it is closed", |bead| bead["status"] == "closed").await;
    assert!(text(&closed["close_reason"]).ends_with(", without a change"), "{closed:#}");
}

#[tokio::test]
async fn the_setting_says_which_types_may_end_without_a_change() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    forge.put("/api/config", &json!({"fleet": {"no_change_ok": ["Chore"]}})).await.data();
    let create = async |kind: &str| {
        let body = json!({"project_id": id, "title": kind, "description": "say so", "issue_type": kind});
        text(&forge.post("/api/beads", &body).await.data()["id"])
    };
    let (chore, research) = (create("chore").await, create("research").await);
    switch_on(&forge, &id, json!({})).await;
    parked(&forge, &id, &research).await;
    let path = format!("/api/beads/{chore}?project_id={id}");
    forge.until(&path, "it is closed", |bead| bead["status"] == "closed").await;
}

#[tokio::test]
async fn a_bead_whose_agent_left_a_conflict_open_is_not_done() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    let script = "run git checkout -q -b side && echo a >f && git add f && git commit -qm a && git checkout -q - \
                  && echo b >f && git add f && git commit -qm b; git merge -q side; echo left\nsay done";
    let one = bead(&forge, &id, "Left open", script, &[]).await;
    switch_on(&forge, &id, json!({"landing": "review"})).await;
    let bead = parked(&forge, &id, &one).await;
    assert!(why(&bead).starts_with("a merge has stopped at f in "), "{bead:#}");
    assert_set_aside(&forge, &id, &bead).await;
    assert!(!repo.join("f").exists());
}

#[tokio::test]
async fn a_cleanup_script_that_failed_keeps_work_from_landing_whoever_did_it() {
    let field = Field::plough(json!({"max_failures": 1}), "echo x >broken.txt").await;
    let (forge, repo) = (&field.stage.forge, &field.repo);
    let before = git(repo, &["rev-parse", "main"]);
    let path = format!("/api/projects/{}", field.project);
    forge.put(&path, &json!({"cleanup_script": "echo It is broken; test ! -f broken.txt"})).await.data();
    let rule = json!({"enabled": true, "landing": "merge"});
    let by_worker = field.bead("In a terminal", &[]).await;
    field.switch(rule.clone()).await;
    let by_worker = field.parked(&by_worker).await;
    let without = bead(forge, &field.project, "Without one", "write broken.txt x\nsay done", &[]).await;
    // What the agent commits by itself is looked at too.
    let script = "write broken.txt x\nrun git add -A && git commit -qm Mine && echo committed\nsay done";
    let by_itself = bead(forge, &field.project, "By itself", script, &[]).await;
    let mut rule = rule;
    rule["mode"] = "attempt".into();
    switch_on(forge, &field.project, rule).await;
    for bead in [by_worker, field.parked(&without).await, field.parked(&by_itself).await] {
        let expected = "the cleanup script failed (exit code 1): It is broken";
        assert_eq!(why(&bead), expected, "{bead:#}");
        assert_set_aside(forge, &field.project, &bead).await;
    }
    assert_eq!(git(repo, &["rev-parse", "main"]), before, "nothing has landed");
}

#[tokio::test]
async fn no_pull_request_opens_by_itself_past_a_cleanup_script_that_failed() {
    let world = Published::with_token(Dialect::Github).await;
    let project = format!("/api/projects/{}", world.project);
    world.forge.put(&project, &json!({"cleanup_script": "echo It is broken; exit 1"})).await.data();
    let task = world.forge.task(&world.project, "Broken").prompt("write a.txt one\nsay done");
    let started = task.with("auto_pr", true).start().await;
    let path = format!("/api/task-attempts/{}", started.attempt());
    let over = |now: &Value| now["auto_pr"]["state"] != "waiting";
    let ended = world.forge.until(&path, "it is decided", over).await;
    assert_eq!(ended["auto_pr"]["state"], "failed", "{ended:#}");
    assert!(text(&ended["auto_pr"]["message"]).starts_with("the cleanup script failed"), "{ended:#}");

    // The script runs only after a change, so a turn without one takes nothing back.
    let attempt = started.attempt();
    world.forge.post(&format!("{path}/follow-up"), &json!({"prompt": "say why"})).await.data();
    assert_eq!(world.forge.settled(&attempt).await.len(), 3, "agent, cleanup script, agent");
    world.forge.put(&project, &json!({"cleanup_script": "true"})).await.data();
    world.forge.post(&format!("{path}/follow-up"), &json!({"prompt": "write b.txt two"})).await.data();
    let opened = |now: &Value| now["auto_pr"]["state"] == "opened";
    world.forge.until(&path, "it opens once the script succeeds", opened).await;
    assert_eq!(world.host.pull_count(), 1);
}

#[tokio::test]
async fn a_worker_that_changes_nothing_closes_nothing() {
    let field = Field::plough(json!({}), "echo I only talk").await;
    let id = field.bead("Do it", &[]).await;
    field.switch(json!({"enabled": true, "landing": "merge"})).await;
    let bead = field.parked(&id).await;
    assert!(why(&bead).starts_with("no changes: "), "{bead:#}");
    assert_set_aside(&field.stage.forge, &field.project, &bead).await;
    field.until_nothing_is_left().await;
}

#[tokio::test]
async fn workers_whose_tmux_server_is_killed_are_tried_again() {
    let script = "echo $$ >\"$FIELD/pid-$FORGE_WORKER_ID\"; [ -e \"$FIELD/go\" ] || exec sleep 600\n\
                  echo x >\"$FORGE_ASSIGNED_BEAD.txt\"";
    let field = Field::plough(json!({"max_workers": 4}), script).await;
    let mut beads = Vec::new();
    for number in 1..=4 {
        beads.push(field.bead(&format!("Bead {number}"), &[]).await);
    }
    field.switch(json!({"enabled": true})).await;
    for number in 1..=4 {
        field.stage.pid(&format!("pid-repo-{number}")).await;
    }
    std::fs::write(field.stage.forge.dir().join("go"), "").unwrap();
    signal(field.stage.tmux(&["display-message", "-p", "#{pid}"]).parse().unwrap(), Signal::KILL);
    for id in &beads {
        let over = |bead: &Value| bead["status"] == "closed" || bead["standing"]["parked"].is_string();
        let bead = field.until(id, "it is done", over).await;
        assert_eq!(bead["status"], "closed", "nobody stopped it: {bead:#}");
        assert_eq!(field.attempts(&bead).await.len(), 2, "it was tried again: {bead:#}");
    }
    field.until_nothing_is_left().await;
}
