//! Fixed states for tests.

use forge_types::wire::{ChangedFile, ExecutionProcess};
use forge_types::{DiffChange, Millis, NormalizedEntry, RunId, UsageGroup};
use serde_json::{Value, json};

use crate::message::{Event, Loaded, LogNews, Message};
use crate::model::{Bead, List, Means, Usage};
use crate::state::State;
use crate::theme::Theme;
use crate::update::update;

/// 2026-11-16T12:00:00Z.
pub(crate) const NOW: Millis = Millis(1_794_830_400_000);
pub(crate) const RUNNING: &str = "a1111111-0000-4000-8000-000000000001";
pub(crate) const ASKING: &str = "a2222222-0000-4000-8000-000000000002";
pub(crate) const FAILED: &str = "a3333333-0000-4000-8000-000000000003";
pub(crate) const QUESTION: &str = "d1111111-0000-4000-8000-000000000001";
const PROJECT: &str = "b1111111-0000-4000-8000-000000000001";

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a fixture that fits")
}

fn ago(minutes: i64) -> Millis {
    Millis(NOW.0 - minutes * 60_000)
}

pub(crate) fn empty() -> State {
    let mut state = State::new("http://127.0.0.1:8887", Theme::Dark, NOW);
    update(&mut state, Message::Up);
    state
}

fn attempt(id: &str, status: &str, title: &str, minutes: i64, cost: Option<f64>) -> Value {
    json!({
        "id": id, "task_id": id.replacen('a', "c", 1), "container_ref": null,
        "branch": format!("forge/{}-{}", &id[..4], title.to_lowercase().replace(' ', "-")),
        "target_branch": "main", "executor": "CLAUDE_CODE:DEFAULT", "worktree_deleted": false,
        "setup_completed_at": null, "input_tokens": null, "output_tokens": null, "cache_creation_tokens": null,
        "cache_read_tokens": null, "created_at": ago(minutes), "updated_at": ago(minutes), "status": status,
        "project_id": PROJECT, "executor_profile_id": {"executor": "CLAUDE_CODE", "variant": null},
        "worktree_path": null, "cost_usd": cost, "task_title": title,
    })
}

fn task(id: &str, status: &str, title: &str, minutes: i64, tries: u32) -> Value {
    json!({
        "id": id, "project_id": PROJECT, "title": title, "description": null, "status": status,
        "parent_task_attempt": null, "dev_server_id": null, "created_at": ago(minutes), "updated_at": ago(minutes),
        "has_in_progress_attempt": status == "inprogress", "has_merged_attempt": false,
        "last_attempt_failed": false, "executor": "CLAUDE_CODE", "attempt_count": tries,
    })
}

pub(crate) fn worker(id: &str, phase: &str, level: &str, findings: &[&str], minutes: i64) -> Value {
    json!({
        "id": id, "session": format!("forge-{id}"), "model": "sonnet", "tier": "standard", "workspace": "/work/shop",
        "phase": phase, "config": {}, "process": null,
        "bead": {"workspace": "/work/shop", "id": "shop-12", "title": "Round prices to cents", "actor": "forge/x"},
        "health": {"level": level, "findings": findings, "memory_mb": 412}, "status": null, "restarts": [],
        "parked_until": null, "note": null, "created_at": ago(minutes), "updated_at": ago(minutes),
        "managed": true, "has_session": true, "attached": false, "socket": "/run/tmux", "log": "/logs/w",
    })
}

/// A session of somebody else.
fn stranger(id: &str) -> Value {
    let mut worker = worker(id, "running", "healthy", &[], 90);
    worker["bead"] = Value::Null;
    worker["session"] = json!(id);
    worker["managed"] = json!(false);
    worker
}

/// A bead with what its standing has besides the usual.
pub(crate) fn bead(mut bead: Value, standing: Value) -> Bead {
    bead["standing"] = json!({"ready": false, "blocked_by": [], "lease": null, "failures": 0, "parked": null, "task_id": null});
    for (key, value) in standing.as_object().expect("an object") {
        bead["standing"][key] = value.clone();
    }
    Bead::new(read(json!(PROJECT)), read(bead))
}

fn bug(id: &str, status: &str, priority: i64, title: &str, standing: Value) -> Bead {
    let facts = json!({
        "id": id, "title": title, "status": status, "priority": priority, "issue_type": "bug",
        "updated_at": ago(20),
    });
    bead(facts, standing)
}

