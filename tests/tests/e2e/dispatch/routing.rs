//! What decides which agent gets a bead, whether it is started at all, and what people are told of it.

use forge_tests::{TestForge, err, out, output, text};
use serde_json::{Value, json};

use crate::beads::{BARE, project};

async fn configure(forge: &TestForge, fleet: Value) {
    let answer = forge.put("/api/config", &json!({ "fleet": fleet })).await;
    assert!(answer.status < 300, "{answer:?}");
}

async fn make_bead(forge: &TestForge, project: &str, title: &str, priority: u8) -> String {
    let body = json!({"project_id": project, "title": title, "description": "write done.txt x\nsay done", "priority": priority});
    text(&forge.post("/api/beads", &body).await.data()["id"])
}

async fn dispatch(forge: &TestForge, project: &str, change: Value) {
    forge.put(&format!("/api/projects/{project}/dispatch"), &change).await.data();
}

async fn would_start(forge: &TestForge, project: &str) -> Value {
    forge.post("/api/dispatch", &json!({"project_id": project, "dry_run": true})).await.data()
}

/// Waits until an alert of a kind is open, or no longer.
async fn alert(forge: &TestForge, kind: &str, is_open: bool) -> Option<Value> {
    let of_kind = |all: &Value| {
        let mut open = all.as_array().unwrap().iter().filter(|one| one["resolved_at"].is_null());
        open.find(|one| one["kind"] == kind).cloned()
    };
    let what = format!("{kind} is {}", if is_open { "open" } else { "resolved" });
    let all = forge.until("/api/alerts", &what, |all| of_kind(all).is_some() == is_open).await;
    of_kind(&all)
}

#[tokio::test]
async fn a_model_that_its_provider_does_not_serve_is_passed_over_and_that_is_told() {
    let forge = TestForge::start().await;
    forge.use_fake_claude().await;
    configure(&forge, json!({"models": {"premium": ["SCRIPTED"], "standard": ["CLAUDE_CODE"]}})).await;
    let (id, repo) = project(&forge).await;
    let started = forge.start_with(&id, "CLAUDE_CODE", "t", "FAKE: id=l limit=3600").await;
    let runs = format!("/api/execution-processes?task_attempt_id={}", started.attempt());
    forge.until(&runs, "it is parked", |runs| runs[0]["parked_until"].is_string()).await;

    let bead = make_bead(&forge, &id, "Goes elsewhere", 2).await;
    dispatch(&forge, &id, json!({"enabled": true})).await;
    let explain = format!("/api/routing/explain?bead={bead}&project_id={id}");
    let why = forge.until(&explain, "it ended", |all| all[0]["outcome"] == "closed").await;
    assert_eq!((&why[0]["wanted"], &why[0]["decision"]["tier"]), (&json!("standard"), &json!("premium")));
    assert_eq!(why[0]["decision"]["reason"], "fallback");
    assert_eq!(why[0]["passed_over"][0]["model"], "CLAUDE_CODE");
    let mut told = forge.command();
    told.args(["route", "explain", &bead]).current_dir(&repo);
    let told = out(&output(told).await);
    assert!(told.contains("CLAUDE_CODE (standard): its provider does not serve it until"), "{told}");
    assert!(told.contains("wanted") && told.contains("expected"), "{told}");
    assert_eq!(alert(&forge, "quota", true).await.unwrap()["subject"], "CLAUDE_CODE");

    dispatch(&forge, &id, json!({"enabled": false})).await;
    configure(&forge, json!({"fallback": "none"})).await;
    make_bead(&forge, &id, "Waits", 2).await;
    let report = would_start(&forge, &id).await;
    assert_eq!(report["started"], json!([]), "{report:#}");
    assert!(text(&report["waiting"][0]["reason"]).contains("CLAUDE_CODE (standard)"), "{report:#}");
    alert(&forge, "quota", false).await;
}

