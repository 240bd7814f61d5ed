//! How workers are is seen: limits, pauses, prompts, memory, and what was cut off.

use std::path::Path;

use forge_tests::{is_alive, make_program, signal, text};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::workers::{Stage, waiting, words};

/// Checks that do not keep a test waiting.
fn often() -> Value {
    json!({"health": {"check_interval_secs": 1}})
}

/// The letter that the kernel has for how a process is.
fn run_state(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let (_, rest) = stat.rsplit_once(')').expect("a line of stat");
    rest.trim_start()[..1].to_owned()
}

/// The kernel stops a process when it next looks at it, which is soon.
async fn until_state(pid: u32, holds: impl Fn(&str) -> bool) {
    let look = || Some(run_state(pid)).filter(|state| holds(state)).ok_or_else(|| run_state(pid));
    forge_tests::eventually(&format!("{pid} is in the state"), look).await;
}

fn has(worker: &Value, finding: &str) -> bool {
    worker["health"]["findings"].as_array().is_some_and(|all| all.iter().any(|one| one == finding))
}

#[tokio::test]
async fn a_worker_that_hits_a_limit_is_parked_and_told_to_go_on_when_it_ends() {
    let stage = Stage::set(often()).await;
    let agent =
        "echo 'usage limit reached, try again in 3s'; read line; echo \"told: $line\"; exec sleep 600";
    stage.spawn("a", agent).await;
    let parked = stage.until("a", "it is parked", |a| a["phase"] == "parked").await;
    assert_eq!(parked["note"], "usage limit reached, try again in 3s");
    assert!(parked["parked_until"].is_string() && parked["restarts"] == json!([]), "{parked:#}");
    let path = "/api/workers/a/peek?lines=20";
    stage.forge.until(path, "it is told", |pane| text(&pane["text"]).contains("told: Continue")).await;
    let back = stage.until("a", "it runs", |a| a["phase"] == "running").await;
    assert_eq!((&back["restarts"], &back["parked_until"]), (&json!([]), &json!(null)));
}

#[tokio::test]
async fn a_frozen_worker_does_not_run_until_it_is_resumed() {
    let stage = Stage::set(json!({})).await;
    stage.spawn("a", &waiting("pid")).await;
    let pid = stage.pid("pid").await;
    let frozen = stage.forge.post("/api/workers/a/pause", &json!({"freeze": true})).await.data();
    assert_eq!(frozen["phase"], "paused");
    until_state(pid, |state| state == "T").await;
    assert_eq!(stage.act("a", "resume").await["phase"], "running");
    until_state(pid, |state| state != "T").await;
    assert_eq!(stage.alerts().await, []);
}

#[tokio::test]
async fn an_agent_that_ignores_every_request_is_cut_off_and_has_not_crashed() {
    let stage = Stage::set(json!({})).await;
    // A frozen one cannot hear any request either.
    stage.spawn("a", "trap '' INT TERM HUP; echo $$ >pid; while :; do sleep 600; done").await;
    let pid = stage.pid("pid").await;
    stage.forge.post("/api/workers/a/pause", &json!({"freeze": true})).await.data();
    let stopped = stage.forge.post("/api/workers/a/stop", &json!({"timeout_secs": 1})).await.data();
    assert_eq!(words(&stopped), ("stopped", "healthy"));
    assert!(!is_alive(pid) && stage.sessions().is_empty());
    assert_eq!(stage.alerts().await, [], "a stop is no crash");
}

#[tokio::test]
async fn silence_degrades_a_worker_until_it_speaks_and_a_heartbeat_counts_as_speaking() {
    let stage = Stage::set(often()).await;
    let status = |name: &str, at: &str| {
        let body = json!({"worker_id": name, "status": "active", "last_update": at});
        std::fs::write(stage.forge.home().join(format!("status/{name}.json")), body.to_string()).unwrap();
    };
    let adopted = "forge-worker-quiet";
    stage.tmux(&["new-session", "-d", "-s", adopted, "sleep 600"]);
    stage.act("quiet", "adopt").await;
    // Forge's own worker has begun just now, and what is older is of a former life.
    let begun = stage.forge.get("/api/workers/quiet").await.data();
    assert_eq!(begun["phase"], "running");
    let config = json!({"fleet": {"health": {"stale_threshold_secs": 0}}});
    stage.forge.put("/api/config", &config).await.data();
    status("quiet", &text(&begun["started_at"]));
    stage.until("quiet", "it is stale", |a| has(a, "stale") && a["health"]["level"] == "degraded").await;
    assert!(stage.alerts().await.contains(&("worker_stale".to_owned(), "quiet".to_owned())));
    // A heart that beats: it is busy.
    let beat = stage.forge.home().join("heartbeat/quiet.heartbeat");
    std::fs::create_dir_all(beat.parent().unwrap()).unwrap();
    let soon = std::time::SystemTime::now() + forge_tests::PATIENCE;
    std::fs::File::create(&beat).unwrap().set_modified(soon).unwrap();
    stage.until("quiet", "it is busy", |a| a["health"]["level"] == "healthy").await;
    assert_eq!(stage.alerts().await, []);
    std::fs::remove_file(&beat).unwrap();
    stage.until("quiet", "it is stale", |a| has(a, "stale")).await;
    let config = json!({"fleet": {"health": {"stale_threshold_secs": 300}}});
    stage.forge.put("/api/config", &config).await.data();
    stage.until("quiet", "it is well", |a| a["health"]["level"] == "healthy").await;
    assert_eq!(stage.alerts().await, []);
}

