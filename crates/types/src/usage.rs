//! What agents used, in tokens and money.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What one model was used for. Input that came from a cache, or was written to one, is not in `input_tokens`; reasoning
/// is part of `output_tokens`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub cache_read_tokens: i64,
    pub cache_write_tokens: i64,
    pub reasoning_tokens: i64,
    /// In millionths of a dollar, when the agent itself says what it cost.
    pub cost_microusd: Option<i64>,
}

/// Use by model. An agent that does not name its model has it under an empty name.
pub type ModelUsage = BTreeMap<String, Usage>;

impl Usage {
    pub fn add(&mut self, more: Usage) {
        let sums = [
            (&mut self.input_tokens, more.input_tokens),
            (&mut self.output_tokens, more.output_tokens),
            (&mut self.cache_read_tokens, more.cache_read_tokens),
            (&mut self.cache_write_tokens, more.cache_write_tokens),
            (&mut self.reasoning_tokens, more.reasoning_tokens),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
        if let Some(more) = more.cost_microusd {
            self.cost_microusd = Some(self.cost_microusd.unwrap_or(0).saturating_add(more));
        }
    }

    pub fn is_zero(&self) -> bool {
        let Usage { cost_microusd, .. } = *self;
        Usage { cost_microusd: None, ..*self } == Usage::default() && cost_microusd.unwrap_or(0) == 0
    }
}
