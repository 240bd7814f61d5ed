//! Runs over HTTP and as logs; the agent is the shell.

use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::streams::{close_code, connect, next, serve};
use crate::world::{World, assert_fault};

/// The response of create-and-start for a task that runs `script`.
async fn start(world: &World, script: &str) -> Value {
    let project = world.project().await;
    let body = json!({"project_id": project, "title": script, "executor_profile_id": "SHELL"});
    let (status, body) = world.ask("POST", "/api/tasks/create-and-start", Some(body)).await;
    assert_eq!((status, &body["success"]), (StatusCode::OK, &json!(true)), "{body}");
    body
}

#[tokio::test]
async fn a_start_that_fails_is_reported_and_leaves_whole_rows() {
    let world = World::without_keeper().await;
    let started = start(&world, "true").await;
    assert!(
        started["message"].as_str().is_some_and(|message| message.contains("no-such-program")),
        "{started}"
    );
    let data = &started["data"];
    assert_eq!(
        (&data["has_in_progress_attempt"], &data["last_attempt_failed"]),
        (&json!(false), &json!(true))
    );
    let attempt = data["task_attempt"]["id"].as_str().unwrap();

    let (_, list) = world.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).await;
    let run = &list["data"][0];
    assert_eq!((&run["status"], &run["task_attempt_id"]), (&json!("failed"), &json!(attempt)));
    let id = run["id"].as_str().unwrap();
    let (_, shown) = world.get(&format!("/api/execution-processes/{id}")).await;
    assert_eq!(shown["data"], *run);
    let stopped = world.ask("POST", &format!("/api/execution-processes/{id}/stop"), None).await;
    assert_eq!(stopped.0, StatusCode::CONFLICT, "{stopped:?}");

    let (_, detail) = world.get(&format!("/api/task-attempts/{attempt}")).await;
    assert_eq!(detail["data"]["task"]["id"], data["id"]);
    assert_eq!(detail["data"]["execution_processes"][0]["status"], "FAILED");
    let task = data["id"].as_str().unwrap();
    assert_fault(&world.get(&format!("/api/task-attempts/{task}")).await, 404, task);
    let project = data["project_id"].as_str().unwrap();
    let (_, rows) = world.get(&format!("/api/projects/{project}/tasks")).await;
    assert_eq!(rows["data"][0]["latest_attempt"]["id"], json!(attempt));
    world.close().await;
}

async fn run_of(world: &World, started: &Value) -> String {
    let attempt = started["data"]["task_attempt"]["id"].as_str().unwrap();
    let (_, list) = world.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).await;
    list["data"][0]["id"].as_str().unwrap().to_owned()
}

const SCRIPT: &str = r#"echo "hé"; sleep 0.1; echo oops >&2"#;

#[tokio::test]
async fn a_log_is_sent_live_and_again_then_finished_then_closed_with_1000() {
    let world = World::new().await;
    let run = run_of(&world, &start(&world, SCRIPT).await).await;
    let (address, _server) = serve(&world).await;
    let path = format!("/api/execution-processes/{run}/raw-logs/ws");
    let mut tales = Vec::new();
    for _ in ["live", "again"] {
        let mut client = connect(&address, &path).await;
        let (out, err) = (next(&mut client).await, next(&mut client).await);
        assert_eq!(next(&mut client).await, json!({"finished": true}));
        assert_eq!(close_code(client).await, Some(CloseCode::Normal));
        tales.push((out, err));
    }
    let entry = |n: u8, kind: &str, content: &str| {
        let value = json!({"type": kind, "content": content});
        json!({"JsonPatch": [{"op": "add", "path": format!("/entries/{n}"), "value": value}]})
    };
    assert_eq!(tales[0], (entry(0, "STDOUT", "hé\n"), entry(1, "STDERR", "oops\n")));
    assert_eq!(tales[1], tales[0]);
    let (_, ended) = world.get(&format!("/api/execution-processes/{run}")).await;
    assert_eq!((&ended["data"]["status"], &ended["data"]["exit_code"]), (&json!("completed"), &json!(0)));
    world.close().await;
}

