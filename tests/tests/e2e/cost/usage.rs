//! What agents use and cost: told while they run, counted once, kept below budgets.

use std::path::PathBuf;

use forge_tests::{TestForge, await_file, eventually, text};
use serde_json::{Value, json};

/// Works in turns, each when it is let go, and tells the total of a dollar per turn after each.
const TURNS: &str = r#"#!/bin/sh
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"some-model"}'
n=0
while [ $n -lt 20 ]; do
  n=$((n + 1))
  while [ ! -e ../go-$n ] && [ ! -e ../go-all ]; do sleep 0.02; done
  echo "turn $n" >> work.txt
  echo '{"type":"assistant","message":{"id":"m'$n'","role":"assistant","content":[{"type":"text","text":"turn '$n'"}]}}'
  echo '{"type":"result","subtype":"success","is_error":false,"result":"turn '$n'","session_id":"s-1","total_cost_usd":'$n',
    "modelUsage":{"some-model":{"inputTokens":'$((n * 100))',"outputTokens":'$((n * 10))',"costUSD":'$n'}}}' | tr -d '\n'
  echo
  [ -e ../last-$n ] && exit 0
done
sleep 600
"#;

/// Tells what its calls use as they happen and would go on for ever; leaves when it is asked to.
const CALLS: &str = r#"#!/bin/sh
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"MODEL"}'
echo "half done" > work.txt
for n in 1 2 3 4; do
  echo '{"type":"stream_event","event":{"type":"message_start","message":{"id":"m'$n'","model":"MODEL","usage":{"input_tokens":100000}}}}'
  echo '{"type":"stream_event","event":{"type":"message_stop"}}'
done
while read -r line; do
  case "$line" in *interrupt*) echo asked > ../asked; exit 0 ;; esac
done
"#;

/// A server on which Claude is the given script.
async fn forge_with(script: &str, settings: &Value) -> (TestForge, String) {
    let forge = TestForge::with_settings(&[], &[], settings).await;
    let agent = forge.dir().join("agent");
    std::fs::write(&agent, script).unwrap();
    let command = format!("sh {}", agent.display());
    forge.use_as_claude(&command).await;
    let (project, _) = forge.project("repo").await;
    (forge, project)
}

struct Started {
    attempt: String,
    run: String,
    place: PathBuf,
}

impl Started {
    /// Lets the agent do a turn, or end after it.
    fn allow(&self, name: &str) {
        std::fs::write(self.place.with_file_name(name), "").unwrap();
    }

    fn work(&self) -> String {
        std::fs::read_to_string(self.place.join("work.txt")).unwrap_or_default()
    }
}

async fn start(forge: &TestForge, project: &str, more: Value) -> Started {
    let task = forge.task(project, "t").agent("CLAUDE_CODE");
    let more = more.as_object().unwrap().iter();
    let task = more.fold(task, |task, (field, value)| task.with(field, value.clone())).start().await;
    let attempt = task.attempt();
    let run = text(&forge.runs(&attempt).await[0]["id"]);
    Started { attempt, run, place: text(&task["task_attempt"]["worktree_path"]).into() }
}

async fn until_cost(forge: &TestForge, usd: f64) -> Value {
    let holds = |data: &Value| data["total"]["cost_usd"] == json!(usd);
    forge.until("/api/usage", "the cost is told", holds).await
}

#[tokio::test]
async fn use_is_told_while_the_agent_works_and_counted_once_over_a_crash() {
    let (mut forge, project) = forge_with(TURNS, &Value::Null).await;
    let started = start(&forge, &project, json!({})).await;
    started.allow("go-1");
    until_cost(&forge, 1.0).await;
    started.allow("go-2");
    let told = until_cost(&forge, 2.0).await;
    assert_eq!(told["total"]["input_tokens"], 200, "{told:#}");
    forge.crash();
    started.allow("go-3");
    started.allow("last-4");
    forge.up().await;
    until_cost(&forge, 3.0).await;
    forge.crash();
    started.allow("go-4");
    eventually("the agent has ended", || forge.keeper_state(&started.run)["phase"] == "ended").await;
    forge.up().await;
    let runs = forge.settled(&started.attempt).await;
    assert_eq!((runs.len(), &runs[0]["status"]), (1, &json!("completed")));

    let usage = forge.get("/api/usage").await.data();
    let expected = json!({"model": "some-model", "input_tokens": 400, "output_tokens": 40, "cache_read_tokens": 0,
        "cache_write_tokens": 0, "reasoning_tokens": 0, "cost_usd": 4.0, "unpriced_tokens": 0, "runs": 1});
    assert_eq!(usage["groups"], json!([expected]));
    assert!(text(&usage["prices_as_of"]).starts_with("20"));
    let attempt = forge.get(&format!("/api/task-attempts/{}", started.attempt)).await.data();
    assert_eq!((&attempt["input_tokens"], &attempt["output_tokens"]), (&json!(400), &json!(40)));
    assert_eq!(attempt["cost_usd"], 4.0);
}

