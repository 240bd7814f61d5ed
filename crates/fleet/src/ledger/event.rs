//! The documented log lines of workers that are not an agent program: events as JSON, or as `key=value` after a time.
//!
//! `cost_incurred` has a cost and its tokens; `api_call`, which comes before it, the duration of the call; and
//! `task_completed` the tokens of the whole task, which count only if no cost was reported for it.

use forge_types::Usage;
use forge_types::dialect::microusd;
use serde_json::{Map, Value};

use super::{Call, Figure, Reader, digest};

pub(super) fn read(reader: &mut Reader, fields: &Value, line: &str) -> Option<Figure> {
    let worker = fields["worker_id"].as_str().unwrap_or_default();
    let task = fields["task_id"].as_str().or(fields["bead_id"].as_str());
    let session = format!("{worker}/{}", task.unwrap_or_default());
    let call = |usage: Usage, latency_ms: Option<i64>| Call {
        key: format!("{session}:{}", digest(line)),
        session: session.clone(),
        model: fields["model"].as_str().unwrap_or_default().to_owned(),
        usage,
        at: None,
        latency_ms,
        bead: task.map(str::to_owned),
        program: None,
    };
    match fields["event"].as_str()? {
        "api_call" => {
            reader.latency_ms = number(&fields["latency_ms"]);
            None
        }
        "cost_incurred" => {
            let currency = fields["currency"].as_str().unwrap_or("USD");
            let amount = amount(&fields["amount"]).filter(|_| currency.eq_ignore_ascii_case("usd"));
            let usage = Usage { cost_microusd: amount, ..tokens(fields) };
            let latency_ms = reader.latency_ms.take();
            reader.enter(&session);
            (!usage.is_zero()).then(|| Figure::Call(call(usage, latency_ms)))
        }
        "task_completed" => {
            let usage = tokens(fields);
            let was_reported = std::mem::take(&mut reader.session) == session;
            (!usage.is_zero() && !was_reported).then(|| Figure::Call(call(usage, None)))
        }
        _ => None,
    }
}

/// The fields of `<time> level=info event=…`.
pub(super) fn fields(line: &str) -> Option<Value> {
    let (time, rest) = line.split_once(char::is_whitespace)?;
    let mut fields = Map::from_iter([("timestamp".to_owned(), Value::from(time))]);
    super::moment(&fields["timestamp"])?;
    for word in shlex::split(rest)? {
        let (key, value) = word.split_once('=')?;
        fields.insert(key.to_owned(), Value::from(value));
    }
    fields.contains_key("event").then_some(Value::Object(fields))
}

/// A single number counts as input.
fn tokens(fields: &Value) -> Usage {
    let given = [&fields["tokens"], &fields["tokens_used"]].into_iter().find(|given| !given.is_null());
    let part = |key: &str, word: &str| {
        let inner = given.and_then(|given| number(&given[key]));
        inner.or_else(|| number(&fields[word])).unwrap_or(0).max(0)
    };
    Usage {
        input_tokens: given.and_then(number).unwrap_or_else(|| part("input", "tokens_in")),
        output_tokens: part("output", "tokens_out"),
        ..Usage::default()
    }
}

fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

fn amount(value: &Value) -> Option<i64> {
    match value.as_str() {
        Some(text) => microusd(&Value::from(text.parse::<f64>().ok()?)),
        None => microusd(value),
    }
}
