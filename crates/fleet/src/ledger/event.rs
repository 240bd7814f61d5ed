//! The documented lines of workers that are not an agent program: events as JSON, or as `key=value` after a time.
//!
//! `cost_incurred` tells a cost and its tokens; `api_call`, which comes before it, how long the call took; and
//! `task_completed` the tokens of the whole task, which count where no cost of it was told.

use forge_types::Usage;
use forge_types::dialect::microusd;
use serde_json::{Map, Value};

use super::{Call, Reader, Told, digest};

pub(super) fn read(reader: &mut Reader, fields: &Value, line: &str) -> Option<Told> {
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
            (!usage.is_zero()).then(|| Told::Call(call(usage, latency_ms)))
        }
        "task_completed" => {
            let usage = tokens(fields);
            let was_told = std::mem::take(&mut reader.session) == session;
            (!usage.is_zero() && !was_told).then(|| Told::Call(call(usage, None)))
        }
        _ => None,
    }
}

/// `<time> level=info event=…` as the fields that it stands for.
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

/// A single number does not say what it was for and is taken as input.
fn tokens(fields: &Value) -> Usage {
    let told = [&fields["tokens"], &fields["tokens_used"]].into_iter().find(|told| !told.is_null());
    let part = |key: &str, word: &str| {
        let inner = told.and_then(|told| number(&told[key]));
        inner.or_else(|| number(&fields[word])).unwrap_or(0).max(0)
    };
    Usage {
        input_tokens: told.and_then(number).unwrap_or_else(|| part("input", "tokens_in")),
        output_tokens: part("output", "tokens_out"),
        ..Usage::default()
    }
}

fn number(told: &Value) -> Option<i64> {
    told.as_i64().or_else(|| told.as_str()?.parse().ok())
}

fn amount(told: &Value) -> Option<i64> {
    match told.as_str() {
        Some(text) => microusd(&Value::from(text.parse::<f64>().ok()?)),
        None => microusd(told),
    }
}