#[tokio::test]
async fn use_is_grouped_and_filtered_and_wrong_questions_are_named() {
    let (forge, project) = forge_with(TURNS, &Value::Null).await;
    let first = start(&forge, &project, json!({})).await;
    first.allow("go-all");
    first.allow("last-2");
    forge.settled(&first.attempt).await;
    let follow_up = format!("/api/task-attempts/{}/follow-up", first.attempt);
    forge.post(&follow_up, &json!({"prompt": "more"})).await.data();
    forge.settled(&first.attempt).await;
    let (other, _) = forge.project("other").await;
    let second = start(&forge, &other, json!({})).await;
    forge.settled(&second.attempt).await;

    let ask = async |query: &str| forge.get(&format!("/api/usage?{query}")).await.data();
    let by_project = ask("group_by=project,executor,day").await;
    let mut costs: Vec<(String, f64, i64)> = Vec::new();
    for group in by_project["groups"].as_array().unwrap() {
        assert_eq!((&group["executor"], text(&group["day"]).len()), (&json!("CLAUDE_CODE"), 10));
        let (cost, runs) = (group["cost_usd"].as_f64().unwrap(), group["runs"].as_i64().unwrap());
        costs.push((text(&group["project_id"]), cost, runs));
    }
    costs.sort_by(|a, b| b.1.total_cmp(&a.1));
    assert_eq!(costs, [(project.clone(), 4.0, 2), (other.clone(), 2.0, 1)]);
    assert_eq!((&by_project["total"]["cost_usd"], &by_project["total"]["runs"]), (&json!(6.0), &json!(3)));
    assert_eq!(ask(&format!("project_id={other}")).await["total"]["cost_usd"], 2.0);
    assert_eq!(ask(&format!("task_attempt_id={}", first.attempt)).await["total"]["cost_usd"], 4.0);
    assert_eq!(ask("to=2020-01-01").await["groups"], json!([]));
    let attempt = forge.get(&format!("/api/task-attempts/{}", first.attempt)).await.data();
    assert_eq!(attempt["input_tokens"], 400, "the attempt is the sum of its runs");

    for (query, status, words) in [
        ("group_by=model,colour", 400, ["group_by", "'colour'"]),
        ("group_by=", 400, ["group_by", "executor"]),
        ("from=yesterday", 400, ["from", "'yesterday'"]),
        ("project_id=x", 400, ["project_id", "x"]),
        ("from=2026-02-02&to=2026-02-01", 422, ["from", "2026-02-02"]),
    ] {
        let answer = forge.get(&format!("/api/usage?{query}")).await;
        assert_eq!(answer.status, status, "{query}: {}", answer.text);
        assert!(words.iter().all(|word| answer.message().contains(word)), "{}", answer.text);
    }
}

