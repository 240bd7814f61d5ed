//! What an agent that speaks the Agent Client Protocol says it used.
//!
//! Owns which model is used and what of the told counts is known already. Invariant: nothing counts twice. Calls that are
//! told one by one are counted one by one, and then the turn's sum is not; a sum over the whole process replaces the one
//! before it; the cost of a conversation that is continued counts only from where it stood.

use forge_types::Usage;
use serde_json::Value;

use super::super::Outcome;
use super::super::spend::microusd;

/// Agents whose turns tell the sum since their start.
const CUMULATIVE: &[&str] = &["copilot"];

#[derive(Default)]
pub(super) struct Spend {
    model: String,
    sums: Sums,
    /// Calls of this turn were told one by one.
    told_by_call: bool,
    cost: Cost,
}

/// What the usage of a turn's end covers.
#[derive(Default, PartialEq)]
enum Sums {
    #[default]
    PerTurn,
    PerProcess,
}

/// What the conversation had cost before this run.
#[derive(Default)]
enum Cost {
    #[default]
    Nothing,
    Unknown,
    Known(i64),
}

impl Spend {
    pub fn introduce(&mut self, agent: &str) {
        if CUMULATIVE.iter().any(|name| agent.eq_ignore_ascii_case(name)) {
            self.sums = Sums::PerProcess;
        }
    }

    /// An earlier conversation goes on, with costs that are not this run's.
    pub fn continue_session(&mut self) {
        self.cost = Cost::Unknown;
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// Looks for the model among a session's choices.
    pub fn note_model(&mut self, told: &Value) {
        let models = &told["models"];
        let current = models["currentModelId"].as_str().map(|id| {
            let named = models["availableModels"].as_array().into_iter().flatten();
            let name = named.filter(|model| model["modelId"] == id).find_map(|model| model["name"].as_str());
            // An id may be an address within the agent, which says nothing to anybody else.
            name.filter(|_| id.contains(['|', '('])).unwrap_or(id)
        });
        let options = told["configOptions"].as_array().into_iter().flatten();
        let configured = options
            .filter(|option| option["category"] == "model" || option["id"] == "model")
            .find_map(|option| option["currentValue"].as_str());
        if let Some(model) = current.or(configured) {
            self.model = model.to_owned();
        }
    }

    /// One call of the model, told as it ends.
    pub fn note_call(&mut self, usage: &Value, outcome: &mut Outcome) {
        if usage.is_object() {
            self.told_by_call = true;
            outcome.spend(&self.model, count(usage));
        }
    }

    /// What the conversation had cost before this run's prompt.
    pub fn note_past_cost(&mut self, update: &Value) {
        if let Some(total) = told_cost(update) {
            self.cost = Cost::Known(total);
        }
    }

    /// What the conversation has cost so far.
    pub fn note_cost(&mut self, update: &Value, outcome: &mut Outcome) {
        let Some(total) = told_cost(update) else { return };
        match self.cost {
            Cost::Unknown => {}
            Cost::Nothing => self.set_cost(total, outcome),
            Cost::Known(before) => self.set_cost(total.saturating_sub(before).max(0), outcome),
        }
    }

    fn set_cost(&self, cost: i64, outcome: &mut Outcome) {
        outcome.usage.entry(self.model.clone()).or_default().cost_microusd = Some(cost);
    }

    /// The end of a turn.
    pub fn settle(&mut self, result: &Value, outcome: &mut Outcome) {
        if std::mem::take(&mut self.told_by_call) {
            return;
        }
        let quota = &result["_meta"]["quota"];
        if let Some(models) = quota["model_usage"].as_array().filter(|models| !models.is_empty()) {
            for told in models {
                let model = told["model"].as_str().unwrap_or(&self.model);
                outcome.spend(model, count_quota(&told["token_count"]));
            }
        } else if quota["token_count"].is_object() {
            outcome.spend(&self.model, count_quota(&quota["token_count"]));
        } else if result["usage"].is_object() {
            let mut used = count(&result["usage"]);
            match self.sums {
                Sums::PerTurn => outcome.spend(&self.model, used),
                Sums::PerProcess => {
                    used.cost_microusd = outcome.usage.get(&self.model).and_then(|usage| usage.cost_microusd);
                    outcome.set_spent(&self.model, used);
                }
            }
        }
    }
}

fn told_cost(update: &Value) -> Option<i64> {
    let cost = &update["cost"];
    let in_dollars = cost["currency"].as_str().is_none_or(|currency| currency.eq_ignore_ascii_case("USD"));
    microusd(&cost["amount"]).filter(|_| in_dollars)
}

/// Some agents count cached input and reasoning within input and output, some beside them; the total tells which.
fn count(told: &Value) -> Usage {
    let number = |key: &str| told[key].as_i64().unwrap_or(0).max(0);
    let (input, output) = (number("inputTokens"), number("outputTokens"));
    let (read, written) = (number("cachedReadTokens"), number("cachedWriteTokens"));
    let thought = number("thoughtTokens");
    let within = told["totalTokens"].as_i64() == Some(input.saturating_add(output));
    Usage {
        input_tokens: if within { input.saturating_sub(read).saturating_sub(written).max(0) } else { input },
        output_tokens: if within { output } else { output.saturating_add(thought) },
        cache_read_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: thought,
        cost_microusd: None,
    }
}

fn count_quota(told: &Value) -> Usage {
    let number = |key: &str| told[key].as_i64().unwrap_or(0).max(0);
    Usage { input_tokens: number("input_tokens"), output_tokens: number("output_tokens"), ..Usage::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_total_tells_what_is_counted_within() {
        let within = json!({"inputTokens": 1234, "outputTokens": 56, "totalTokens": 1290,
                            "thoughtTokens": 7, "cachedReadTokens": 1000});
        let beside = json!({"inputTokens": 234, "outputTokens": 49, "totalTokens": 1290,
                            "thoughtTokens": 7, "cachedReadTokens": 1000});
        let want = Usage {
            input_tokens: 234,
            output_tokens: 56,
            cache_read_tokens: 1000,
            reasoning_tokens: 7,
            ..Usage::default()
        };
        assert_eq!((count(&within), count(&beside)), (want, want));
    }

    #[test]
    fn a_sum_over_the_process_replaces_and_a_turn_adds() {
        let turn =
            |input: i64| json!({"usage": {"inputTokens": input, "outputTokens": 0, "totalTokens": input}});
        for (agent, want) in [("Copilot", 30), ("OpenCode", 40)] {
            let (mut spend, mut outcome) = (Spend::default(), Outcome::default());
            spend.introduce(agent);
            spend.settle(&turn(10), &mut outcome);
            spend.settle(&turn(30), &mut outcome);
            assert_eq!(outcome.usage[""].input_tokens, want, "{agent}");
        }
    }

    #[test]
    fn the_cost_of_an_earlier_run_is_not_this_ones() {
        let cost = |amount: f64| json!({"cost": {"amount": amount, "currency": "USD"}});
        let (mut spend, mut outcome) = (Spend::default(), Outcome::default());
        spend.continue_session();
        spend.note_past_cost(&cost(0.5));
        spend.note_cost(&cost(0.75), &mut outcome);
        assert_eq!(outcome.usage[""].cost_microusd, Some(250_000));
        let (mut spend, mut outcome) = (Spend::default(), Outcome::default());
        spend.continue_session();
        spend.note_cost(&cost(0.75), &mut outcome);
        assert!(outcome.usage.is_empty(), "what it cost before is not known");
    }
}
