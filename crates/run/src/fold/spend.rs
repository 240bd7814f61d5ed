//! The usage that an agent with Claude's protocol reports.
//!
//! Owns the current call. Invariant: nothing counts twice. The usage of single calls is counted as it streams, and
//! replaced by the total that the agent reports at the end of a turn; an agent that does not stream calls is
//! counted by the turns it reports.

use forge_types::dialect::{claude_model_usage, claude_usage, microusd};
use forge_types::{ModelUsage, Usage};
use serde_json::Value;

use super::RunOutcome;

#[derive(Default)]
pub(super) struct Spend {
    model: String,
    call: Option<(String, Usage)>,
    streamed: bool,
    /// The usage in the messages of this turn, one per message id: for agents that report it nowhere else.
    messages: ModelUsage,
    message: Option<(String, String, Usage)>,
}

impl Spend {
    /// The model under which turns without a model name are counted.
    pub fn introduce(&mut self, model: &str) {
        self.model = model.to_owned();
    }

    /// Reads a message, which may be repeated with more blocks.
    pub fn note_message(&mut self, id: &str, message: &Value) {
        if !message["usage"].is_object() {
            return;
        }
        if self.message.as_ref().is_some_and(|(known, ..)| id.is_empty() || known != id) {
            self.close_message();
        }
        let model = message["model"].as_str().unwrap_or(&self.model).to_owned();
        self.message = Some((id.to_owned(), model, claude_usage(&message["usage"])));
    }

    fn close_message(&mut self) {
        if let Some((_, model, used)) = self.message.take() {
            self.messages.entry(model).or_default().add(used);
        }
    }

    /// Reads an event of a streamed message.
    pub fn stream(&mut self, event: &Value, outcome: &mut RunOutcome) {
        match event["type"].as_str() {
            Some("message_start") => {
                let model = event["message"]["model"].as_str().unwrap_or(&self.model).to_owned();
                self.call = Some((model, claude_usage(&event["message"]["usage"])));
            }
            // Its counts are those of the whole message.
            Some("message_delta") => {
                if let (Some((_, call)), Some(output)) =
                    (&mut self.call, event["usage"]["output_tokens"].as_i64())
                {
                    call.output_tokens = output;
                }
            }
            Some("message_stop") => {
                if let Some((model, call)) = self.call.take() {
                    self.streamed = true;
                    outcome.spend(&model, call);
                }
            }
            _ => {}
        }
    }

    /// Reads the record at the end of a turn.
    pub fn end_turn(&mut self, result: &Value, outcome: &mut RunOutcome) {
        let total_cost = microusd(&result["total_cost_usd"]);
        self.close_message();
        let messages = std::mem::take(&mut self.messages);
        if let Some(models) = result["modelUsage"].as_object().filter(|models| !models.is_empty()) {
            // Totals since the start of the process, under names that may differ from those of the calls.
            outcome.usage.clear();
            for (model, used) in models {
                outcome.set_spent(model, claude_model_usage(used));
            }
            return;
        }
        let turn = claude_usage(&result["usage"]);
        if !self.streamed && result["usage"].is_object() {
            outcome.spend(&self.model, turn);
        } else if !self.streamed {
            for (model, used) in messages {
                outcome.spend(&model, used);
            }
        }
        if let Some(cost) = total_cost.filter(|cost| *cost > 0) {
            let entry = outcome.usage.entry(self.model.clone()).or_default();
            entry.cost_microusd = Some(cost);
        }
    }
}