#[tokio::test]
async fn a_plan_that_is_used_up_is_not_used_and_one_that_ends_is_used_first() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    let model = |name: &str| json!({"executor": "SCRIPTED", "model": name});
    configure(&forge, json!({"models": {"standard": [model("first"), model("second")]}})).await;
    make_bead(&forge, &id, "Which one", 2).await;
    let plans = |usage: u32, renewal: &str| {
        let plan = json!({"provider": "x", "model": "second", "subscription_type": "fixed_quota",
            "monthly_tokens": 100, "current_usage": usage, "renewal_date": renewal});
        let text = json!({ "subscriptions": [plan] }).to_string();
        std::fs::write(forge.home().join("subscriptions.yaml"), text).unwrap();
    };
    let chosen = async || text(&would_start(&forge, &id).await["started"][0]["decision"]["model"]);
    assert_eq!(chosen().await, "first");
    let tomorrow = jiff::Zoned::now().date().tomorrow().unwrap().to_string();
    plans(10, &tomorrow);
    assert_eq!(chosen().await, "second", "what is left of it is lost tomorrow");
    plans(100, &tomorrow);
    configure(&forge, json!({"models": {"standard": [model("second")]}, "fallback": "none"})).await;
    let report = would_start(&forge, &id).await;
    assert!(text(&report["waiting"][0]["reason"]).contains("used up"), "{report:#}");
    dispatch(&forge, &id, json!({"enabled": true})).await;
    assert_eq!(alert(&forge, "quota", true).await.unwrap()["subject"], "second");
    plans(0, &tomorrow);
    dispatch(&forge, &id, json!({"enabled": true})).await;
    alert(&forge, "quota", false).await;
}

#[tokio::test]
async fn the_tier_of_a_priority_is_a_setting() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    make_bead(&forge, &id, "Urgent", 0).await;
    let one = json!(["SCRIPTED"]);
    configure(&forge, json!({"models": {"premium": one, "budget": one}})).await;
    let tier = async || text(&would_start(&forge, &id).await["started"][0]["decision"]["tier"]);
    assert_eq!(tier().await, "premium");
    configure(&forge, json!({"priority_tiers": {"P0": "budget"}})).await;
    assert_eq!(tier().await, "budget");
}

#[tokio::test]
async fn nothing_is_started_on_a_machine_without_room() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    make_bead(&forge, &id, "Waits for room", 2).await;
    let on = json!({"enabled": true, "executor_profile_id": "SCRIPTED"});
    configure(&forge, json!({"max_load_per_core": -1.0})).await;
    dispatch(&forge, &id, on.clone()).await;
    let waiting = would_start(&forge, &id).await;
    assert!(text(&waiting["waiting"][0]["reason"]).contains("fleet.max_load_per_core"), "{waiting:#}");
    configure(&forge, json!({"max_load_per_core": null, "min_free_disk_mb": 1_u64 << 40})).await;
    dispatch(&forge, &id, on.clone()).await;
    let told = alert(&forge, "disk_low", true).await.unwrap();
    assert!(text(&told["message"]).contains("fleet.min_free_disk_mb"), "{told:#}");
    let worker = json!({"id": "one", "launcher": "/bin/true", "model": "m", "workspace": repo});
    let refused = forge.post("/api/workers", &worker).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.body.to_string().contains("min_free_disk_mb"), "{refused:?}");
    configure(&forge, json!({"min_free_disk_mb": 1})).await;
    dispatch(&forge, &id, on).await;
    alert(&forge, "disk_low", false).await;
    let closed = format!("/api/beads?project_id={id}&status=closed");
    forge.until(&closed, "it was started", |all| all.as_array().unwrap().len() == 1).await;
}

