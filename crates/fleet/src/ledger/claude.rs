//! Claude Code: its stream-json output, and the transcripts of its conversations.
//!
//! A message is several lines with one id. The sum at the end of a turn covers the whole process, which may have had
//! earlier turns; a session may have had several processes.

use forge_types::dialect::{claude_model_usage, claude_usage, count, microusd};
use forge_types::{Executor, ModelUsage, Usage};
use serde_json::Value;

use super::{Call, Figure, Reader, digest};

/// The model name that Claude Code uses for messages of its own.
const SYNTHETIC: &str = "<synthetic>";

pub(super) fn read(reader: &mut Reader, fields: &Value, line: &str) -> Option<Figure> {
    let session = fields["session_id"].as_str().or(fields["sessionId"].as_str())?;
    reader.enter(session);
    match fields["type"].as_str() {
        Some("assistant") => read_message(reader, fields, line),
        Some("result") => read_result(reader, fields, line),
        _ => {
            reader.model = fields["model"].as_str().unwrap_or(&reader.model).to_owned();
            None
        }
    }
}

fn read_message(reader: &mut Reader, fields: &Value, line: &str) -> Option<Figure> {
    let message = &fields["message"];
    let model = message["model"].as_str().unwrap_or_default();
    let usage = usage(&message["usage"]);
    if usage.is_zero() || model == SYNTHETIC {
        return None;
    }
    reader.model = model.to_owned();
    let id = message["id"].as_str().map_or_else(|| digest(line), str::to_owned);
    Some(Figure::Call(Call { usage, ..blank(reader, fields, &id, model) }))
}

fn read_result(reader: &mut Reader, fields: &Value, line: &str) -> Option<Figure> {
    let total = total_of(reader, fields);
    if total.values().all(Usage::is_zero) {
        // A turn that failed before its first call.
        return None;
    }
    let turn = added(reader, &usage(&fields["usage"]), &total);
    let is_first = turn == total;
    reader.summed = total;
    let id = fields["uuid"].as_str().map_or_else(|| digest(line), str::to_owned);
    // The time of all calls together; it can be assigned only if there is one model.
    let latency_ms = fields["duration_api_ms"].as_i64().filter(|_| is_first && turn.len() == 1);
    let calls = turn.into_iter().filter(|(_, usage)| !usage.is_zero());
    let calls = calls.map(|(model, usage)| {
        let key = format!("{id}:{model}");
        Call { usage, latency_ms, ..blank(reader, fields, &key, &model) }
    });
    Some(Figure::Sum(calls.collect()))
}

/// The process's use so far.
fn total_of(reader: &Reader, fields: &Value) -> ModelUsage {
    let models = fields["modelUsage"].as_object().filter(|models| !models.is_empty());
    let Some(models) = models else {
        let cost_microusd = microusd(&fields["total_cost_usd"]).filter(|cost| *cost > 0);
        let usage = Usage { cost_microusd, ..usage(&fields["usage"]) };
        return ModelUsage::from([(reader.model.clone(), usage)]);
    };
    models.iter().map(|(model, usage)| (model.clone(), claude_model_usage(usage))).collect()
}

/// What the turn added. A continuing process repeats the earlier turns and a new one does not; whichever is closer to
/// the turn's own figures is assumed.
fn added(reader: &Reader, turn: &Usage, total: &ModelUsage) -> ModelUsage {
    let before = |model: &str| reader.summed.get(model).copied().unwrap_or_default();
    let goes_on = reader
        .summed
        .iter()
        .all(|(model, before)| total.get(model).is_some_and(|now| before.since(*now).is_zero()));
    let since: ModelUsage =
        total.iter().map(|(model, now)| (model.clone(), now.since(before(model)))).collect();
    let distance = |used: &ModelUsage| used.values().map(tokens).sum::<i64>().abs_diff(tokens(turn));
    match goes_on && distance(&since) < distance(total) {
        true => since,
        false => total.clone(),
    }
}

fn tokens(usage: &Usage) -> i64 {
    usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens
}

fn blank(reader: &Reader, fields: &Value, id: &str, model: &str) -> Call {
    Call {
        key: format!("{}:{id}", reader.session),
        session: reader.session.clone(),
        model: model.to_owned(),
        usage: Usage::default(),
        at: None,
        latency_ms: None,
        bead: fields["bead_id"].as_str().map(str::to_owned),
        program: Some(Executor::ClaudeCode),
    }
}

/// With Anthropic's field names, or OpenAI's, which count cached input as input.
fn usage(value: &Value) -> Usage {
    if value.get("prompt_tokens").is_some() {
        let details = count(&value["prompt_tokens_details"], "cached_tokens");
        let cached = details.max(count(value, "prompt_cache_hit_tokens"));
        return Usage {
            input_tokens: (count(value, "prompt_tokens") - cached).max(0),
            output_tokens: count(value, "completion_tokens"),
            cache_read_tokens: cached,
            reasoning_tokens: count(&value["completion_tokens_details"], "reasoning_tokens"),
            ..Usage::default()
        };
    }
    claude_usage(value)
}