#[tokio::test]
async fn what_a_pane_shows_and_how_much_memory_is_used_are_told() {
    let stage = Stage::set(json!({"health": {"check_interval_secs": 1, "memory_limit_mb": 0}})).await;
    stage
        .spawn("a", "printf 'Do you want to proceed?\\n 1. Yes\\n 2. No\\n'; read answer; exec sleep 600")
        .await;
    let asks = |a: &Value| has(a, "waits_for_permission") && has(a, "memory_high");
    let seen = stage.until("a", "both are seen", asks).await;
    assert!(seen["health"]["memory_mb"].as_u64() > Some(0) && words(&seen) == ("running", "degraded"));
    let alerts = stage.alerts().await;
    for kind in ["waits_for_permission", "memory_high"] {
        assert!(alerts.contains(&(kind.to_owned(), "a".to_owned())), "{alerts:?}");
    }
    stage.tmux(&["send-keys", "-t", "=forge-worker-a:", "1", "Enter"]);
    let path = "/api/workers/a/peek?lines=20";
    stage.forge.until(path, "it was answered", |pane| !text(&pane["text"]).is_empty()).await;
    stage.tmux(&["send-keys", "-t", "=forge-worker-a:", "-R"]);
    stage.tmux(&["clear-history", "-t", "=forge-worker-a:"]);
    stage.until("a", "it goes on", |a| !has(a, "waits_for_permission")).await;
}

#[tokio::test]
async fn an_agent_that_is_gone_from_its_shell_is_critical() {
    let stage = Stage::set(often()).await;
    stage.tmux(&["new-session", "-d", "-s", "claude-code-opus-alpha", "sh"]);
    let id = "claude-code-opus-alpha";
    stage.tmux(&["send-keys", "-t", &format!("={id}:"), "sh -c 'echo $$ >agent; exec sleep 600'", "Enter"]);
    let cwd = stage.tmux(&["display-message", "-p", "-t", &format!("={id}:"), "#{pane_current_path}"]);
    let agent = Path::new(&cwd).join("agent");
    let pid = stage.pid(&agent.display().to_string()).await;
    std::fs::remove_file(&agent).unwrap();
    stage.act(id, "adopt").await;
    stage.until(id, "it is well", |a| words(a) == ("running", "healthy")).await;
    signal(pid, Signal::KILL);
    let dead = stage.until(id, "its death is seen", |a| a["phase"] == "failed").await;
    assert_eq!(words(&dead).1, "critical");
    assert_eq!(stage.sessions(), [id], "its shell is left to the person");
    assert!(has(&dead, "agent_gone") || has(&dead, "process_gone"), "{dead:#}");
}

#[tokio::test]
async fn a_launcher_that_outlives_the_server_makes_one_session_and_no_orphan() {
    let mut stage = Stage::set(often()).await;
    let shipped = {
        stage.run(&["launcher", "list"]).await;
        stage.forge.home().join("launchers")
    };
    let (here, gate) = (stage.forge.dir().join("called"), stage.forge.dir().join("gate"));
    let slow = stage.forge.dir().join("slow");
    let body = format!(
        "#!/bin/sh\necho $$ >{}\nuntil [ -e {} ]; do sleep 0.05; done\nexec {}/scripted \"$@\"\n",
        here.display(),
        gate.display(),
        shipped.display()
    );
    make_program(&slow, body);
    stage.spawn("first", &waiting("first")).await;
    let mut order = stage.order("late", &waiting("late"));
    order["launcher"] = json!(slow);
    let request = {
        let client = stage.forge.client().clone();
        tokio::spawn(async move { client.post::<Value>("/api/workers", &order).await.is_ok() })
    };
    stage.pid("called").await;
    stage.forge.crash();
    let _ = request.await;
    stage.forge.up().await;
    let waits = stage.forge.get("/api/workers/late").await.data();
    assert_eq!((words(&waits).0, stage.sessions()), ("starting", vec!["forge-worker-first".to_owned()]));
    std::fs::write(&gate, "").unwrap();
    stage.until("late", "its session is taken over", |a| words(a) == ("running", "healthy")).await;
    let late = stage.pid("late").await;
    assert_eq!(stage.sessions(), ["forge-worker-first", "forge-worker-late"]);
    stage.act("late", "kill").await;
    assert!(!is_alive(late) && stage.sessions() == ["forge-worker-first"]);
}

