//! OpenAI's Responses API.

use serde_json::{Value, json};

use super::answer::{Gone, Sink, new_id};
use super::script::{Reply, Said, Who};
use super::tools::{Arguments, Use};
use super::usage;

pub(super) fn said(body: &Value) -> Vec<Said> {
    if let Some(text) = body["input"].as_str() {
        return vec![Said::new(Who::Person, text)];
    }
    let mut said = Vec::new();
    for item in body["input"].as_array().into_iter().flatten() {
        match item["type"].as_str().unwrap_or("message") {
            "message" => {
                let who = if item["role"] == "user" { Who::Person } else { Who::Agent };
                let parts = item["content"].as_array().into_iter().flatten();
                let parts: String = parts.filter_map(|part| part["text"].as_str()).collect();
                said.push(Said::new(who, item["content"].as_str().unwrap_or(&parts)));
            }
            kind if kind.ends_with("_output") => {
                let output = &item["output"];
                said.push(Said::new(
                    Who::Tool,
                    output.as_str().map_or_else(|| output.to_string(), str::to_owned),
                ));
            }
            _ => {}
        }
    }
    said
}

fn response(id: &str, model: &str, status: &str, output: &[Value], cost: Value) -> Value {
    json!({"id": id, "object": "response", "created_at": 1, "status": status, "model": model, "output": output,
        "parallel_tool_calls": false, "tools": [], "tool_choice": "auto", "usage": cost, "error": null,
        "incomplete_details": null, "metadata": {}})
}

fn cost() -> Value {
    json!({"input_tokens": usage::INPUT, "input_tokens_details": {"cached_tokens": usage::CACHED},
        "output_tokens": usage::OUTPUT, "output_tokens_details": {"reasoning_tokens": usage::REASONING},
        "total_tokens": usage::INPUT + usage::OUTPUT})
}

fn spoken(text: &str) -> Value {
    json!({"type": "message", "id": new_id("msg_"), "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn called(used: &Use) -> Value {
    let call = new_id("call_");
    match &used.arguments {
        Arguments::Plain(text) => json!({"type": "custom_tool_call", "id": new_id("ctc_"), "call_id": call,
            "name": used.name, "input": text, "status": "completed"}),
        Arguments::Json(action) if used.name == "local_shell" => {
            let mut action = action.clone();
            (action["type"], action["env"]) = (json!("exec"), json!({}));
            json!({"type": "local_shell_call", "id": new_id("lsh_"), "call_id": call, "status": "completed",
                "action": action})
        }
        Arguments::Json(arguments) => {
            let mut item = json!({"type": "function_call", "id": new_id("fc_"), "call_id": call,
                "name": used.name, "arguments": arguments.to_string(), "status": "completed"});
            if let Some(namespace) = &used.namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
    }
}

pub(super) fn whole(model: &str, reply: &Reply, text: &str) -> Value {
    let item = if let Reply::Use(used) = reply { called(used) } else { spoken(text) };
    response(&new_id("resp_"), model, "completed", &[item], cost())
}

/// Events in order, numbered as the API numbers them.
struct Numbered<'a> {
    sink: &'a Sink,
    next: u64,
}

impl Numbered<'_> {
    async fn send(&mut self, mut event: Value) -> Result<(), Gone> {
        event["sequence_number"] = json!(self.next);
        self.next += 1;
        self.sink.event(&event).await
    }
}

pub(super) async fn stream(model: &str, reply: &Reply, sink: &Sink) -> Result<(), Gone> {
    let id = new_id("resp_");
    let mut events = Numbered { sink, next: 0 };
    let begun = response(&id, model, "in_progress", &[], Value::Null);
    events.send(json!({"type": "response.created", "response": begun})).await?;
    events.send(json!({"type": "response.in_progress", "response": begun})).await?;
    let item = match reply {
        Reply::Use(used) => call(used, &mut events).await?,
        _ => speak(reply, &mut events).await?,
    };
    events.send(json!({"type": "response.output_item.done", "output_index": 0, "item": item})).await?;
    let done = response(&id, model, "completed", &[item], cost());
    events.send(json!({"type": "response.completed", "response": done})).await
}

async fn call(used: &Use, events: &mut Numbered<'_>) -> Result<Value, Gone> {
    let item = called(used);
    let (key, kind) = match item["type"].as_str() {
        Some("custom_tool_call") => ("input", "response.custom_tool_call_input"),
        Some("function_call") => ("arguments", "response.function_call_arguments"),
        _ => {
            events
                .send(json!({"type": "response.output_item.added", "output_index": 0, "item": item}))
                .await?;
            return Ok(item);
        }
    };
    let mut begun = item.clone();
    (begun[key], begun["status"]) = (json!(""), json!("in_progress"));
    events.send(json!({"type": "response.output_item.added", "output_index": 0, "item": begun})).await?;
    let (id, text) = (&item["id"], &item[key]);
    events
        .send(json!({"type": format!("{kind}.delta"), "item_id": id, "output_index": 0, "delta": text}))
        .await?;
    events.send(json!({"type": format!("{kind}.done"), "item_id": id, "output_index": 0, key: text})).await?;
    Ok(item)
}

async fn speak(reply: &Reply, events: &mut Numbered<'_>) -> Result<Value, Gone> {
    let mut item = spoken("");
    let mut part = item["content"][0].take();
    let id = item["id"].clone();
    (item["content"], item["status"]) = (json!([]), json!("in_progress"));
    let at = |kind: &str| json!({"type": kind, "item_id": id, "output_index": 0, "content_index": 0});
    events.send(json!({"type": "response.output_item.added", "output_index": 0, "item": item})).await?;
    let mut event = at("response.content_part.added");
    event["part"] = part.clone();
    events.send(event).await?;
    let mut text = String::new();
    for piece in reply.pieces() {
        tokio::time::sleep(piece.after).await;
        text.push_str(&piece.text);
        let mut event = at("response.output_text.delta");
        event["delta"] = json!(piece.text);
        events.send(event).await?;
    }
    part["text"] = json!(text);
    let mut event = at("response.output_text.done");
    event["text"] = json!(text);
    events.send(event).await?;
    let mut event = at("response.content_part.done");
    event["part"] = part.clone();
    events.send(event).await?;
    (item["content"], item["status"]) = (json!([part]), json!("completed"));
    Ok(item)
}
