//! The usage that an agent reports over the Agent Client Protocol.
//!
//! Owns which model is used and which of the reported counts are already included. Invariant: nothing counts twice.
//! Calls that are reported one by one are counted one by one, and then the turn's sum is not; a sum over the whole
//! process replaces the previous one; a turn that is reported in several places counts once; a reported cost covers
//! all models together, and the cost of a continued conversation counts only from where it continued.

use std::collections::BTreeMap;

use forge_types::Usage;
use forge_types::dialect::microusd;
use serde_json::Value;

use super::super::RunOutcome;

/// Agents whose turns report the sum since their start.
const CUMULATIVE: &[&str] = &["copilot"];
/// Agents whose costs start at zero with each process, even when it continues a conversation.
const COST_PER_PROCESS: &[&str] = &["claude", "codex"];

#[derive(Default)]
pub(super) struct Spend {
    model: String,
    sums: Sums,
    /// The calls of this turn were reported one by one.
    counted_by_call: bool,
    cost: Cost,
    cost_per_process: bool,
    /// The cost of this run so far, as the agent reports it.
    reported_cost: Option<i64>,
}

/// What the usage at the end of a turn covers.
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
        let agent = agent.to_ascii_lowercase();
        self.cost_per_process = COST_PER_PROCESS.iter().any(|name| agent.contains(name));
    }

    /// An earlier conversation continues, and its earlier costs are not this run's.
    pub fn continue_session(&mut self) {
        if !self.cost_per_process {
            self.cost = Cost::Unknown;
        }
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// Reads the model from a session's settings.
    pub fn note_model(&mut self, session: &Value) {
        let models = &session["models"];
        let current = models["currentModelId"].as_str().map(|id| {
            let named = models["availableModels"].as_array().into_iter().flatten();
            let name = named.filter(|model| model["modelId"] == id).find_map(|model| model["name"].as_str());
            // An id may be an internal address of the agent, which means nothing to a reader.
            name.filter(|_| id.contains(['|', '('])).unwrap_or(id)
        });
        let options = session["configOptions"].as_array().into_iter().flatten();
        let configured = options
            .filter(|option| option["category"] == "model" || option["id"] == "model")
            .find_map(|option| option["currentValue"].as_str());
        if let Some(model) = current.or(configured) {
            self.model = model.to_owned();
        }
    }

    /// One call of the model, reported as it ends.
    pub fn note_call(&mut self, usage: &Value, outcome: &mut RunOutcome) {
        if usage.is_object() {
            self.counted_by_call = true;
            outcome.spend(&self.model, count(usage));
        }
    }

    /// What the conversation had cost before this run's prompt.
    pub fn note_past_cost(&mut self, update: &Value) {
        if let Some(total) = cost_in_microusd(update).filter(|_| !self.cost_per_process) {
            self.cost = Cost::Known(total);
        }
    }

    /// What the conversation has cost so far.
    pub fn note_cost(&mut self, update: &Value, outcome: &mut RunOutcome) {
        let Some(total) = cost_in_microusd(update) else { return };
        self.reported_cost = match self.cost {
            // The tokens are priced instead.
            Cost::Unknown => return,
            Cost::Nothing => Some(total),
            Cost::Known(before) => Some(total.saturating_sub(before).max(0)),
        };
        self.assign_cost(outcome);
    }

    /// The end of a turn.
    pub fn end_turn(&mut self, result: &Value, outcome: &mut RunOutcome) {
        if std::mem::take(&mut self.counted_by_call) {
            return;
        }
        if self.sums == Sums::PerProcess && result["usage"].is_object() {
            outcome.set_spent(&self.model, count(&result["usage"]));
        } else {
            for (model, used) in self.turn(result) {
                outcome.spend(&model, used);
            }
        }
        self.assign_cost(outcome);
    }

    /// The usage of a turn, by model. Agents report it as `usage`, as a quota, as a quota by model, or as several
    /// of these; the most detailed complete one counts.
    fn turn(&self, result: &Value) -> Vec<(String, Usage)> {
        let quota = &result["_meta"]["quota"];
        let mut by_model: Vec<_> = either(quota, "model_usage", "modelUsage")
            .as_array()
            .into_iter()
            .flatten()
            .map(|used| {
                let model = used["model"].as_str().unwrap_or(&self.model);
                (model.to_owned(), count(either(used, "token_count", "tokenCount")))
            })
            .filter(|(_, used)| !used.is_zero())
            .collect();
        let whole = [count(&result["usage"]), count(either(quota, "token_count", "tokenCount"))];
        let whole = whole.into_iter().rev().max_by_key(detail).filter(|used| !used.is_zero());
        match (by_model.as_mut_slice(), whole) {
            ([(_, used)], Some(whole)) if detail(&whole) >= detail(used) => *used = whole,
            (models, Some(whole)) if models.iter().map(|(_, used)| sum(used)).sum::<i64>() < sum(&whole) => {
                return vec![(self.model.clone(), whole)];
            }
            _ => {}
        }
        by_model
    }

    /// Assigns the reported cost to the model that was used most, so that no other model is priced as well.
    fn assign_cost(&self, outcome: &mut RunOutcome) {
        let Some(cost) = self.reported_cost else { return };
        let used = outcome.usage.iter().filter(|(_, used)| sum(used) > 0);
        let most = used.max_by_key(|(_, used)| sum(used)).map(|(model, _)| model.clone());
        outcome.usage.retain(|_, used| sum(used) > 0);
        for used in outcome.usage.values_mut() {
            used.cost_microusd = Some(0);
        }
        let model = most.unwrap_or_else(|| self.model.clone());
        outcome.usage.entry(model).or_default().cost_microusd = Some(cost);
    }
}

