//! What workers leave behind: beads under names that nobody works as, files, logs and rows of those who ended.

use forge_tests::{TestForge, text};
use serde_json::{Value, json};
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use crate::beads::{BARE, project};
use crate::workers::{Stage, waiting};

/// Changes the database of a server that does not run.
async fn rewrite(forge: &TestForge, sql: &'static str) {
    let database = SqliteConnectOptions::new().filename(forge.home().join("db.sqlite"));
    let mut database = SqliteConnection::connect_with(&database).await.unwrap();
    sqlx::query(sql).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
}

fn stale_alert(alerts: &Value) -> Value {
    let found = alerts.as_array().unwrap().iter().find(|alert| alert["kind"] == "stale_assignee");
    found.cloned().unwrap_or_default()
}

#[tokio::test]
async fn a_bead_that_a_lost_worker_of_ours_has_is_released_and_nobody_elses() {
    let rules = json!({"stale_assignee_policy": "notify", "stale_assignee_mins": 0});
    let settings = json!({"fleet": {"recovery": rules}});
    let mut forge = TestForge::with_settings(&[], &[BARE], &settings).await;
    let (id, repo) = project(&forge).await;
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    // Another installation on this machine.
    let theirs = format!("forge/{}/w/{}", host.trim(), uuid::Uuid::new_v4());
    let line = json!({"id": "repo-1", "title": "t", "status": "in_progress", "priority": 2, "assignee": theirs,
        "updated_at": "2026-01-01T00:00:00Z"});
    std::fs::write(repo.join(".beads/issues.jsonl"), format!("{line}\n")).unwrap();
    let mut mine = Vec::new();
    for title in ["lost", "held"] {
        let bead =
            text(&forge.post("/api/beads", &json!({"project_id": id, "title": title})).await.data()["id"]);
        let body = json!({"project_id": id, "worker": title});
        forge.post(&format!("/api/beads/{bead}/claim"), &body).await.data();
        mine.push(bead);
    }
    forge.crash();
    rewrite(&forge, "DELETE FROM leases WHERE worker_id = 'lost'").await;
    forge.up().await;
    let alerts = forge.until("/api/alerts", "it is told", |all| !stale_alert(all).is_null()).await;
    assert_eq!(stale_alert(&alerts)["severity"], "warning");
    let path = |bead: &str| format!("/api/beads/{bead}?project_id={id}");
    assert_eq!(forge.get(&path(&mine[0])).await.data()["status"], "in_progress", "a person decides");

    let auto = json!({"fleet": {"recovery": {"stale_assignee_policy": "auto"}}});
    forge.put("/api/config", &auto).await.data();
    forge.crash();
    forge.up().await;
    let free = forge.until(&path(&mine[0]), "it is released", |bead| bead["status"] == "open").await;
    assert!(text(&free["comments"][0]["text"]).contains("nobody works on this as forge/"), "{free:#}");
    assert_eq!(forge.get(&path(&mine[1])).await.data()["status"], "in_progress", "it has a lease");
    let other = forge.get(&path("repo-1")).await.data();
    assert_eq!((&other["status"], &other["assignee"]), (&json!("in_progress"), &json!(theirs)));
}

#[tokio::test]
async fn what_is_left_of_workers_that_ended_long_ago_goes_with_a_record() {
    let mut stage = Stage::set(json!({})).await;
    let home = stage.forge.home();
    for id in ["old", "new", "runs"] {
        stage.spawn(id, &waiting(id)).await;
        stage.until(id, "its status file is read", |worker| worker["status"]["status"] == "idle").await;
        std::fs::create_dir_all(home.join("logs")).unwrap();
        std::fs::write(home.join(format!("logs/{id}.log")), "said\n").unwrap();
    }
    for id in ["old", "new"] {
        stage.act(id, "kill").await;
    }
    stage.forge.crash();
    let then = "2026-01-01T00:00:00Z";
    let age =
        "UPDATE workers SET body = json_set(body, '$.updated_at', '2026-01-01T00:00:00Z') WHERE id <> 'new'";
    rewrite(&stage.forge, age).await;
    for id in ["old", "runs"] {
        let body = json!({"worker_id": id, "status": "stopped", "last_update": then});
        std::fs::write(home.join(format!("status/{id}.json")), body.to_string()).unwrap();
    }
    stage.forge.up().await;
    let ids = |all: &Value| all.as_array().unwrap().iter().map(|one| text(&one["id"])).collect::<Vec<_>>();
    stage.forge.until("/api/workers", "the old one is forgotten", |all| ids(all) == ["new", "runs"]).await;
    let left = |name: &str| home.join(name).exists();
    assert!(!left("status/old.json") && !left("logs/old.log"));
    for kept in ["status/new.json", "logs/new.log", "status/runs.json", "logs/runs.log"] {
        assert!(left(kept), "{kept}");
    }
    let record = std::fs::read_to_string(home.join("status/removed.jsonl")).unwrap();
    let record: Value = serde_json::from_str(record.trim()).unwrap();
    assert_eq!((&record["worker_id"], &record["said"]["last_update"]), (&json!("old"), &json!(then)));
}

#[tokio::test]
async fn two_installations_of_one_user_share_no_tmux_server() {
    let (one, other) = (TestForge::start().await, TestForge::start().await);
    let socket = |forge: &TestForge| {
        let mut command = forge.command();
        command.args(["worker", "attach", "a", "--print"]);
        forge_tests::output(command)
    };
    let order = |forge: &TestForge| {
        let script = forge.dir().join("script");
        std::fs::write(&script, "exec sleep 600").unwrap();
        json!({"id": "a", "launcher": "scripted", "workspace": forge.dir().canonicalize().unwrap(),
            "env": {"FORGE_SCRIPT": script}})
    };
    for forge in [&one, &other] {
        forge.post("/api/workers", &order(forge)).await.data();
    }
    let (first, second) = (socket(&one).await.stdout, socket(&other).await.stdout);
    assert!(String::from_utf8_lossy(&first).contains("/forge-"), "{}", String::from_utf8_lossy(&first));
    assert_ne!(first, second);
    one.post("/api/workers/a/kill", &json!({})).await.data();
    let known = other.get("/api/workers/a").await.data();
    assert_eq!((&known["has_session"], &known["phase"]), (&json!(true), &json!("running")));
    other.post("/api/workers/a/kill", &json!({})).await.data();
}
