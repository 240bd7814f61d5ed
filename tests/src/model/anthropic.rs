//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::answer::{Gone, Sink, new_id};
use super::script::{Reply, Said, Who};
use super::usage;

pub(super) fn said(body: &Value) -> Vec<Said> {
    let mut said = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        let who = if message["role"] == "user" { Who::Person } else { Who::Agent };
        if let Some(text) = message["content"].as_str() {
            said.push(Said::new(who, text));
        }
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("text") => said.push(Said::new(who, block["text"].as_str().unwrap_or_default())),
                Some("tool_result") => said.push(Said::new(Who::Tool, block["content"].to_string())),
                _ => {}
            }
        }
    }
    said
}

fn cost(output: i64) -> Value {
    json!({"input_tokens": usage::INPUT - usage::CACHED, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage::CACHED, "output_tokens": output})
}

fn stop_reason(reply: &Reply) -> &'static str {
    if matches!(reply, Reply::Use(_)) { "tool_use" } else { "end_turn" }
}

fn message(model: &str, content: Value, stop: Option<&str>, output: i64) -> Value {
    json!({"id": new_id("msg_"), "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": stop, "stop_sequence": null, "usage": cost(output)})
}

pub(super) fn whole(model: &str, reply: &Reply, text: &str) -> Value {
    let content = match reply {
        Reply::Use(used) => {
            json!([{"type": "tool_use", "id": new_id("toolu_"), "name": used.name, "input": used.object()}])
        }
        _ => json!([{"type": "text", "text": text}]),
    };
    message(model, content, Some(stop_reason(reply)), usage::OUTPUT)
}

pub(super) async fn stream(model: &str, reply: &Reply, sink: &Sink) -> Result<(), Gone> {
    sink.event(&json!({"type": "message_start", "message": message(model, json!([]), None, 1)})).await?;
    let begin = |index: u8, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta =
        |index: u8, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let end = |index: u8| json!({"type": "content_block_stop", "index": index});
    let words = |text: &str| delta(0, json!({"type": "text_delta", "text": text}));

    sink.event(&begin(0, json!({"type": "text", "text": ""}))).await?;
    if let Reply::Use(_) = reply {
        sink.event(&words("I will use a tool. ")).await?;
    }
    for piece in reply.pieces() {
        tokio::time::sleep(piece.after).await;
        sink.event(&words(&piece.text)).await?;
    }
    sink.event(&end(0)).await?;
    if let Reply::Use(used) = reply {
        let block = json!({"type": "tool_use", "id": new_id("toolu_"), "name": used.name, "input": {}});
        sink.event(&begin(1, block)).await?;
        let input = used.object().to_string();
        // In two parts, as a client must be able to take it.
        let half = input.char_indices().nth(input.chars().count() / 2).map_or(0, |(at, _)| at);
        for part in [&input[..half], &input[half..]] {
            sink.event(&delta(1, json!({"type": "input_json_delta", "partial_json": part}))).await?;
        }
        sink.event(&end(1)).await?;
    }
    let stop = json!({"stop_reason": stop_reason(reply), "stop_sequence": null});
    sink.event(&json!({"type": "message_delta", "delta": stop, "usage": cost(usage::OUTPUT)})).await?;
    sink.event(&json!({"type": "message_stop"})).await
}
