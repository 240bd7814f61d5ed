//! What workers use is counted from what they write: to the token, once, and beside what runs use.

use std::io::Write;
use std::path::{Path, PathBuf};

use forge_tests::text;
use serde_json::{Value, json};

use crate::workers::Stage;

/// A conversation of Claude Code: a message in two lines, a second message, and their sum.
const RECORDED: &str = include_str!("../../../../crates/run/tests/data/claude/fresh.jsonl");

/// A message of a session without a time of its own.
fn message(session: &str, id: &str, model: &str, input: i64, output: i64) -> String {
    let usage = json!({"input_tokens": input, "output_tokens": output, "cache_read_input_tokens": 10});
    let message = json!({"id": id, "model": model, "usage": usage});
    format!("{}\n", json!({"type": "assistant", "session_id": session, "message": message}))
}

/// The sum of a session, by model: input tokens and dollars.
fn result(session: &str, models: &[(&str, i64, f64)]) -> String {
    let told = |(model, input, cost): &(&str, i64, f64)| {
        ((*model).to_owned(), json!({"inputTokens": input, "outputTokens": 1, "costUSD": cost}))
    };
    let models: serde_json::Map<String, Value> = models.iter().map(told).collect();
    let usage = json!({"input_tokens": 1});
    let sum = json!({"type": "result", "session_id": session, "uuid": format!("of-{session}"), "usage": usage,
        "modelUsage": models});
    format!("{sum}\n")
}

fn append(path: &Path, words: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(words.as_bytes()).unwrap();
}

/// Looked at each second.
async fn stage(settings: &Value) -> Stage {
    let stage = Stage::set(json!({"health": {"check_interval_secs": 1}})).await;
    stage.forge.put("/api/config", settings).await.data();
    stage
}

fn log_of(stage: &Stage, worker: &str) -> PathBuf {
    stage.forge.home().join(format!("logs/{worker}.log"))
}

/// Input, output and cached tokens, and millionths of a dollar.
fn sum(report: &Value) -> (i64, i64, i64, i64) {
    let total = &report["total"];
    let count = |key: &str| total[key].as_i64().unwrap_or(-1);
    let cost = (total["cost_usd"].as_f64().unwrap_or(0.0) * 1e6).round() as i64;
    (count("input_tokens"), count("output_tokens"), count("cache_read_tokens"), cost)
}

async fn until_used(stage: &Stage, input: i64) -> Value {
    let path = "/api/usage?group_by=worker";
    stage.forge.until(path, "the use is told", |report| sum(report).0 == input).await
}

#[tokio::test]
async fn a_log_is_counted_to_the_token_and_once_whatever_happens_to_it_and_to_the_server() {
    let mut stage = stage(&json!({})).await;
    let log = log_of(&stage, "a");
    // The worker writes up to the middle of the sum, and the rest while no server runs.
    let (begin, rest) = RECORDED.split_at(RECORDED.len() - 200);
    let (begun, ended) = (stage.forge.dir().join("begun"), stage.forge.dir().join("ended"));
    std::fs::write(&begun, begin).unwrap();
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    let (log_path, gate) = (log.display(), ended.display());
    let script = format!(
        "cat begun >>{log_path}; until [ -e {gate} ]; do sleep 0.05; done; cat {gate} >>{log_path}; exec sleep 600"
    );
    stage.spawn("a", &script).await;
    let report = until_used(&stage, 468).await;
    assert_eq!(
        (sum(&report).1, sum(&report).2),
        (2, 2000),
        "each message once, by its last line: {report:#}"
    );

    stage.forge.crash();
    std::fs::write(stage.forge.dir().join("half"), rest).unwrap();
    std::fs::rename(stage.forge.dir().join("half"), &ended).unwrap();
    stage.forge.up().await;
    let path = "/api/usage?group_by=worker";
    let report = stage.forge.until(path, "the sum counts", |report| sum(report).1 == 112).await;
    assert_eq!(sum(&report), (468, 112, 2000, 6140));
    assert_eq!((&report["groups"][0]["worker_id"], &report["total"]["runs"]), (&json!("a"), &json!(1)));

    // Moved aside with words that nobody has read yet, and written anew with all of it once more.
    append(&log, &message("s-2", "m1", "claude-opus-4-8", 100, 5));
    std::fs::rename(&log, log.with_extension("log.1")).unwrap();
    append(&log, RECORDED);
    append(&log, &result("s-2", &[("claude-opus-4-8", 90, 0.5), ("claude-haiku-4-5", 7, 0.25)]));
    let report = until_used(&stage, 468 + 97).await;
    assert_eq!(sum(&report), (565, 114, 2000, 756_140));
    let models = stage.forge.get("/api/usage?group_by=model").await.data();
    let names: Vec<_> =
        models["groups"].as_array().unwrap().iter().map(|group| text(&group["model"])).collect();
    assert_eq!(names, ["claude-haiku-4-5", "claude-opus-4-8", "claude-opus-4-8[1m]"]);

    // Cut off and filled with what is known; the last line tells that it was read.
    std::fs::write(&log, "").unwrap();
    append(&log, RECORDED);
    append(&log, &message("s-3", "m1", "claude-opus-4-8", 1000, 0));
    let report = until_used(&stage, 1565).await;
    assert_eq!(sum(&report).1, 114);

    let (out, err, code) = stage.run(&["usage", "workers", "--json"]).await;
    assert_eq!(code, 0, "{err}");
    let workers: Value = serde_json::from_str(&out).unwrap();
    let worker = &workers[0];
    assert_eq!((&worker["worker_id"], &worker["call_count"]), (&json!("a"), &json!(5)), "{workers:#}");
    assert_eq!(worker["total_tokens"], 1565 + 114 + 2010);
    assert!(worker["efficiency_score"].is_f64() && worker["tier"] == "standard", "{workers:#}");
    let (out, err, _) = stage.run(&["usage", "models"]).await;
    assert!(out.contains("claude-haiku-4-5") && out.contains("FROM CACHE"), "{out}{err}");
    let (out, err, _) = stage.run(&["usage", "--by", "worker"]).await;
    assert!(out.contains("total") && err.contains("this month:"), "{out}{err}");
    let told = stage.forge.tool("get_model_performance", json!({})).await;
    assert_eq!(told["models"].as_array().unwrap().len(), 3, "{told:#}");

    stage.act("a", "kill").await;
    assert_eq!(stage.forge.delete("/api/workers/a").await.status, 200);
    assert_eq!(sum(&stage.forge.get("/api/usage").await.data()), sum(&report), "money is history");
}