fn cost_in_microusd(update: &Value) -> Option<i64> {
    let cost = &update["cost"];
    let in_dollars = cost["currency"].as_str().is_none_or(|currency| currency.eq_ignore_ascii_case("USD"));
    microusd(&cost["amount"]).filter(|_| in_dollars)
}

/// The value under one of two spellings of a key.
fn either<'a>(object: &'a Value, one: &str, other: &str) -> &'a Value {
    if object[one].is_null() { &object[other] } else { &object[one] }
}

fn sum(used: &Usage) -> i64 {
    let counts = [used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens];
    counts.into_iter().fold(0, i64::saturating_add)
}

/// More tokens first, then the more detailed split.
fn detail(used: &Usage) -> (i64, i64) {
    (sum(used), used.cache_read_tokens.saturating_add(used.cache_write_tokens))
}

/// Reads counts in any spelling. Some agents include cached input and reasoning in input and output, some count
/// them separately; the total shows which.
fn count(reported: &Value) -> Usage {
    let spelled = reported.as_object().into_iter().flatten();
    let counts: BTreeMap<String, i64> = spelled
        .filter_map(|(key, count)| Some((key.replace('_', "").to_ascii_lowercase(), count.as_i64()?.max(0))))
        .collect();
    let number = |keys: &[&str]| keys.iter().find_map(|key| counts.get(*key)).copied().unwrap_or(0);
    let (input, output) = (number(&["inputtokens"]), number(&["outputtokens"]));
    let read = number(&["cachedreadtokens", "cachedinputtokens", "cachereadinputtokens", "cachereadtokens"]);
    let written = number(&[
        "cachedwritetokens",
        "cachecreationinputtokens",
        "cachewriteinputtokens",
        "cachewritetokens",
    ]);
    let thought = number(&["thoughttokens", "reasoningoutputtokens", "reasoningtokens"]);
    let cached = read.saturating_add(written);
    let beside = |cached: i64, thought: i64| {
        counts.get("totaltokens")
            == Some(&[input, output, cached, thought].into_iter().fold(0, i64::saturating_add))
    };
    let (cache_within, thought_within) = match () {
        () if beside(0, 0) => (true, true),
        () if beside(cached, 0) => (false, true),
        () if beside(0, thought) => (true, false),
        () => (false, false),
    };
    Usage {
        input_tokens: if cache_within { input.saturating_sub(cached).max(0) } else { input },
        output_tokens: if thought_within { output } else { output.saturating_add(thought) },
        cache_read_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: thought,
        cost_microusd: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_total_shows_what_is_counted_within() {
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
            let (mut spend, mut outcome) = (Spend::default(), RunOutcome::default());
            spend.introduce(agent);
            spend.end_turn(&turn(10), &mut outcome);
            spend.end_turn(&turn(30), &mut outcome);
            assert_eq!(outcome.usage[""].input_tokens, want, "{agent}");
        }
    }

    #[test]
    fn a_turn_that_is_reported_in_several_places_and_spellings_counts_once() {
        let usage =
            json!({"inputTokens": 468, "outputTokens": 112, "cachedReadTokens": 2000, "totalTokens": 2580});
        let camel = json!({"inputTokens": 468, "outputTokens": 112, "cachedInputTokens": 2000,
                           "reasoningOutputTokens": 14, "totalTokens": 2580});
        let snake = json!({"input_tokens": 468, "output_tokens": 112, "cached_read_tokens": 2000});
        let rough = json!({"inputTokens": 2468, "outputTokens": 112});
        let quota = |count: &Value| json!({"token_count": count, "model_usage": [{"model": "m", "token_count": count}]});
        let other_keys = json!({"tokenCount": camel, "modelUsage": [{"model": "m", "tokenCount": camel}]});
        for result in [
            json!({"usage": usage, "_meta": {"quota": quota(&camel)}}),
            json!({"usage": usage, "_meta": {"quota": quota(&snake)}}),
            json!({"usage": usage, "_meta": {"quota": quota(&rough)}}),
            json!({"usage": usage, "_meta": {"quota": quota(&json!({}))}}),
            json!({"usage": usage, "_meta": {"quota": {"token_count": null, "model_usage": []}}}),
            json!({"usage": null, "_meta": {"quota": quota(&camel)}}),
            json!({"usage": usage, "_meta": {"quota": other_keys}}),
            json!({"usage": usage}),
        ] {
            let (mut spend, mut outcome) = (Spend::default(), RunOutcome::default());
            spend.end_turn(&result, &mut outcome);
            let used: Vec<_> = outcome.usage.values().collect();
            assert_eq!(used.len(), 1, "{result}");
            let counts = (used[0].input_tokens, used[0].output_tokens, used[0].cache_write_tokens);
            assert_eq!((counts, used[0].cache_read_tokens), ((468, 112, 0), 2000), "{result}");
        }
    }

    #[test]
    fn models_are_counted_by_name_unless_that_leaves_something_out() {
        let of = |model: &str, input: i64| json!({"model": model, "token_count": {"inputTokens": input}});
        for (total, want) in [(30, vec![("big", 20), ("small", 10)]), (50, vec![("", 50)])] {
            let (mut spend, mut outcome) = (Spend::default(), RunOutcome::default());
            let quota = json!({"model_usage": [of("big", 20), of("small", 10)]});
            spend
                .end_turn(&json!({"usage": {"inputTokens": total}, "_meta": {"quota": quota}}), &mut outcome);
            let counted: Vec<_> =
                outcome.usage.iter().map(|(model, used)| (model.as_str(), used.input_tokens)).collect();
            assert_eq!(counted, want);
        }
    }

    #[test]
    fn a_reported_cost_covers_all_models() {
        let of = |model: &str, input: i64| json!({"model": model, "token_count": {"inputTokens": input}});
        let (mut spend, mut outcome) = (Spend::default(), RunOutcome::default());
        spend.model = "default".into();
        spend.note_cost(&json!({"cost": {"amount": 0.5, "currency": "USD"}}), &mut outcome);
        assert_eq!(outcome.usage["default"].cost_microusd, Some(500_000));
        let quota = json!({"model_usage": [of("big", 20), of("small", 10)]});
        spend.end_turn(&json!({"_meta": {"quota": quota}}), &mut outcome);
        let costs: Vec<_> =
            outcome.usage.iter().map(|(model, used)| (model.as_str(), used.cost_microusd)).collect();
        assert_eq!(costs, [("big", Some(500_000)), ("small", Some(0))]);
    }

    #[test]
    fn the_cost_of_an_earlier_run_is_not_this_ones() {
        let cost = |amount: f64| json!({"cost": {"amount": amount, "currency": "USD"}});
        let (mut spend, mut outcome) = (Spend::default(), RunOutcome::default());
        spend.continue_session();
        spend.note_past_cost(&cost(0.5));
        spend.note_cost(&cost(0.75), &mut outcome);
        assert_eq!(outcome.usage[""].cost_microusd, Some(250_000));
        let (mut spend, mut outcome) = (Spend::default(), RunOutcome::default());
        spend.continue_session();
        spend.note_cost(&cost(0.75), &mut outcome);
        assert!(outcome.usage.is_empty(), "what it cost before is not known");
    }

    #[test]
    fn a_resumed_turn_of_an_agent_that_counts_costs_per_process_has_its_cost() {
        for agent in ["@agentclientprotocol/claude-agent-acp", "codex-acp"] {
            let (mut spend, mut outcome) = (Spend::default(), RunOutcome::default());
            spend.introduce(agent);
            spend.continue_session();
            let cost = json!({"cost": {"amount": 0.00307, "currency": "USD"}});
            spend.note_cost(&cost, &mut outcome);
            let turn = json!({"usage": {"inputTokens": 234, "outputTokens": 56, "totalTokens": 290}});
            spend.end_turn(&turn, &mut outcome);
            assert_eq!(outcome.usage[""].cost_microusd, Some(3070), "{agent}");
            assert_eq!(outcome.usage[""].input_tokens, 234, "{agent}");
        }
    }
}