#[tokio::test]
async fn an_agent_is_stopped_when_its_attempt_reaches_its_budget_and_started_again_when_it_is_raised() {
    let (forge, project) = forge_with(TURNS, &Value::Null).await;
    let started = start(&forge, &project, json!({"max_cost_usd": 2.5})).await;
    for turn in ["go-1", "go-2", "go-3"] {
        started.allow(turn);
    }
    until_cost(&forge, 3.0).await;
    // It begins a turn too many.
    started.allow("go-4");
    let runs = forge.settled(&started.attempt).await;
    assert_eq!(runs[0]["status"], "killed");
    let log = forge.raw_log(&started.run).await;
    assert!(log.contains("stopped: the budget of $2.50 of this attempt is reached ($3.00 spent)"), "{log}");
    let work = started.work();
    assert!(work.lines().count() >= 3 && work.lines().count() <= 4, "at most one turn more: {work}");
    let task = forge.get(&format!("/api/task-attempts/{}", started.attempt)).await.data();
    assert_eq!((&task["max_cost_usd"], &task["task"]["status"]), (&json!(2.5), &json!("inreview")));

    let follow_up = format!("/api/task-attempts/{}/follow-up", started.attempt);
    let refused = forge.post(&follow_up, &json!({"prompt": "more"})).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    for word in ["max_cost_usd", "$2.50", "/budget"] {
        assert!(refused.message().contains(word), "{}", refused.text);
    }
    assert_eq!(forge.runs(&started.attempt).await.len(), 1, "nothing was created");

    let draft = format!("/api/task-attempts/{}/draft", started.attempt);
    forge.put(&format!("{draft}?type=follow_up"), &json!({"prompt": "later"})).await.data();
    let refused = forge.post(&format!("{draft}/queue?type=follow_up"), &json!({"queued": true})).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    let kept = forge.get(&format!("{draft}?type=follow_up")).await.data();
    assert_eq!((&kept["prompt"], &kept["queued"]), (&json!("later"), &json!(false)));
    forge.delete(&format!("{draft}?type=follow_up")).await.data();

    let budget = format!("/api/task-attempts/{}/budget", started.attempt);
    assert_eq!(forge.put(&budget, &json!({"max_cost_usd": 0})).await.status, 422);
    assert_eq!(forge.put(&budget, &json!({})).await.status, 422, "the limit is not removed by mistake");
    let raised = forge.put(&budget, &json!({"max_cost_usd": 100})).await.data();
    assert_eq!(raised["max_cost_usd"], 100.0);
    started.allow("last-1");
    forge.post(&follow_up, &json!({"prompt": "more"})).await.data();
    let runs = forge.settled(&started.attempt).await;
    assert_eq!((runs.len(), &runs[1]["status"]), (2, &json!("completed")));
    forge.put(&budget, &json!({"max_cost_usd": null})).await.data();
    let removed = forge.get(&format!("/api/task-attempts/{}", started.attempt)).await.data();
    assert_eq!(removed.get("max_cost_usd"), None);
}

#[tokio::test]
async fn a_call_that_reaches_the_budget_interrupts_the_turn() {
    // 100,000 tokens of input cost half a dollar.
    let script = CALLS.replace("MODEL", "claude-opus-4-8");
    let (forge, project) = forge_with(&script, &Value::Null).await;
    let started = start(&forge, &project, json!({"max_cost_usd": 1.5})).await;
    let runs = forge.settled(&started.attempt).await;
    assert_eq!(runs[0]["status"], "killed");
    let log = forge.raw_log(&started.run).await;
    assert!(log.contains("the budget of $1.50 of this attempt is reached"), "{log}");
    assert!(started.place.with_file_name("asked").exists(), "it was asked in its own protocol first");
    assert_eq!(started.work(), "half done\n", "the work stays");
    let usage = forge.get("/api/usage").await.data();
    assert_eq!(
        (&usage["total"]["input_tokens"], &usage["total"]["cost_usd"]),
        (&json!(400_000), &json!(2.0))
    );
}

#[tokio::test]
async fn a_last_turn_that_reaches_the_budget_is_completed_and_its_work_committed() {
    let (forge, project) = forge_with(TURNS, &Value::Null).await;
    let started = start(&forge, &project, json!({"max_cost_usd": 2})).await;
    started.allow("last-2");
    started.allow("go-all");
    let runs = forge.settled(&started.attempt).await;
    assert_eq!(runs[0]["status"], "completed", "{}", forge.log());
    assert_ne!(runs[0]["after_head_commit"], runs[0]["before_head_commit"]);
}

#[tokio::test]
async fn a_model_without_a_price_is_told_and_costs_nothing() {
    let script = CALLS.replace("MODEL", "mystery-1");
    let (forge, project) = forge_with(&script, &Value::Null).await;
    let started = start(&forge, &project, json!({"max_cost_usd": 0.01})).await;
    let told = |data: &Value| data["total"]["unpriced_tokens"] == 400_000;
    let usage = forge.until("/api/usage", "the tokens are told", told).await;
    assert_eq!(usage["total"]["cost_usd"], Value::Null);
    forge.post(&format!("/api/task-attempts/{}/stop", started.attempt), &json!({})).await.data();
    let log = forge.raw_log(&started.run).await;
    assert_eq!(log.matches("budget not enforced: the price of the model 'mystery-1'").count(), 1, "{log}");
}