#[tokio::test]
async fn a_conversation_without_a_log_is_read_where_the_agent_keeps_it() {
    let stage = stage(&json!({})).await;
    let workspace = stage.forge.dir().canonicalize().unwrap();
    let claude = stage.forge.dir().join("claude");
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let folder: String = workspace.to_string_lossy().chars().map(plain).collect();
    let line = |session: &str, at: &str, input: i64| {
        let message = json!({"id": "m1", "model": "claude-opus-4-8", "usage": {"input_tokens": input}});
        let line = json!({"type": "assistant", "sessionId": session, "timestamp": at, "cwd": workspace,
            "message": message});
        (claude.join(format!("projects/{folder}/{session}.jsonl")), format!("{line}\n"))
    };
    let (path, words) = line("before", "2026-01-01T00:00:00Z", 1);
    append(&path, &words);
    let mut order = stage.order("a", "exec sleep 600");
    order["env"]["CLAUDE_CONFIG_DIR"] = json!(claude);
    let worker = stage.forge.post("/api/workers", &order).await.data();
    let now = text(&worker["updated_at"]);
    // What the log tells is not told again by the transcript.
    append(&log_of(&stage, "a"), &message("logged", "m1", "claude-opus-4-8", 40, 0));
    until_used(&stage, 40).await;
    for (session, input) in [("logged", 900), ("talk", 2)] {
        let (path, words) = line(session, &now, input);
        append(&path, &words);
    }
    let report = until_used(&stage, 42).await;
    assert_eq!(report["groups"][0]["worker_id"], "a");
}

#[tokio::test]
async fn a_month_is_warned_of_once_per_level_and_then_no_worker_is_started() {
    let stage = stage(&json!({"max_cost_usd_per_month": 1})).await;
    let log = log_of(&stage, "a");
    stage.spawn("a", "exec sleep 600").await;
    let spend = |session: &str, cost: f64| append(&log, &result(session, &[("some-model", 100, cost)]));
    let alert = async |what: &str, severity: &str| {
        let holds = |alerts: &Value| alerts[0]["severity"] == severity && alerts[0]["resolved_at"].is_null();
        stage.forge.until("/api/alerts", what, holds).await
    };
    spend("s-1", 0.5);
    until_used(&stage, 100).await;
    spend("s-2", 0.25);
    let alerts = alert("people are warned", "warning").await;
    assert_eq!((&alerts[0]["kind"], &alerts[0]["subject"]), (&json!("budget"), &json!("month")));
    assert!(text(&alerts[0]["message"]).starts_with("75 % of the $1.00"), "{alerts:#}");
    spend("s-3", 0.05);
    until_used(&stage, 300).await;
    spend("s-4", 0.25);
    let alerts = alert("it is urgent", "critical").await;
    assert_eq!((alerts.as_array().unwrap().len(), &alerts[0]["count"]), (1, &json!(2)), "{alerts:#}");

    let refused = stage.forge.post("/api/workers", &stage.order("b", "exec sleep 600")).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    for words in ["max_cost_usd_per_month", "$1.00", "$1.05 spent", "fleet.stop_at_budget"] {
        assert!(refused.message().contains(words), "{}", refused.text);
    }
    let report = stage.forge.get("/api/usage").await.data();
    let month = &report["month"];
    assert_eq!((&month["spent_usd"], &month["limit_usd"]), (&json!(1.05), &json!(1.0)), "{month:#}");
    assert!(month["projected_usd"].as_f64() >= month["spent_usd"].as_f64(), "{month:#}");
    stage.forge.put("/api/config", &json!({"fleet": {"stop_at_budget": false}})).await.data();
    stage.spawn("b", "exec sleep 600").await;

    stage.forge.put("/api/config", &json!({"max_cost_usd_per_month": 100})).await.data();
    let over = |alerts: &Value| alerts[0]["resolved_at"].is_string();
    stage.forge.until("/api/alerts", "nothing is open", over).await;
    let refused = stage.forge.put("/api/config", &json!({"budget_warning_percent": 0})).await;
    assert!(refused.message().contains("budget_warning_percent: 0 is not allowed"), "{}", refused.text);
}
