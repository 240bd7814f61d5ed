//! The Model Context Protocol: which tools are listed, that all of them work, and who may call them. The agent is the
//! shell.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use forge_server::{Door, OpenTo};
use serde_json::{Value, json};

use crate::world::{UNKNOWN, World, door};

/// The tools that the contract names, and their parameters; optional ones end in `?`.
const CONTRACT: [(&str, &str); 11] = [
    ("create_task", "project_id title description?"),
    ("list_projects", ""),
    ("list_tasks", "project_id status? limit?"),
    ("start_task_attempt", "task_id executor variant? base_branch"),
    ("update_task", "task_id title? description? status?"),
    ("delete_task", "task_id"),
    ("get_task", "task_id"),
    ("start_execution_run", "project_id prompt executor variant? base_branch?"),
    ("list_execution_runs", "project_id?"),
    ("get_execution_run", "execution_run_id"),
    ("stop_execution_run", "execution_run_id"),
];

/// A message to the server and the last event of its response.
async fn send(world: &World, headers: &[(&str, &str)], message: &Value) -> (StatusCode, Value) {
    send_to("/mcp", world, headers, message).await
}

async fn send_to(
    place: &str,
    world: &World,
    headers: &[(&str, &str)],
    message: &Value,
) -> (StatusCode, Value) {
    let mut request = Request::post(place).header(header::CONTENT_TYPE, "application/json");
    request = request.header(header::ACCEPT, "application/json, text/event-stream");
    if headers.iter().all(|(name, _)| *name != "host") {
        request = request.header(header::HOST, "localhost:8887");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = world.send(request.body(Body::from(message.to_string())).unwrap()).await;
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), 64 << 20).await.unwrap();
    let text = String::from_utf8(body.to_vec()).unwrap();
    let last =
        text.lines().filter_map(|line| line.strip_prefix("data: ")).rfind(|data| data.starts_with('{'));
    (status, serde_json::from_str(last.unwrap_or(&text)).unwrap_or(Value::Null))
}

async fn ask(world: &World, method: &str, params: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    send(world, &[], &message).await.1
}

/// Calls tools and remembers which.
struct Caller<'a> {
    world: &'a World,
    called: BTreeSet<String>,
}

