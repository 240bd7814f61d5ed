//! OpenAI's Chat Completions API.

use serde_json::{Value, json};

use super::answer::{Gone, Sink, new_id};
use super::script::{Reply, Said, Who};
use super::usage;

pub(super) fn said(body: &Value) -> Vec<Said> {
    let messages = body["messages"].as_array().into_iter().flatten();
    let said = messages.map(|message| {
        let who = match message["role"].as_str() {
            Some("user") => Who::Person,
            Some("tool") => Who::Tool,
            _ => Who::Agent,
        };
        let parts = message["content"].as_array().into_iter().flatten();
        let parts: String = parts.filter_map(|part| part["text"].as_str()).collect();
        Said::new(who, message["content"].as_str().unwrap_or(&parts))
    });
    said.collect()
}

fn cost() -> Value {
    json!({"prompt_tokens": usage::INPUT, "completion_tokens": usage::OUTPUT,
        "total_tokens": usage::INPUT + usage::OUTPUT, "prompt_tokens_details": {"cached_tokens": usage::CACHED},
        "completion_tokens_details": {"reasoning_tokens": usage::REASONING}})
}

fn finish_reason(reply: &Reply) -> &'static str {
    if matches!(reply, Reply::Use(_)) { "tool_calls" } else { "stop" }
}

pub(super) fn whole(model: &str, reply: &Reply, text: &str) -> Value {
    let message = match reply {
        Reply::Use(used) => {
            let function = json!({"name": used.name, "arguments": used.object().to_string()});
            let call = json!({"id": new_id("call_"), "type": "function", "function": function});
            json!({"role": "assistant", "content": null, "tool_calls": [call]})
        }
        _ => json!({"role": "assistant", "content": text}),
    };
    json!({"id": new_id("chatcmpl-"), "object": "chat.completion", "created": 1, "model": model, "usage": cost(),
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(reply)}]})
}

pub(super) async fn stream(model: &str, reply: &Reply, sink: &Sink) -> Result<(), Gone> {
    let id = new_id("chatcmpl-");
    let chunk = |choices: Value| json!({"id": id, "object": "chat.completion.chunk", "created": 1, "model": model, "choices": choices});
    let delta =
        |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])).to_string();
    sink.data(&delta(json!({"role": "assistant", "content": ""}))).await?;
    if let Reply::Use(used) = reply {
        let function = json!({"name": used.name, "arguments": ""});
        let call = json!({"index": 0, "id": new_id("call_"), "type": "function", "function": function});
        sink.data(&delta(json!({"tool_calls": [call]}))).await?;
        let arguments = json!({"arguments": used.object().to_string()});
        sink.data(&delta(json!({"tool_calls": [{"index": 0, "function": arguments}]}))).await?;
    }
    for piece in reply.pieces() {
        tokio::time::sleep(piece.after).await;
        sink.data(&delta(json!({"content": piece.text}))).await?;
    }
    let end = chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(reply)}]));
    sink.data(&end.to_string()).await?;
    let mut last = chunk(json!([]));
    last["usage"] = cost();
    sink.data(&last.to_string()).await?;
    sink.data("[DONE]").await
}
