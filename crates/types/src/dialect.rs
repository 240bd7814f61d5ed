//! How agent programs report what they used, for programs that Forge reads in runs and in workers.
//!
//! Owns the names of fields, not their sums. Invariant: a count that is missing or is not a number is zero.

use serde_json::Value;

use crate::Usage;

/// A message or a turn of Claude Code, and of programs that speak like it.
pub fn claude_usage(reported: &Value) -> Usage {
    Usage {
        input_tokens: count(reported, "input_tokens"),
        output_tokens: count(reported, "output_tokens"),
        cache_read_tokens: count(reported, "cache_read_input_tokens"),
        cache_write_tokens: count(reported, "cache_creation_input_tokens"),
        ..Usage::default()
    }
}

/// One model of Claude Code's `modelUsage`: the sum since the process began.
pub fn claude_model_usage(reported: &Value) -> Usage {
    Usage {
        input_tokens: count(reported, "inputTokens"),
        output_tokens: count(reported, "outputTokens"),
        cache_read_tokens: count(reported, "cacheReadInputTokens"),
        cache_write_tokens: count(reported, "cacheCreationInputTokens"),
        reasoning_tokens: 0,
        cost_microusd: microusd(&reported["costUSD"]),
    }
}

pub fn count(reported: &Value, key: &str) -> i64 {
    reported[key].as_i64().unwrap_or(0).max(0)
}

/// Dollars, as agents report them, in millionths.
pub fn microusd(dollars: &Value) -> Option<i64> {
    let dollars = dollars.as_f64().filter(|dollars| dollars.is_finite() && *dollars >= 0.0)?;
    Some((dollars * 1e6).round() as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_count_of_claude_has_its_place_and_what_is_no_count_is_zero() {
        let message = json!({"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 4});
        let usage = Usage {
            input_tokens: 1,
            output_tokens: 2,
            cache_read_tokens: 3,
            cache_write_tokens: 4,
            ..Usage::default()
        };
        assert_eq!(claude_usage(&message), usage);
        let model = json!({"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 3,
            "cacheCreationInputTokens": 4, "costUSD": 0.5});
        assert_eq!(claude_model_usage(&model), Usage { cost_microusd: Some(500_000), ..usage });
        assert_eq!(claude_usage(&json!({"input_tokens": -1, "output_tokens": "2"})), Usage::default());
    }
}