/// Every text in `value` that is a time.
fn times(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(times).collect(),
        Value::Object(fields) => fields.values().flat_map(times).collect(),
        Value::String(text) => {
            let parsed = serde_json::from_value::<forge_types::Millis>(value.clone());
            parsed.ok().filter(|_| text.contains('T')).map(|_| text.clone()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

impl Caller<'_> {
    async fn result(&mut self, name: &str, arguments: Value) -> Value {
        self.called.insert(name.to_owned());
        let answer = ask(self.world, "tools/call", json!({"name": name, "arguments": arguments})).await;
        assert!(answer["result"].is_object(), "{name}: {answer}");
        answer["result"].clone()
    }

    async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.result(name, arguments).await;
        assert_ne!(result["isError"], true, "{name}: {result}");
        assert_eq!(result["content"][0]["type"], "text");
        let content = result["structuredContent"].clone();
        assert!(content.to_string().contains(r#""url":"http"#), "{name} has no url: {content}");
        assert_eq!(times(&content).iter().find(|time| !time.ends_with("+00:00")), None, "{name}: {content}");
        content
    }

    /// The message of a refusal.
    async fn refused(&mut self, name: &str, arguments: Value) -> String {
        let result = self.result(name, arguments).await;
        assert_eq!(result["isError"], true, "{name}: {result}");
        let failure: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!((&failure["success"], &failure), (&json!(false), &result["structuredContent"]));
        failure["error"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn every_tool_of_the_contract_is_offered_with_its_parameters() {
    let world = World::new().await;
    let listed = ask(&world, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    for (name, parameters) in CONTRACT {
        let tool =
            tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name} is missing"));
        let schema = &tool["inputSchema"];
        let required: Vec<Value> = schema["required"].as_array().cloned().unwrap_or_default();
        let offered: BTreeSet<String> = schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(|key| if required.contains(&json!(key)) { key.clone() } else { format!("{key}?") })
            .collect();
        let wanted: BTreeSet<String> = parameters.split_whitespace().map(str::to_owned).collect();
        assert!(wanted.is_subset(&offered), "{name}: {offered:?} are not {wanted:?}");
        // Whoever knows only the contract can still call it.
        let new: Vec<&String> = offered.difference(&wanted).collect();
        assert!(new.iter().all(|key| key.ends_with('?')), "{name} wants more than the contract: {new:?}");
    }
    world.close().await;
}

/// Callers were written against these; a new parameter, if there ever is one, is for a new tool.
#[tokio::test]
async fn the_basic_tools_never_change() {
    let world = World::new().await;
    let listed = ask(&world, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let basic = CONTRACT.map(|(name, _)| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or(&Value::Null);
        json!({"name": name, "inputSchema": tool["inputSchema"], "annotations": tool["annotations"]})
    });
    insta::assert_snapshot!(serde_json::to_string_pretty(&basic).unwrap());
    world.close().await;
}

#[tokio::test]
async fn every_tool_answers() {
    let world = World::new().await;
    let mut tools = Caller { world: &world, called: BTreeSet::new() };
    let project = world.project().await;
    let known = tools.call("list_projects", json!({})).await;
    assert_eq!((&known["count"], &known["projects"][0]["id"]), (&json!(1), &json!(project)));
    let path = known["projects"][0]["git_repo_path"].clone();
    let again = json!({"name": "again", "git_repo_path": path});
    assert!(tools.refused("create_project", again).await.contains("already"));
    let changed =
        tools.call("update_project", json!({"project_id": project, "name": "new", "dev_script": ""})).await;
    assert_eq!(
        (&changed["project"]["name"], &changed["project"]["dev_script"]),
        (&json!("new"), &Value::Null)
    );
    let shown = tools.call("get_project", json!({"project_id": project})).await;
    assert_eq!(shown["project"]["name"], "new");
    let branches = tools.call("list_branches", json!({"project_id": project})).await;
    assert_eq!(branches["branches"][0]["name"], "main");

    let made = tools.call("create_task", json!({"project_id": project, "title": "true"})).await;
    let task = made["task_id"].clone();
    let moved = tools.call("update_task", json!({"task_id": task, "status": "inprogress"})).await;
    assert_eq!(moved["task"]["status"], "in-progress");
    let listed =
        tools.call("list_tasks", json!({"project_id": project, "status": "in_progress", "limit": 1})).await;
    assert_eq!(listed["tasks"][0]["id"], task);
    assert_eq!(listed["applied_filters"], json!({"status": "in-progress", "limit": 1}));
    let none = tools.call("list_tasks", json!({"project_id": project, "limit": -1})).await;
    assert_eq!(none["count"], 0);
    let shown = tools.call("get_task", json!({"task_id": task})).await;
    assert_eq!(
        (&shown["task"]["title"], &shown["task"]["last_attempt_failed"]),
        (&json!("true"), &json!(false))
    );

    let start = json!({"task_id": task, "executor": "shell", "base_branch": "main"});
    let first = tools.call("start_task_attempt", start).await["attempt_id"].clone();
    let waited = tools.call("wait_for_attempt", json!({"attempt_id": first})).await;
    assert_eq!((&waited["finished"], &waited["status"]), (&json!(true), &json!("completed")), "{waited}");
    assert_eq!(tools.call("list_task_images", json!({"task_id": task})).await["count"], 0);
    assert_eq!(tools.call("delete_task", json!({"task_id": task})).await["deleted_task_id"], task);

    let script = json!({"project_id": project, "title": "echo Hello > hello.txt; echo written", "executor": "SHELL",
                        "base_branch": "main"});
    let attempt = tools.call("create_task_and_start", script.clone()).await["attempt_id"].clone();
    let this = json!({"attempt_id": attempt});
    tools.call("wait_for_attempt", this.clone()).await;
    let listed = tools.call("list_task_attempts", json!({"project_id": project})).await;
    assert_eq!(listed["attempts"][0]["id"], attempt);
    assert_eq!(tools.call("get_task_attempt", this.clone()).await["task_attempt"]["status"], "completed");
    let result = tools.call("get_attempt_result", this.clone()).await;
    assert_eq!(result["commits"].as_array().map(Vec::len), Some(1), "{result}");
    assert_eq!(result["diff_stat"]["files"][0]["path"], "hello.txt");
    assert!(result["url"].as_str().unwrap().ends_with(attempt.as_str().unwrap()));
    let logs = tools.result("get_attempt_logs", this.clone()).await;
    assert!(logs["content"][0]["text"].as_str().unwrap().contains("written"), "{logs}");
    let diff = tools.call("get_attempt_diff", this.clone()).await;
    assert!(diff["diff"].as_str().unwrap().contains("+Hello"), "{diff}");
    let status = tools.call("get_branch_status", this.clone()).await;
    assert_eq!((&status["commits_ahead"], &status["target_branch"]), (&json!(1), &json!("main")));
    tools.call("change_target_branch", json!({"attempt_id": attempt, "target_branch": "main"})).await;
    tools.call("rebase_task_attempt", this.clone()).await;
    assert!(tools.refused("push_task_attempt", this.clone()).await.contains("remote"));
    tools.refused("create_pr", this.clone()).await;
    tools.refused("attach_pr", json!({"attempt_id": attempt, "pr_number": 1})).await;
    assert_eq!(tools.call("get_pr_status", this.clone()).await["count"], 0);
    let issue = json!({"project_id": project, "number": 1});
    assert!(tools.refused("create_task_from_issue", issue).await.contains("remote"));
    assert_eq!(tools.call("abort_conflicts", this.clone()).await["in_conflict"], false);
    assert!(tools.refused("resolve_conflicts", this.clone()).await.contains("no conflict"));
    assert_eq!(tools.call("list_conflicts", json!({"project_id": project})).await["checked"], 1);
    assert!(tools.refused("restore_worktree", this.clone()).await.contains("is there already"));
    let merged = tools.call("merge_task_attempt", this.clone()).await;
    assert_eq!(merged["merge_commit"].as_str().map(str::len), Some(40), "{merged}");
    let arguments = json!({"attempt_id": attempt, "message": "sleep 60"});
    assert_eq!(tools.call("follow_up", arguments).await["success"], true);
    assert_eq!(tools.call("stop_task_attempt", this.clone()).await["stopped"], true);
    let runs = tools.call("list_processes", this.clone()).await;
    assert_eq!((&runs["count"], &runs["processes"][1]["status"]), (&json!(2), &json!("killed")), "{runs}");
    let run = json!({"process_id": runs["processes"][1]["id"]});
    assert_eq!(tools.call("get_process", run.clone()).await["process"]["prompt"], "sleep 60");
    assert!(tools.refused("stop_process", run).await.contains("is not running"));
    assert!(tools.refused("start_dev_server", this.clone()).await.contains("dev server script"));
    let draft = json!({"attempt_id": attempt, "content": "true"});
    assert_eq!(tools.call("save_draft", draft).await["draft"]["prompt"], "true");
    assert_eq!(tools.call("get_draft", this.clone()).await["draft"]["prompt"], "true");
    let keep = json!({"attempt_id": attempt, "queue": false});
    assert_eq!(tools.call("set_draft_queue", keep).await["draft"]["queued"], false);
    assert_eq!(tools.call("delete_draft", this.clone()).await["deleted"], true);
    assert_eq!(tools.call("get_children", this.clone()).await["count"], 0);
    assert_eq!(tools.call("get_usage", this.clone()).await["total"]["runs"], 0);
    assert_eq!(tools.call("get_worker_efficiency", json!({})).await["workers"], json!([]));
    assert_eq!(tools.call("get_model_performance", json!({})).await["models"], json!([]));
    assert_eq!(tools.call("list_agents", json!({"project_id": project})).await["count"], 0);
    assert_ne!(tools.call("list_profiles", json!({})).await["count"], 0);
    std::fs::create_dir(std::path::Path::new(path.as_str().unwrap()).join(".beads")).unwrap();
    let bead = json!({"project_id": project, "title": "a bead", "priority": 1});
    let bead = tools.call("create_bead", bead).await["bead"]["id"].clone();
    let this_bead = json!({"project_id": project, "bead": bead, "worker": "alpha", "reason": "done"});
    assert_eq!(tools.call("claim_bead", this_bead.clone()).await["bead"]["status"], "in_progress");
    assert_eq!(tools.call("close_bead", this_bead).await["bead"]["status"], "closed");
    assert_eq!(tools.call("list_beads", json!({"project_id": project, "ready": true})).await["count"], 0);
    tools.call("create_and_start_task", script).await;

    assert_eq!(tools.call("list_approvals", this).await["count"], 0);
    let answer = json!({"approval_id": UNKNOWN, "approved": true});
    assert!(tools.refused("answer_approval", answer).await.contains("list_approvals lists"));

    let errand = json!({"project_id": project, "prompt": "sleep 60", "executor": "SHELL"});
    let errand = tools.call("start_execution_run", errand).await["execution_run_id"].clone();
    let listed = tools.call("list_execution_runs", json!({"project_id": project})).await;
    assert_eq!((&listed["count"], &listed["runs"][0]["id"]), (&json!(1), &errand));
    let this = json!({"execution_run_id": errand});
    assert_eq!(tools.call("get_execution_run", this.clone()).await["prompt"], "sleep 60");
    assert_eq!(tools.call("stop_execution_run", this).await["stopped"], true);
    tools.refused("delete_project", json!({"project_id": UNKNOWN})).await;

    assert!(tools.call("list_workers", json!({})).await["count"].is_u64());
    assert_eq!(tools.call("list_alerts", json!({})).await["open"], 0);
    assert!(tools.refused("spawn_worker", json!({})).await.contains("launcher: missing"));
    let nobody = json!({"worker_id": UNKNOWN, "line": "hello"});
    for name in ["get_worker", "stop_worker", "send_to_worker"] {
        assert!(tools.refused(name, nobody.clone()).await.contains("no worker"), "{name}");
    }

    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let names = async |place: &str| -> BTreeSet<String> {
        let offered = send_to(place, &world, &[], &message).await.1;
        let tools = offered["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let (usual, all) = (names("/mcp").await, names("/mcp?advanced=true").await);
    assert_eq!(tools.called, all, "each is called once, listed or not");
    assert!(usual.is_subset(&all) && usual.contains("merge_task_attempt") && !usual.contains("list_workers"));
    world.close().await;
}

#[tokio::test]
async fn times_are_written_with_an_offset() {
    let world = World::new().await;
    let mut tools = Caller { world: &world, called: BTreeSet::new() };
    let project = world.project().await;
    tools.call("create_task", json!({"project_id": project, "title": "one"})).await;
    let listed = tools.call("list_tasks", json!({"project_id": project})).await;
    let created = listed["tasks"][0]["created_at"].clone();
    assert!(times(&listed).len() >= 2 && times(&created).len() == 1, "{listed}");
    assert!(created.as_str().unwrap().ends_with("+00:00"), "{created}");
    world.close().await;
}

#[tokio::test]
async fn a_refusal_names_the_field_the_value_and_what_to_do() {
    let world = World::new().await;
    let mut tools = Caller { world: &world, called: BTreeSet::new() };
    let project = world.project().await;
    let start =
        |executor: &str, base: &str| json!({"task_id": UNKNOWN, "executor": executor, "base_branch": base});
    for (name, arguments, words) in [
        ("get_task", json!({"task_id": "abc"}), &["task_id", "'abc'", "UUID"][..]),
        ("get_task", json!({"task_id": UNKNOWN}), &["Task not found", UNKNOWN, "list_tasks lists"]),
        ("get_task", json!({}), &["task_id"]),
        ("list_tasks", json!({"project_id": UNKNOWN}), &["Project not found", "list_projects lists"]),
        ("list_tasks", json!({"project_id": project, "status": "x"}), &["status", "'x'", "in-progress"]),
        ("start_task_attempt", start(" ", "main"), &["executor", "is blank", "CLAUDE_CODE"]),
        ("start_task_attempt", start("SHELL", ""), &["base_branch", "is blank", "list_branches"]),
        ("wait_for_attempt", json!({"attempt_id": UNKNOWN}), &["not found", "list_task_attempts lists"]),
        ("wait_for_attempt", json!({"attempt_id": UNKNOWN, "wait_s": 601}), &["wait_s", "'601'", "0 to 600"]),
        ("stop_execution_run", json!({"execution_run_id": UNKNOWN}), &["list_execution_runs lists"]),
    ] {
        let message = tools.refused(name, arguments).await;
        assert!(
            words.iter().all(|word| message.contains(word)),
            "{name}: '{message}' lacks one of {words:?}"
        );
    }
    let unknown = ask(&world, "tools/call", json!({"name": "nope"})).await;
    assert!(unknown["error"]["message"].as_str().unwrap().contains("'nope'"), "{unknown}");
    let resource = ask(&world, "resources/read", json!({"uri": "file:///etc/passwd"})).await;
    assert!(
        resource["error"]["message"].as_str().unwrap().contains("forge://attempt/<id>/logs"),
        "{resource}"
    );
    world.close().await;
}

#[tokio::test]
async fn old_and_new_versions_of_the_protocol_are_answered() {
    let world = World::new().await;
    let hello = |version: &str| json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    for (given, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-11-25", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
    ] {
        let answer = ask(&world, "initialize", hello(given)).await;
        assert_eq!(answer["result"]["protocolVersion"], answered, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "automagik-forge");
    }
    let error = &ask(&world, "initialize", hello("2023-01-01")).await["error"];
    assert_eq!(
        (&error["code"], &error["data"]["requested_protocol"]),
        (&json!(-32602), &json!("2023-01-01"))
    );
    assert_eq!(error["data"]["minimum_supported_protocol"], "2024-11-05");

    let key = |word: &str| format!("io.modelcontextprotocol/{word}");
    let meta = json!({key("protocolVersion"): "2026-07-28", key("clientInfo"): {"name": "t", "version": "1"},
                      key("clientCapabilities"): {}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    let (_, answer) = send(&world, &headers, &message).await;
    assert!(answer["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{answer}");
    world.close().await;
}

#[tokio::test]
async fn the_door_guards_the_protocol_too() {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let world = World::new().await;
    assert_eq!(send(&world, &[("host", "evil.example")], &message).await.0, StatusCode::FORBIDDEN);
    assert_eq!(send(&world, &[("origin", "http://evil.example")], &message).await.0, StatusCode::FORBIDDEN);
    world.close().await;
    let door = Door { open_to: OpenTo::Nobody, token: Some("s3cret".into()), ..door() };
    let world = World::with(door).await;
    assert_eq!(send(&world, &[], &message).await.0, StatusCode::UNAUTHORIZED);
    let (status, answer) = send(&world, &[("authorization", "Bearer s3cret")], &message).await;
    assert!(status.is_success() && answer["result"]["tools"].is_array(), "{answer}");
    world.close().await;
}