#[tokio::test]
async fn a_numbered_log_goes_on_where_the_client_left_it() {
    let world = World::new().await;
    let run = run_of(&world, &start(&world, SCRIPT).await).await;
    let (address, _server) = serve(&world).await;
    let path = format!("/api/execution-processes/{run}/raw-logs/ws?after=");
    let mut client = connect(&address, &format!("{path}0")).await;
    assert_eq!(next(&mut client).await["seq"], 1);
    let second = next(&mut client).await;
    assert_eq!(second["seq"], 2);
    assert_eq!(next(&mut client).await, json!({"seq": 3, "finished": true}));
    let mut resumed = connect(&address, &format!("{path}1")).await;
    assert_eq!(next(&mut resumed).await, second);
    assert_eq!(next(&mut resumed).await, json!({"seq": 3, "finished": true}));
    world.close().await;
}

#[tokio::test]
async fn the_readable_log_ends_like_the_raw_one() {
    let world = World::new().await;
    let run = run_of(&world, &start(&world, "echo hello").await).await;
    let (address, _server) = serve(&world).await;
    let mut client = connect(&address, &format!("/api/execution-processes/{run}/normalized-logs/ws")).await;
    let value = next(&mut client).await["JsonPatch"][0]["value"].clone();
    assert_eq!(value["type"], "NORMALIZED_ENTRY");
    assert_eq!(value["content"]["entry_type"]["type"], "assistant_message");
    assert_eq!(value["content"]["content"].as_str().unwrap().trim(), "hello");
    assert_eq!(next(&mut client).await, json!({"finished": true}));
    assert_eq!(close_code(client).await, Some(CloseCode::Normal));
    world.close().await;
}

/// The frames of a readable log, without its end.
async fn entries(address: &str, run: &str, query: &str) -> Vec<Value> {
    let path = format!("/api/execution-processes/{run}/normalized-logs/ws{query}");
    let mut client = connect(address, &path).await;
    let mut frames = Vec::new();
    loop {
        match next(&mut client).await {
            end if end["finished"] == true => return frames,
            frame => frames.push(frame),
        }
    }
}

fn patches(frames: &[Value]) -> Vec<Value> {
    frames.iter().flat_map(|frame| frame["JsonPatch"].as_array().unwrap().clone()).collect()
}

#[tokio::test]
async fn entries_that_are_there_at_once_share_frames_and_each_still_has_its_number() {
    let world = World::new().await;
    let run = run_of(&world, &start(&world, "seq 40000").await).await;
    let (address, _server) = serve(&world).await;
    let live = entries(&address, &run, "?after=0").await;
    let late = entries(&address, &run, "?after=0").await;
    let all = patches(&late);
    assert_eq!(patches(&live), all);
    let place = |op: &Value| op["path"].as_str().unwrap()["/entries/".len()..].parse::<u64>().unwrap();
    let mut seen = 0;
    for (at, frame) in late.iter().enumerate() {
        let ops = frame["JsonPatch"].as_array().unwrap();
        seen += ops.len();
        assert_eq!(frame["seq"], seen, "a frame has the number of its last patch");
        assert!(ops.is_sorted_by(|a, b| place(a) < place(b)), "{frame}");
        let bytes = frame.to_string().len();
        assert!(ops.len() == 1 || bytes <= 32 << 10, "{bytes} bytes");
        // How often an entry is replaced depends on how the output was cut, where a frame ends does not.
        if let Some(next) = late.get(at + 1).map(|next| &next["JsonPatch"][0]) {
            let is_full = bytes + next.to_string().len() > 31 << 10;
            assert!(is_full || place(next) <= place(&ops[ops.len() - 1]), "a frame ends too early: {frame}");
        }
    }
    assert!(late.len() < all.len(), "{} frames of {} patches", late.len(), all.len());
    for after in 0..all.len() {
        let rest = entries(&address, &run, &format!("?after={after}")).await;
        assert_eq!(patches(&rest), all[after..]);
    }
    let plain = entries(&address, &run, "").await;
    assert_eq!((plain.len(), patches(&plain)), (all.len(), all), "without numbers each patch has a frame");
    world.close().await;
}

