//! Alerts reach people: once for each severity, by every way that is set, and again when nobody reacts.

use std::path::Path;

use forge_tests::{eventually, make_program, signal, text};
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use super::omni::Gateway;
use crate::workers::{Stage, waiting};

/// Until there are so many; what is there then.
async fn until<T>(what: &str, look: impl Fn() -> Vec<T>, count: usize) -> Vec<T> {
    let enough = || Some(look()).filter(|found| found.len() >= count).ok_or_else(|| look().len());
    eventually(what, enough).await
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The alerts that were posted: kind and severity.
fn posted(gateway: &Gateway) -> Vec<(String, String)> {
    let bodies = gateway.texts().into_iter().filter_map(|request| {
        let (_, body) = request.split_once("\r\n\r\n")?;
        serde_json::from_str::<Value>(body).ok()
    });
    bodies.map(|alert| (text(&alert["kind"]), text(&alert["severity"]))).collect()
}

fn told(kind: &str, severity: &str) -> (String, String) {
    (kind.to_owned(), severity.to_owned())
}

async fn kill_agent(stage: &Stage, id: &str) {
    stage.spawn(id, &waiting(id)).await;
    signal(stage.pid(id).await, Signal::KILL);
    stage.until(id, "the death is seen", |worker| worker["phase"] == "failed").await;
}

#[tokio::test]
async fn an_alert_leaves_once_by_every_way_also_when_the_server_is_killed() {
    let bin = tempfile::tempdir().unwrap();
    let program = |name: &str, body: &str| {
        let path = bin.path().join(name);
        make_program(&path, format!("#!/bin/sh\n{body}\n"));
        path.display().to_string()
    };
    let (shown, heard) = (bin.path().join("shown"), bin.path().join("heard"));
    program("notify-send", &format!("echo \"$*\" >>{}", shown.display()));
    let words = "$1 $FORGE_ALERT_KIND $FORGE_ALERT_SEVERITY $FORGE_ALERT_SUBJECT $FORGE_ALERT_MESSAGE";
    let command = program("tell", &format!("echo \"{words} $(cat)\" >>{}", heard.display()));
    let path = format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap());
    // The first try is refused.
    let gateway = Gateway::start(0, 1).await;
    let url = format!("{}/T0/hook-secret", gateway.address);
    let alerts = json!({"desktop": true, "webhook": url, "command": [command, "told:"]});
    let mut stage = Stage::with(&[("PATH", &path), ("RUST_LOG", "debug")], json!({"alerts": alerts})).await;
    kill_agent(&stage, "a").await;
    let crashed = told("worker_crashed", "critical");
    let both = until("the second try", || posted(&gateway), 2).await;
    assert_eq!(both, [crashed.clone(), crashed.clone()]);
    let line = &until("the command ran", || lines(&heard), 1).await[0];
    assert!(line.starts_with("told: worker_crashed critical a a died: its agent ended"), "{line}");
    assert!(line.contains(r#""subject":"a""#), "{line}");
    let line = &until("the desktop shows it", || lines(&shown), 1).await[0];
    assert!(line.contains("--urgency=critical -- Forge: worker crashed a died:"), "{line}");

    stage.forge.crash();
    stage.forge.up().await;
    kill_agent(&stage, "b").await;
    assert_eq!(until("b is told", || posted(&gateway), 3).await.len(), 3);
    assert_eq!(until("b is told", || lines(&heard), 2).await.len(), 2);
    assert_eq!(until("b is told", || lines(&shown), 2).await.len(), 2);

    // The address is a secret.
    let config = stage.forge.get("/api/config").await.data();
    assert_eq!(config["fleet"]["alerts"]["webhook"], "********");
    let kept = stage.forge.put("/api/config", &config).await.data();
    assert_eq!(kept["fleet"]["alerts"]["webhook"], "********");
    assert!(!config.to_string().contains("hook-secret") && !stage.forge.log().contains("hook-secret"));
    let stored = std::fs::read_to_string(stage.forge.home().join("config.json")).unwrap();
    assert!(stored.contains("hook-secret"), "what was shown masked is not stored masked");
    let wrong = json!({"fleet": {"alerts": {"webhook": "ftp://h/hook-secret"}}});
    let refused = stage.forge.put("/api/config", &wrong).await;
    assert!(refused.status == 400 || refused.status == 422, "{}", refused.text);
    assert!(refused.message().contains("fleet.alerts.webhook") && !refused.text.contains("hook-secret"));
}

#[tokio::test]
async fn what_is_milder_than_wanted_stays_inside() {
    let gateway = Gateway::start(0, 0).await;
    let fleet = json!({"alerts": {"webhook": gateway.address, "min_severity": "critical"},
        "health": {"memory_limit_mb": 0, "check_interval_secs": 1}});
    let stage = Stage::set(fleet).await;
    stage.spawn("warned", &waiting("warned")).await;
    stage.until("warned", "it is too large", |worker| worker["health"]["level"] == "degraded").await;
    kill_agent(&stage, "crashed").await;
    assert_eq!(
        until("the crash is told", || posted(&gateway), 1).await,
        [told("worker_crashed", "critical")]
    );
}

#[tokio::test]
async fn a_warning_that_nobody_acknowledges_becomes_critical_and_is_told_again() {
    let gateway = Gateway::start(0, 0).await;
    let fleet = json!({"alerts": {"webhook": gateway.address, "escalate_after_mins": 30},
        "health": {"memory_limit_mb": 0, "check_interval_secs": 1}});
    let mut stage = Stage::set(fleet).await;
    for id in ["seen", "unseen"] {
        stage.spawn(id, &waiting(id)).await;
        stage.until(id, "it is too large", |worker| worker["health"]["level"] == "degraded").await;
    }
    let warned = told("memory_high", "warning");
    assert_eq!(until("both are told", || posted(&gateway), 2).await, [warned.clone(), warned]);
    let alerts = stage.forge.get("/api/alerts").await.data();
    let seen = alerts.as_array().unwrap().iter().find(|alert| alert["subject"] == "seen").unwrap();
    stage.forge.post(&format!("/api/alerts/{}/ack", text(&seen["id"])), &json!({})).await.data();

    stage.forge.crash();
    let database = SqliteConnectOptions::new().filename(stage.forge.home().join("db.sqlite"));
    let mut database = SqliteConnection::connect_with(&database).await.unwrap();
    let long_ago = "UPDATE alerts SET body = json_set(body, '$.first_at', '2026-01-01T00:00:00Z')";
    sqlx::query(long_ago).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    stage.forge.up().await;
    let all = until("one is told again", || posted(&gateway), 3).await;
    assert_eq!(all[2..], [told("memory_high", "critical")]);
    let alerts = stage.forge.get("/api/alerts").await.data();
    let severity = |subject: &str| {
        let found = alerts.as_array().unwrap().iter().find(|alert| alert["subject"] == subject).unwrap();
        text(&found["severity"])
    };
    assert_eq!((severity("seen"), severity("unseen")), ("warning".to_owned(), "critical".to_owned()));
}