#[tokio::test]
async fn a_session_that_is_there_is_never_overwritten_and_a_killed_tmux_is_a_death_of_all() {
    let stage = Stage::set(json!({})).await;
    stage.tmux(&["new-session", "-d", "-s", "forge-worker-a", "sleep 600"]);
    let pane = stage.tmux(&["list-panes", "-t", "=forge-worker-a:", "-F", "#{pane_pid}"]);
    let refused = stage.forge.post("/api/workers", &stage.order("a", &waiting("a"))).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert_eq!(stage.tmux(&["list-panes", "-t", "=forge-worker-a:", "-F", "#{pane_pid}"]), pane);

    for id in ["b", "c"] {
        stage.spawn(id, &waiting(id)).await;
        stage.pid(id).await;
    }
    stage.tmux(&["kill-server"]);
    for id in ["b", "c"] {
        // A hang-up ends agents; nobody asked Forge for it, so it may look like a stop by hand or a crash, never well.
        stage
            .until(id, "the end is seen", |worker| {
                worker["has_session"] == false && worker["phase"] != "running"
            })
            .await;
    }
}

#[tokio::test]
async fn a_worker_that_grows_beyond_its_limit_is_restarted_and_ended_in_the_end() {
    let rules =
        json!({"memory_policy": "auto", "memory_kill_mb": 0, "pause_secs": 0, "max_restart_attempts": 1});
    let stage = Stage::set(json!({"health": {"check_interval_secs": 1}, "recovery": rules})).await;
    stage.spawn("a", &waiting("pid")).await;
    let first = stage.pid("pid").await;
    let lost = stage.until("a", "it is given up", |a| a["phase"] == "failed").await;
    assert_eq!(lost["restarts"].as_array().unwrap().len(), 1, "{lost:#}");
    assert!(text(&lost["note"]).contains("more than the 0 MB of fleet.recovery.memory_kill_mb"), "{lost:#}");
    stage.until("a", "its session is ended", |a| a["has_session"] == false).await;
    assert!(!is_alive(first));
    let alerts = stage.alerts().await;
    for kind in ["memory_high", "recovery_exhausted", "auto_restart"] {
        assert!(alerts.contains(&(kind.to_owned(), "a".to_owned())), "{alerts:?}");
    }
}

#[tokio::test]
async fn a_worker_that_is_silent_over_its_task_is_interrupted_and_then_restarted() {
    let rules = json!({"stuck_task_policy": "auto", "stuck_after_mins": 0, "pause_secs": 0});
    let stage = Stage::set(json!({"health": {"check_interval_secs": 1}, "recovery": rules})).await;
    let agent = "trap 'echo $$ >interrupted' INT; echo $$ >pid; while :; do sleep 0.1; done";
    let worker = stage.spawn("a", agent).await;
    let first = stage.pid("pid").await;
    stage.until("a", "its file is read", |a| a["status"]["status"] == "idle").await;
    assert_eq!(stage.alerts().await, [], "who has no task may be silent");
    let body = json!({"worker_id": "a", "status": "active", "current_task": "fg-1: Title",
        "last_update": worker["started_at"]});
    std::fs::write(stage.forge.home().join("status/a.json"), body.to_string()).unwrap();
    assert_eq!(stage.pid("interrupted").await, first);
    let back = |a: &Value| a["restarts"][0].is_string() && words(a) == ("running", "healthy");
    let back = stage.until("a", "it is started again", back).await;
    assert_eq!(back["restarts"].as_array().unwrap().len(), 1);
    assert!(!is_alive(first));
    let alerts = stage.forge.get("/api/alerts").await.data();
    let stuck = alerts.as_array().unwrap().iter().find(|alert| alert["kind"] == "task_stuck").unwrap();
    assert_eq!(stuck["severity"], "critical");
    assert!(text(&stuck["message"]).ends_with("it is started again"), "{stuck:#}");
}