#[tokio::test]
async fn the_genie_monitor_gets_its_own_messages_too() {
    let world = World::new().await;
    let run = run_of(&world, &start(&world, "echo hello; exit 3").await).await;
    let (address, _server) = serve(&world).await;
    let url = format!("ws://{address}/api/execution-processes/{run}/raw-logs/ws");
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("user-agent", "Genie-TaskMonitor/1.0".parse().unwrap());
    let mut client = connect_async(request).await.unwrap().0;
    assert_eq!(next(&mut client).await, json!({"type": "log", "content": "hello\n"}));
    assert_eq!(next(&mut client).await["JsonPatch"][0]["value"]["content"], "hello\n");
    let status = json!({"type": "status", "status": "failed", "error": "exit code 3"});
    assert_eq!(next(&mut client).await, status);
    assert_eq!(next(&mut client).await, json!({"type": "finished"}));
    assert_eq!(next(&mut client).await, json!({"finished": true}));
    let page = axum::http::Request::builder()
        .uri(format!("/api/execution-processes/{run}/raw-logs?after=0"))
        .header("host", "localhost")
        .header("user-agent", "Genie-TaskMonitor/1.0");
    let page = world.send(page.body(axum::body::Body::empty()).unwrap()).await;
    let page = axum::body::to_bytes(page.into_body(), 1 << 20).await.unwrap();
    let page: Value = serde_json::from_slice(&page).unwrap();
    assert_eq!(
        page["data"]["frames"][0],
        json!({"type": "log", "content": "hello\n"}),
        "a page has them too"
    );
    assert_eq!((&page["data"]["frames"][2], &page["data"]["finished"]), (&status, &json!(true)));
    world.close().await;
}

#[tokio::test]
async fn the_runs_and_drafts_of_an_attempt_are_a_snapshot_and_then_changes() {
    let world = World::new().await;
    let started = start(&world, "sleep 300").await;
    let run = run_of(&world, &started).await;
    let attempt = started["data"]["task_attempt"]["id"].as_str().unwrap();
    let (address, _server) = serve(&world).await;
    let path = format!("/api/execution-processes/stream/ws?task_attempt_id={attempt}");
    let mut client = connect(&address, &path).await;
    let patch = next(&mut client).await["JsonPatch"][0].clone();
    assert_eq!((&patch["op"], &patch["path"]), (&json!("replace"), &json!("/execution_processes")));
    assert_eq!(patch["value"][&run]["status"], "running");
    let (status, _) = world.ask("POST", &format!("/api/task-attempts/{attempt}/stop"), None).await;
    assert_eq!(status, StatusCode::OK);
    loop {
        let patch = next(&mut client).await["JsonPatch"][0].clone();
        assert_eq!(
            (&patch["op"], &patch["path"]),
            (&json!("replace"), &json!(format!("/execution_processes/{run}")))
        );
        if patch["value"]["status"] == "killed" {
            break;
        }
    }
    let project = started["data"]["project_id"].as_str().unwrap();
    let mut client = connect(&address, &format!("/api/drafts/stream/ws?project_id={project}")).await;
    let drafts = next(&mut client).await["JsonPatch"][0]["value"].clone();
    assert_eq!(
        (&drafts[attempt]["follow_up"]["version"], &drafts[attempt]["retry"]),
        (&json!(0), &Value::Null)
    );
    world.close().await;
}

#[tokio::test]
async fn a_diff_shows_a_file_the_agent_wrote() {
    let world = World::new().await;
    let started = start(&world, "mkdir d; echo new > d/a~b.txt; exec sleep 300").await;
    let attempt = started["data"]["task_attempt"]["id"].as_str().unwrap();
    let (address, _server) = serve(&world).await;
    let mut client = connect(&address, &format!("/api/task-attempts/{attempt}/diff/ws")).await;
    let patch = next(&mut client).await["JsonPatch"][0].clone();
    assert_eq!((&patch["op"], &patch["path"]), (&json!("add"), &json!("/entries/d~1a~0b.txt")));
    assert_eq!(patch["value"]["type"], "DIFF");
    assert_eq!(patch["value"]["content"]["newContent"], "new\n");
    world.close().await;
}

#[tokio::test]
async fn an_errand_is_an_execution_run_with_a_log_of_its_own() {
    let world = World::new().await;
    let project = world.project().await;
    let body = json!({"project_id": project, "prompt": "echo hello", "executor_profile_id": "SHELL"});
    let (_, started) = world.ask("POST", "/api/execution-runs", Some(body)).await;
    let errand = started["data"]["execution_run"]["id"].as_str().expect("an execution run");
    assert_eq!(started["data"]["execution_process"]["execution_run_id"], json!(errand));
    let (address, _server) = serve(&world).await;
    let mut client = connect(&address, &format!("/api/execution-runs/{errand}/logs/ws")).await;
    assert_eq!(next(&mut client).await, json!({"Stdout": "hello\n"}));
    assert_eq!(next(&mut client).await, json!({"finished": true}));
    assert_eq!(close_code(client).await, Some(CloseCode::Normal));
    let (_, runs) = world.get(&format!("/api/execution-runs/{errand}/processes")).await;
    assert_eq!(runs["data"][0]["id"], started["data"]["execution_process"]["id"]);
    world.close().await;
}
