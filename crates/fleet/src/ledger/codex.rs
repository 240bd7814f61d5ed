//! Codex: the lines of `codex exec --json`, and its rollout files. Both contain totals of the thread.

use forge_types::dialect::count;
use forge_types::{Executor, Usage};
use serde_json::Value;

use super::{Call, Figure, Reader};

pub(super) fn read(reader: &mut Reader, fields: &Value) -> Option<Figure> {
    let payload = &fields["payload"];
    match fields["type"].as_str()? {
        "thread.started" => reader.enter(fields["thread_id"].as_str()?),
        "session_meta" => reader.enter(payload["id"].as_str()?),
        "turn_context" => reader.model = payload["model"].as_str().unwrap_or(&reader.model).to_owned(),
        "turn.completed" => return total(reader, &fields["usage"]),
        "event_msg" if payload["type"] == "token_count" => {
            return total(reader, &payload["info"]["total_token_usage"]);
        }
        _ => {}
    }
    None
}

fn total(reader: &Reader, value: &Value) -> Option<Figure> {
    let (read, written) = (count(value, "cached_input_tokens"), count(value, "cache_write_input_tokens"));
    let usage = Usage {
        input_tokens: (count(value, "input_tokens") - read - written).max(0),
        output_tokens: count(value, "output_tokens"),
        cache_read_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: count(value, "reasoning_output_tokens"),
        cost_microusd: None,
    };
    if usage.is_zero() || reader.session.is_empty() {
        return None;
    }
    let (session, model) = (reader.session.clone(), reader.model.clone());
    // The key is the total itself: repeated, it adds nothing.
    let key = format!("{session}:{}:{read}:{written}:{}", usage.input_tokens, usage.output_tokens);
    let program = Some(Executor::Codex);
    Some(Figure::Total(Call { key, session, model, usage, at: None, latency_ms: None, bead: None, program }))
}
