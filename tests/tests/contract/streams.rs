//! The recorded streams: which form each message has, not how many there are.
//!
//! A form is the path with its variable part replaced, plus the words that distinguish the kinds of entries. Every
//! recorded form must come, with the recorded keys and types. `add` and `replace` of a row are one form: which of them
//! announces a row depends on when the reader connects.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::compare::{Likeness, differences};
use crate::recording::{load_frames, read_text};
use crate::story::Story;

/// A stream with nothing new for so long has said what it had to say.
const IDLE: Duration = Duration::from_secs(2);
/// A stream followed live is read this long at most.
const LIVE: Duration = Duration::from_secs(12);

pub struct Heard {
    status: u16,
    frames: Vec<Value>,
    /// Whether the stream ended with a close of code 1000.
    closed: bool,
}

/// How long to listen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Until {
    Idle,
    /// Through pauses of the agent, to the end of the stream or the limit.
    Limit,
}

/// Streams opened right after a recording was replayed: recording, stream, path (in recorded ids), how long.
pub const PLAN: [(&str, &str, &str, Until); 19] = [
    ("053_task_get", "ws_tasks_stream_noquery", "/api/tasks/stream/ws", Until::Idle),
    (
        "053_task_get",
        "ws_tasks_stream_unknown",
        "/api/tasks/stream/ws?project_id=00000000-0000-0000-0000-000000000000",
        Until::Idle,
    ),
    (
        "053_task_get",
        "ws_raw_logs_404",
        "/api/execution-processes/00000000-0000-0000-0000-000000000000/raw-logs/ws",
        Until::Idle,
    ),
    (
        "081_image_delete",
        "ws_tasks_stream",
        "/api/tasks/stream/ws?project_id=7ce28ecf-9adc-4637-aa1a-b23f6a072059",
        Until::Limit,
    ),
    (
        "084_processes_list_running",
        "ws_execution_processes_stream",
        "/api/execution-processes/stream/ws?task_attempt_id=b63fb983-5468-4145-a6cc-2b4b745f3d69",
        Until::Limit,
    ),
    (
        "084_processes_list_running",
        "ws_raw_logs_live",
        "/api/execution-processes/cc226229-c89f-4647-8ade-8633e3c98360/raw-logs/ws",
        Until::Limit,
    ),
    (
        "084_processes_list_running",
        "ws_normalized_logs_live",
        "/api/execution-processes/cc226229-c89f-4647-8ade-8633e3c98360/normalized-logs/ws",
        Until::Limit,
    ),
    (
        "084_processes_list_running",
        "ws_diff_live",
        "/api/task-attempts/b63fb983-5468-4145-a6cc-2b4b745f3d69/diff/ws",
        Until::Limit,
    ),
    (
        "084_processes_list_running",
        "ws_diff_stats_live",
        "/api/task-attempts/b63fb983-5468-4145-a6cc-2b4b745f3d69/diff/ws?stats_only=true",
        Until::Limit,
    ),
    (
        "093_process_get_done2",
        "ws_raw_logs_replay",
        "/api/execution-processes/cc226229-c89f-4647-8ade-8633e3c98360/raw-logs/ws",
        Until::Idle,
    ),
    (
        "107_process_stopped",
        "ws_diff_done",
        "/api/task-attempts/b63fb983-5468-4145-a6cc-2b4b745f3d69/diff/ws",
        Until::Idle,
    ),
    (
        "107_process_stopped",
        "ws_diff_stats_done",
        "/api/task-attempts/b63fb983-5468-4145-a6cc-2b4b745f3d69/diff/ws?stats_only=true",
        Until::Idle,
    ),
    (
        "126_merge",
        "ws_diff_merged",
        "/api/task-attempts/b63fb983-5468-4145-a6cc-2b4b745f3d69/diff/ws",
        Until::Idle,
    ),
    (
        "160_scripts_processes",
        "ws_raw_codingagent",
        "/api/execution-processes/e3c1f00c-9acf-47e0-a08f-3724a7ca2f8f/raw-logs/ws",
        Until::Idle,
    ),
    (
        "160_scripts_processes",
        "ws_normalized_codingagent",
        "/api/execution-processes/e3c1f00c-9acf-47e0-a08f-3724a7ca2f8f/normalized-logs/ws",
        Until::Idle,
    ),
    (
        "160_scripts_processes",
        "ws_raw_setupscript",
        "/api/execution-processes/1a902b61-13b0-4f10-87d0-36636313d8cb/raw-logs/ws",
        Until::Idle,
    ),
    (
        "160_scripts_processes",
        "ws_normalized_setupscript",
        "/api/execution-processes/1a902b61-13b0-4f10-87d0-36636313d8cb/normalized-logs/ws",
        Until::Idle,
    ),
    (
        "160_scripts_processes",
        "ws_normalized_cleanupscript",
        "/api/execution-processes/2b8b34ac-cd68-4410-b129-6c2ebcebcb69/normalized-logs/ws",
        Until::Idle,
    ),
    (
        "143_approval_respond_approved",
        "ws_normalized_approval_approved",
        "/api/execution-processes/1dcd226a-7c24-4dc6-babd-6f60fa6cb82f/normalized-logs/ws",
        Until::Idle,
    ),
];