/// One of each section, and one that the others wait for.
fn beads() -> Vec<Bead> {
    let described = json!({
        "id": "shop-14", "title": "Show prices with tax", "status": "open", "priority": 1, "updated_at": ago(90),
        "issue_type": "feature", "labels": ["prices"],
        "description": "Customers ask for it.\nSee the law of 2024.",
        "dependencies": [{"depends_on_id": "shop-12", "type": "blocks"}],
        "comments": [{"id": 1, "author": "ann", "text": "in all countries"}],
    });
    let lease = json!({"workspace": "/work/shop", "bead": "shop-12", "worker": "opus-1", "actor": "forge/x",
        "taken_at": ago(20)});
    vec![
        bug("shop-13", "open", 0, "Mend the till", json!({"ready": true})),
        bug("shop-15", "open", 3, "Sort the shelf", json!({"ready": true})),
        bug("shop-12", "in_progress", 1, "Round prices to cents", json!({"lease": lease})),
        bead(described, json!({"blocked_by": ["shop-12"]})),
        bug("shop-9", "open", 2, "Count the stock", json!({"failures": 3, "parked": "no key to the store"})),
        bug("shop-11", "closed", 2, "Paint the door", json!({})),
    ]
}

fn alert(id: &str, severity: &str, kind: &str, message: &str, resolved: bool) -> Value {
    json!({
        "id": id, "kind": kind, "severity": severity, "subject": "opus-1", "message": message, "count": 3,
        "first_at": ago(90), "last_at": ago(4), "acknowledged_at": null,
        "resolved_at": resolved.then(|| ago(2)),
    })
}

fn routing(id: &str, work: &str, outcome: Option<&str>) -> Value {
    json!({
        "id": id, "workspace": "/work/shop", "work": work, "title": "Round prices to cents",
        "score": {"priority": 30, "type": 20, "complexity": 8, "availability": 15}, "complexity": 40,
        "decision": {"chosen_worker": null, "model": "opus", "tier": "premium", "reason": "priority_match",
            "estimated_cost": 0.4},
        "worker": null, "outcome": outcome, "actual_cost": outcome.map(|_| 0.37), "decided_at": ago(30),
        "ended_at": null,
    })
}

fn spent(name: &str, value: &str, cost: f64) -> UsageGroup {
    let mut spent = json!({
        "runs": 4, "input_tokens": 12_400, "output_tokens": 3_100, "cache_read_tokens": 220_000,
        "cache_write_tokens": 9_000, "reasoning_tokens": 0, "cost_usd": cost, "unpriced_tokens": 0,
    });
    spent[name] = json!(value);
    read(spent)
}

