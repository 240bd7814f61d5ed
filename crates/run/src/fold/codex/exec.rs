//! The lines of `codex exec --json`, converted to messages of the app server.
//!
//! Owns nothing. Invariant: any other line is not converted, and is shown unchanged.

use forge_types::Usage;
use serde_json::{Map, Value, json};

pub(super) enum Event {
    Thread(String),
    TurnStarted,
    /// An item in the form of the app server.
    Begun(Value),
    Done(Value),
    /// An item with a remark; the turn continues.
    Remark(String),
    Plan(Value),
    TurnCompleted(Usage),
    Error(String),
    TurnFailed(String),
}

pub(super) fn read(message: &Value) -> Option<Event> {
    let text = |value: &Value| value["message"].as_str().unwrap_or("error without a message").to_owned();
    let (raw, is_done) = (&message["item"], message["type"] == "item.completed");
    Some(match message["type"].as_str()? {
        "thread.started" => Event::Thread(message["thread_id"].as_str()?.to_owned()),
        "turn.started" => Event::TurnStarted,
        "item.started" | "item.updated" | "item.completed" => match raw["type"].as_str()? {
            "error" => Event::Remark(text(raw)),
            "todo_list" => Event::Plan(plan(raw)),
            _ if is_done => Event::Done(item(raw)),
            _ => Event::Begun(item(raw)),
        },
        "turn.completed" => Event::TurnCompleted(usage(&message["usage"])),
        "turn.failed" => Event::TurnFailed(text(&message["error"])),
        "error" => Event::Error(text(message)),
        _ => return None,
    })
}

/// The app server writes the same words in camel case, and splits some values into parts.
fn item(raw: &Value) -> Value {
    let mut item: Map<String, Value> = raw
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| match (key.as_str(), value.as_str()) {
            ("type" | "status", Some(word)) => (key.clone(), camel(word).into()),
            _ => (camel(key), value.clone()),
        })
        .collect();
    if item.get("type") == Some(&json!("reasoning")) {
        let text = item.remove("text").unwrap_or_default();
        item.insert("summary".into(), json!([text]));
    }
    for change in item.get_mut("changes").and_then(Value::as_array_mut).into_iter().flatten() {
        if change["kind"].is_string() {
            change["kind"] = json!({"type": change["kind"]});
        }
    }
    Value::Object(item)
}

fn camel(word: &str) -> String {
    let mut parts = word.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut word, part| {
        let mut letters = part.chars();
        word.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        word.extend(letters);
        word
    })
}

fn plan(raw: &Value) -> Value {
    let step = |item: &Value| {
        let status = if item["completed"] == true { "completed" } else { "pending" };
        json!({"step": item["text"], "status": status})
    };
    let steps: Vec<Value> = raw["items"].as_array().into_iter().flatten().map(step).collect();
    json!({"plan": steps})
}

fn usage(counts: &Value) -> Usage {
    let count = |key: &str| counts[key].as_i64().unwrap_or(0).max(0);
    let (read, written) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    Usage {
        input_tokens: count("input_tokens").saturating_sub(read).saturating_sub(written).max(0),
        output_tokens: count("output_tokens"),
        cache_read_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: count("reasoning_output_tokens"),
        cost_microusd: None,
    }
}