#[tokio::test]
async fn prices_of_the_user_count() {
    let script = CALLS.replace("MODEL", "mystery-1");
    let (mut forge, project) = forge_with(&script, &Value::Null).await;
    forge.terminate().await;
    let prices = json!({"as_of": "2999-01-01", "models": {"mystery": {"input": 1, "output": 1}, "mystery-1": {"input": 10, "output": 1}}});
    std::fs::write(forge.home().join("prices.json"), prices.to_string()).unwrap();
    forge.up().await;
    start(&forge, &project, json!({})).await;
    assert_eq!(until_cost(&forge, 4.0).await["prices_as_of"], "2999-01-01");
    forge.terminate().await;
    std::fs::write(forge.home().join("prices.json"), r#"{"models": {"m": {"input": "much"}}}"#).unwrap();
    forge.up().await;
    assert!(forge.log().contains("models.m.input: \"much\" is not allowed"), "{}", forge.log());
}

#[tokio::test]
async fn a_project_and_a_day_have_budgets_too() {
    let (forge, project) = forge_with(TURNS, &Value::Null).await;
    let wrong = forge.put(&format!("/api/projects/{project}"), &json!({"max_cost_usd": -3})).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.message().contains("max_cost_usd") && wrong.message().contains("-3"), "{}", wrong.text);
    let limited = forge.put(&format!("/api/projects/{project}"), &json!({"max_cost_usd": 3})).await.data();
    assert_eq!(limited["max_cost_usd"], 3.0);
    let first = start(&forge, &project, json!({})).await;
    first.allow("go-1");
    first.allow("go-2");
    until_cost(&forge, 2.0).await;
    let second = start(&forge, &project, json!({})).await;
    // The turns of all are in one folder: the second one does two, and reaches with the first what both may cost.
    let runs = forge.settled(&second.attempt).await;
    assert_eq!(runs[0]["status"], "killed");
    let log = forge.raw_log(&second.run).await;
    assert!(log.contains("stopped: the budget of $3.00 of this project is reached"), "{log}");

    let ask = async |project: &str| forge.task(project, "t").agent("CLAUDE_CODE").ask().await;
    let refused = ask(&project).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.message().contains(&format!("PUT /api/projects/{project}")), "{}", refused.text);
    let tasks = forge.get(&format!("/api/tasks?project_id={project}")).await.data();
    assert_eq!(tasks.as_array().unwrap().len(), 2, "nothing was created");

    forge.put(&format!("/api/projects/{project}"), &json!({"max_cost_usd": null})).await.data();
    assert_eq!(forge.put("/api/config", &json!({"max_cost_usd_per_day": 0})).await.status, 422);
    let settings = forge.put("/api/config", &json!({"max_cost_usd_per_day": 0.5})).await.data();
    assert_eq!(settings["max_cost_usd_per_day"], 0.5);
    let (other, _) = forge.project("other").await;
    let refused = ask(&other).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.message().contains("max_cost_usd_per_day"), "{}", refused.text);
    let errand = json!({"project_id": other, "prompt": "look", "executor_profile_id": "CLAUDE_CODE"});
    assert_eq!(forge.post("/api/execution-runs", &errand).await.status, 409);
    forge.put("/api/config", &json!({"max_cost_usd_per_day": null})).await.data();
    assert_eq!(ask(&other).await.status, 200);
}

#[tokio::test]
async fn what_waits_behind_a_run_over_its_budget_is_not_started() {
    let (forge, project) = forge_with(TURNS, &Value::Null).await;
    forge
        .put(&format!("/api/projects/{project}"), &json!({"setup_script": await_file("../ready")}))
        .await
        .data();
    let first = start(&forge, &project, json!({})).await;
    let follow_up = format!("/api/task-attempts/{}/follow-up", first.attempt);
    forge.post(&follow_up, &json!({"prompt": "more"})).await.data();
    let budget = format!("/api/task-attempts/{}/budget", first.attempt);
    forge.put(&budget, &json!({"max_cost_usd": 0.5})).await.data();
    first.allow("go-1");
    first.allow("ready");
    let path = format!("/api/execution-processes?task_attempt_id={}", first.attempt);
    let all = |runs: &Value| runs.as_array().is_some_and(|runs| runs.len() == 3);
    forge.until(&path, "the agent runs", all).await;
    let runs = forge.settled(&first.attempt).await;
    let agents: Vec<&Value> = runs.iter().filter(|run| run["run_reason"] == "codingagent").collect();
    assert_eq!(agents.len(), 2, "{runs:#?}");
    let (mut killed, mut failed) = (0, 0);
    for run in agents {
        let log = forge.raw_log(&text(&run["id"])).await;
        match run["status"].as_str() {
            Some("killed") => killed += usize::from(log.contains("stopped: the budget of $0.50")),
            Some("failed") => failed += usize::from(log.contains("max_cost_usd: the budget of $0.50")),
            other => panic!("{other:?}: {log}"),
        }
    }
    assert_eq!((killed, failed), (1, 1), "{runs:#?}");
}