/// A server with something of everything.
pub(crate) fn busy() -> State {
    let mut state = empty();
    let project = json!([{
        "id": PROJECT, "name": "shop", "git_repo_path": "/work/shop", "setup_script": null, "dev_script": null,
        "cleanup_script": null, "copy_files": null, "commit_prompt": null, "default_base_branch": null,
        "created_at": ago(9000), "updated_at": ago(9000),
    }]);
    let usage = Usage {
        days: vec![spent("day", "2026-11-16", 1.25), spent("day", "2026-11-15", 0.004)],
        models: vec![spent("model", "claude-opus-4", 1.254)],
        total: spent("model", "", 1.254).sum,
        workers: List::Read(read(json!([{
            "worker_id": "opus-1", "call_count": 31, "total_tokens": 92_000, "total_cost_usd": 1.2,
            "avg_cost_per_call": 0.04, "avg_tokens_per_call": 2967.7, "efficiency_score": 76_666.7,
            "last_active": ago(1), "tier": "premium",
        }]))),
        served: List::Read(read(json!([{
            "model": "claude-opus-4", "call_count": 31, "total_tokens": 92_000, "total_cost_usd": 1.2,
            "avg_cost_per_1k_tokens": 0.01, "avg_latency_ms": 2300.0, "cache_hit_rate": 0.94,
        }]))),
    };
    let lists = [
        Loaded::Projects(read(project)),
        Loaded::Attempts(read(json!([
            attempt(RUNNING, "running", "Fix the login", 3, Some(0.42)),
            attempt(ASKING, "running", "Clean up 日本語 names", 12, None),
            attempt(FAILED, "failed", "Write tests", 200, Some(1.5)),
        ]))),
        Loaded::Tasks(read(json!([
            task("c1111111-0000-4000-8000-000000000001", "inprogress", "Fix the login", 3, 1),
            task("c3333333-0000-4000-8000-000000000003", "todo", "Write tests", 200, 2),
        ]))),
        Loaded::Questions(read(json!([{
            "id": QUESTION, "approval_id": QUESTION, "execution_process_id": null, "tool_name": "Bash",
            "tool_input": {"command": "rm -rf build"}, "message": "May Bash be used?", "created_at": ago(1),
            "requested_at": ago(1), "timeout_at": ago(-9), "task_attempt_id": ASKING,
        }]))),
        Loaded::Beads(beads()),
        Loaded::Workers(read(json!([
            worker("opus-1", "running", "critical", &["rate_limited"], 45),
            worker("sonnet-1", "running", "healthy", &[], 45),
            worker("haiku-1", "paused", "healthy", &[], 45),
            worker("haiku-2", "failed", "failed", &["process_gone"], 300),
            stranger("claude-code-sonnet-bravo"),
        ]))),
        Loaded::Means(Means {
            launchers: read(json!([
                {"name": "claude-code", "path": "/launchers/claude-code", "shipped": true},
                {"name": "scripted", "path": "/launchers/scripted", "shipped": true},
            ])),
            defined: read(json!({"problems": [], "definitions": [{
                "name": "door", "launcher": "scripted", "model": "none", "tier": "budget", "workspace": null,
            }]})),
        }),
        Loaded::Alerts(read(json!([
            alert(
                "f1111111-0000-4000-8000-000000000001",
                "critical",
                "quota",
                "opus is out of quota until 14:00",
                false
            ),
            alert("f2222222-0000-4000-8000-000000000002", "warning", "disk_low", "2 GB are free", true),
        ]))),
        Loaded::Routing(read(json!([
            routing("91111111-0000-4000-8000-000000000001", "shop-12", None),
            routing("92222222-0000-4000-8000-000000000002", "shop-11", Some("closed")),
        ]))),
        Loaded::Usage(usage),
    ];
    for loaded in lists {
        update(&mut state, Message::Loaded(Box::new(loaded)));
    }
    state
}

pub(crate) fn entry(kind: Value, content: &str) -> Option<NormalizedEntry> {
    read(json!({"timestamp": null, "entry_type": kind, "content": content, "metadata": null}))
}

fn changed(path: &str, additions: u64, deletions: u64) -> (String, Option<ChangedFile>) {
    let (change, old_path) = (DiffChange::Modified, None);
    let (additions, deletions) = (Some(additions), Some(deletions));
    let file = ChangedFile { path: path.to_owned(), old_path, change, additions, deletions };
    (path.to_owned(), Some(file))
}

/// The log of the attempt that is followed; returns its run.
pub(crate) fn fill_log(state: &mut State, attempt: &str) -> RunId {
    let run = RunId::random();
    let command = json!({"type": "tool_use", "tool_name": "Bash", "status": {"status": "success"},
        "action_type": {"action": "command_run", "command": "cargo test",
            "result": {"exit_status": {"type": "exit_code", "code": 101}, "output": "1 failed\u{1b}[2J"}}});
    let entries = vec![
        ((0, 0), entry(json!({"type": "user_message"}), "Fix the login")),
        (
            (0, 1),
            entry(json!({"type": "assistant_message"}), "I look at the tests first.\nThen at the code."),
        ),
        ((0, 2), entry(command, "cargo test")),
    ];
    let files = vec![changed("src/login.rs", 12, 3), changed("tests/login.rs", 40, 0)];
    for news in [LogNews::Begun(Some(run)), LogNews::Entries(entries), LogNews::Changes(files)] {
        update(state, Message::Log(read(json!(attempt)), news));
    }
    run
}

/// A run of an agent.
pub(crate) fn run(attempt: &str, status: &str) -> ExecutionProcess {
    let request = json!({"type": "CodingAgentInitialRequest", "prompt": "Fix it",
        "executor_profile_id": {"executor": "CLAUDE_CODE", "variant": null}});
    read(json!({
        "id": RunId::random(), "task_attempt_id": attempt, "execution_run_id": null, "run_reason": "codingagent",
        "executor_action": {"typ": request, "next_action": null}, "before_head_commit": null,
        "after_head_commit": null, "status": status, "exit_code": null, "dropped": false, "started_at": ago(3),
        "completed_at": null, "created_at": ago(3), "updated_at": ago(3), "output": null,
    }))
}

pub(crate) fn worker_event(worker: Value) -> Message {
    Message::Event(Event::Worker(Box::new(read(worker))))
}
