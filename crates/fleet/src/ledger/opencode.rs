//! opencode: the lines of `opencode run --format json`. A step is a call.

use forge_types::dialect::{count, microusd};
use forge_types::{Executor, Usage};
use serde_json::Value;

use super::{Call, Figure};

pub(super) fn read(fields: &Value) -> Option<Figure> {
    let (session, part) = (fields["sessionID"].as_str()?, &fields["part"]);
    let (tokens, id) = (&part["tokens"], part["id"].as_str()?);
    let reasoning = count(tokens, "reasoning");
    let usage = Usage {
        input_tokens: count(tokens, "input"),
        // Reported without reasoning tokens.
        output_tokens: count(tokens, "output") + reasoning,
        cache_read_tokens: count(&tokens["cache"], "read"),
        cache_write_tokens: count(&tokens["cache"], "write"),
        reasoning_tokens: reasoning,
        // It reports zero for a model whose price it does not know.
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
    (!usage.is_zero()).then_some(Figure::Call(call))
}
