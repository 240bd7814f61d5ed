//! opencode: the lines of `opencode run --format json`. A step is a call.

use forge_types::dialect::{count, microusd};
use forge_types::{Executor, Usage};
use serde_json::Value;

use super::{Call, Told};

pub(super) fn read(fields: &Value) -> Option<Told> {
    let (session, part) = (fields["sessionID"].as_str()?, &fields["part"]);
    let (told, id) = (&part["tokens"], part["id"].as_str()?);
    let reasoning = count(told, "reasoning");
    let usage = Usage {
        input_tokens: count(told, "input"),
        // Told without what was thought.
        output_tokens: count(told, "output") + reasoning,
        cache_read_tokens: count(&told["cache"], "read"),
        cache_write_tokens: count(&told["cache"], "write"),
        reasoning_tokens: reasoning,
        // Zero is what it says of a model whose price it does not know.
        cost_microusd: microusd(&part["cost"]).filter(|cost| *cost > 0),
    };
    let call = Call {
        key: format!("{session}:{id}"),
        session: session.to_owned(),
        model: String::new(),
        usage,
        at: None,
        latency_ms: None,
        bead: None,
        program: Some(Executor::Opencode),
    };
    (!usage.is_zero()).then_some(Told::Call(call))
}