pub fn listen(story: &Story, path: &str, until: Until) -> JoinHandle<Heard> {
    let url = story.server.socket_url(&story.map(path));
    tokio::spawn(hear(url, until))
}

async fn hear(url: String, until: Until) -> Heard {
    let mut heard = Heard { status: 101, frames: Vec::new(), closed: false };
    let mut socket = match tokio_tungstenite::connect_async(url).await {
        Ok((socket, _)) => socket,
        Err(Error::Http(response)) => {
            heard.status = response.status().as_u16();
            let body = response.body().as_deref().unwrap_or_default();
            let body =
                serde_json::from_slice(body).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(body)));
            heard.frames.push(body);
            return heard;
        }
        Err(error) => panic!("{error}"),
    };
    let wait = if until == Until::Idle { IDLE } else { LIVE };
    let end = tokio::time::Instant::now() + LIVE;
    while let Ok(Some(Ok(message))) =
        tokio::time::timeout_at(end, tokio::time::timeout(wait, socket.next())).await.unwrap_or(Ok(None))
    {
        match message {
            Message::Text(text) => heard.frames.push(serde_json::from_str(&text).expect("frames are JSON")),
            Message::Close(Some(close)) => heard.closed = close.code == CloseCode::Normal,
            _ => {}
        }
    }
    heard
}

/// Differences between a recorded stream and what was heard.
pub fn compare(name: &str, heard: &Heard) -> BTreeSet<String> {
    let (status, recorded) = load_frames(name);
    let mut found = BTreeSet::new();
    if status != heard.status {
        found.insert(format!("status: {status} → {}", heard.status));
        return found;
    }
    if status != 101 {
        return differences(&recorded[0], &heard.frames[0], Likeness::Kind);
    }
    found.extend(compare_forms(&forms(&recorded), &forms(&heard.frames)));
    let ended = heard.frames.last().is_some_and(|frame| frame["finished"] == true);
    if ended && !heard.closed {
        found.insert("finished without close 1000".to_owned());
    }
    found
}

/// Differences between the recorded server-sent events and those of this run.
pub fn compare_events(text: &str) -> BTreeSet<String> {
    let recorded: Vec<Value> = events(&read_text("sse_events.txt")).map(|patch| json_patch(&patch)).collect();
    let actual: Vec<Value> = events(text).map(|patch| json_patch(&patch)).collect();
    let mut found = compare_forms(&forms(&recorded), &forms(&actual));
    // Questions of agents, which the recorded server kept to itself, have a name that its clients do not listen to.
    let known = ["event: json_patch", "event: approval"];
    let names = text.lines().filter(|line| line.starts_with("event:")).count();
    let ids = text.lines().filter(|line| line.starts_with("id:")).count();
    if names == 0
        || names != ids
        || text.lines().any(|line| line.starts_with("event:") && !known.contains(&line))
    {
        found.insert(format!("{names} events of known names, {ids} of them numbered"));
    }
    found
}

fn json_patch(patch: &Value) -> Value {
    serde_json::json!({ "JsonPatch": patch })
}

fn events(text: &str) -> impl Iterator<Item = Value> {
    text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
}

fn compare_forms(recorded: &BTreeMap<String, Value>, actual: &BTreeMap<String, Value>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (form, value) in recorded {
        match actual.get(form) {
            // A row seen at another moment: its words are compared by the plain requests.
            Some(other) => found.extend(
                differences(value, other, Likeness::Kind).into_iter().map(|line| format!("{form}: {line}")),
            ),
            None => {
                found.insert(format!("{form}: missing"));
            }
        }
    }
    found
}

/// The forms that occur, each with the first value that has it.
fn forms(frames: &[Value]) -> BTreeMap<String, Value> {
    let mut forms = BTreeMap::new();
    for frame in frames {
        if frame["finished"] == true {
            forms.entry("finished".to_owned()).or_insert(Value::Null);
        }
        for change in frame["JsonPatch"].as_array().into_iter().flatten() {
            if let Some(form) = form(change) {
                forms.entry(form).or_insert_with(|| change["value"].clone());
            }
        }
    }
    forms
}

fn form(change: &Value) -> Option<String> {
    let value = &change["value"];
    // The older server's record of a row it could not map; never sent again.
    if !value["db_op"].is_null() {
        return None;
    }
    let path = change["path"].as_str()?;
    let place: Vec<_> = path
        .split('/')
        .enumerate()
        .map(|(depth, part)| match depth {
            2 if part.parse::<u64>().is_ok() => "<n>",
            2 if uuid::Uuid::parse_str(part).is_ok() => "<id>",
            2 => "<name>",
            _ => part,
        })
        .collect();
    let kind = match change["op"].as_str()? {
        "remove" => "remove",
        _ => "put",
    };
    let entry = &value["content"]["entry_type"];
    let words: Vec<_> = [
        &value["type"],
        &value["content"]["change"],
        &entry["type"],
        &entry["action_type"]["action"],
        &entry["status"]["status"],
    ]
    .into_iter()
    .filter_map(Value::as_str)
    .collect();
    Some(format!("{kind} {} {}", place.join("/"), words.join(" ")).trim_end().to_owned())
}