#[tokio::test]
async fn people_are_told_of_an_empty_queue_and_of_one_that_is_stuck() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    dispatch(&forge, &id, json!({"enabled": true, "executor_profile_id": "SCRIPTED"})).await;
    let empty = alert(&forge, "queue_empty", true).await.unwrap();
    assert_eq!((&empty["severity"], &empty["count"]), (&json!("info"), &json!(1)));
    configure(&forge, json!({"max_failures": 1})).await;
    let body = json!({"project_id": id, "title": "Impossible", "description": "fail no house"});
    let bad = text(&forge.post("/api/beads", &body).await.data()["id"]);
    let body = json!({"project_id": id, "title": "After it", "description": "write after.txt x\nsay done", "depends_on": [bad]});
    let after = text(&forge.post("/api/beads", &body).await.data()["id"]);
    alert(&forge, "queue_empty", false).await;
    let stuck = alert(&forge, "bead_blocked", true).await.unwrap();
    let message = text(&stuck["message"]);
    assert!(message.contains(&format!("{bad} (parked)")) && message.contains(&after), "{message}");
    let close = json!({"project_id": id, "reason": "Done by hand"});
    forge.post(&format!("/api/beads/{bad}/close"), &close).await.data();
    alert(&forge, "bead_blocked", false).await;
    alert(&forge, "queue_empty", true).await;
    let circle = ["a", "b"].map(|name| {
        let other = if name == "a" { "b" } else { "a" };
        let edge = json!({"issue_id": format!("repo-{name}"), "depends_on_id": format!("repo-{other}"), "type": "blocks"});
        json!({"id": format!("repo-{name}"), "title": "t", "status": "open", "dependencies": [edge]}).to_string()
    });
    std::fs::write(repo.join(".beads/issues.jsonl"), format!("{}\n", circle.join("\n"))).unwrap();
    let stuck = text(&alert(&forge, "bead_blocked", true).await.unwrap()["message"]);
    assert!(stuck.contains("repo-a (waits for repo-b)"), "{stuck}");
    dispatch(&forge, &id, json!({"enabled": false})).await;
    alert(&forge, "bead_blocked", false).await;
}

#[tokio::test]
async fn people_are_told_of_a_bead_that_is_at_work_and_waits_for_another() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, _) = project(&forge).await;
    let [one, other] = [make_bead(&forge, &id, "One", 2).await, make_bead(&forge, &id, "Other", 2).await];
    for bead in [&one, &other] {
        forge.post(&format!("/api/beads/{bead}/claim"), &json!({"project_id": id})).await.data();
    }
    dispatch(&forge, &id, json!({"enabled": true, "executor_profile_id": "SCRIPTED"})).await;
    let wait = json!({"project_id": id, "depends_on": other});
    forge.post(&format!("/api/beads/{one}/dep"), &wait).await.data();
    let told = alert(&forge, "bead_blocked", true).await.unwrap();
    assert!(text(&told["subject"]).starts_with(&one) && text(&told["message"]).contains(&other), "{told:#}");
    let close = json!({"project_id": id, "reason": "Done by hand"});
    forge.post(&format!("/api/beads/{other}/close"), &close).await.data();
    alert(&forge, "bead_blocked", false).await;
}

#[tokio::test]
async fn a_folder_of_the_settings_has_beads_too_and_the_doctor_tells_of_all() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join(".beads")).unwrap();
    configure(&forge, json!({"workspaces": [other.path()]})).await;
    let beads = async |folder: &std::path::Path, args: &[&str]| {
        let mut command = forge.command();
        command.arg("beads").args(args).arg("--json").current_dir(folder);
        let done = output(command).await;
        assert!(done.status.success(), "{}", err(&done));
        serde_json::from_slice::<Value>(&done.stdout).unwrap()
    };
    beads(other.path(), &["create", "Without a project"]).await;
    let (id, repo) = project(&forge).await;
    make_bead(&forge, &id, "With one", 2).await;
    make_bead(&forge, &id, "And another", 2).await;
    assert_eq!(beads(other.path(), &["ready"]).await[0]["title"], "Without a project");
    assert_eq!(beads(&repo, &["ready"]).await.as_array().unwrap().len(), 2);
    let mut doctor = forge.command();
    doctor.args(["doctor", "--json"]);
    let told: Value = serde_json::from_slice(&output(doctor).await.stdout).unwrap();
    let checks = told["checks"].as_array().unwrap();
    let of_repo =
        checks.iter().find(|check| check["section"] == "beads").unwrap_or_else(|| panic!("{told:#}"));
    assert!(
        text(&of_repo["name"]).ends_with("repo") && text(&of_repo["detail"]).contains("2 ready"),
        "{of_repo:#}"
    );
    assert!(checks.iter().any(|check| check["name"] == "tmux"), "{told:#}");
}
