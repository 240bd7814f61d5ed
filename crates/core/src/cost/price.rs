//! What models cost.
//!
//! Owns the table of prices that comes with Forge (`prices.json`, dated) under the one of the user (`prices.json` in
//! Forge's home). Invariants: a cost that the agent reports is never recomputed; a model that is in neither table has no
//! cost, and nothing is guessed from the price of another; a broken file of the user changes nothing.
//!
//! A name of the table stands for itself and for its dated and suffixed forms (`-20250514`, `-latest`, `[1m]`, `@…`, `:…`),
//! with or without the name of a provider before it. The longest name that fits counts.

use std::collections::BTreeMap;
use std::path::Path;

use forge_store::UsageLine;
use forge_types::{CostSource, Day, ModelUsage, Usage};
use serde_json::{Map, Value};

const BUILT_IN: &str = include_str!("../../prices.json");
const FIELDS: [&str; 4] = ["input", "output", "cache_read", "cache_write"];

/// In dollars per million tokens, which is millionths of a dollar per token.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Price {
    input: f64,
    output: f64,
    /// Where a provider has no price of its own for these, they are billed as input.
    cache_read: f64,
    cache_write: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Prices {
    as_of: String,
    /// By the folded name of the model.
    models: BTreeMap<String, Price>,
}

impl Prices {
    /// The built-in prices with those of the user over them.
    pub(crate) fn load(home: &Path) -> Prices {
        let mut prices = read(BUILT_IN).unwrap_or_else(|problem| {
            tracing::error!("the built-in prices cannot be read: {problem}");
            Prices::default()
        });
        let path = home.join("prices.json");
        let own = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return prices,
            Err(error) => Err(format!("it cannot be read: {error}")),
            Ok(text) => read(&text),
        };
        match own {
            Ok(own) => {
                prices.models.extend(own.models);
                prices.as_of = prices.as_of.max(own.as_of);
            }
            Err(problem) => {
                tracing::error!("{}: {problem}; the built-in prices are used", path.display());
            }
        }
        prices
    }

    /// The newest date of the tables.
    pub(crate) fn as_of(&self) -> &str {
        &self.as_of
    }

    /// What a run used, with its costs.
    pub(crate) fn settle(&self, usage: &ModelUsage) -> Vec<UsageLine> {
        usage.iter().map(|(model, usage)| self.price(model, *usage)).collect()
    }

    /// What was used of a model, with its cost.
    pub(crate) fn price(&self, model: &str, usage: Usage) -> UsageLine {
        let (cost_microusd, source) = match usage.cost_microusd {
            Some(reported) => (Some(reported), Some(CostSource::Reported)),
            None => {
                let computed = self.cost_microusd(model, &usage);
                (computed, computed.map(|_| CostSource::Computed))
            }
        };
        UsageLine { model: model.to_owned(), usage: Usage { cost_microusd, ..usage }, source }
    }

    fn cost_microusd(&self, model: &str, usage: &Usage) -> Option<i64> {
        let price = self.find(model)?;
        let part = |tokens: i64, price: f64| tokens as f64 * price;
        let sum = part(usage.input_tokens, price.input)
            + part(usage.output_tokens, price.output)
            + part(usage.cache_read_tokens, price.cache_read)
            + part(usage.cache_write_tokens, price.cache_write);
        Some(sum.round() as i64)
    }

    fn find(&self, model: &str) -> Option<&Price> {
        let folded = fold(model);
        // `openai/gpt-…`, `models/gemini-…` and `us.anthropic.claude-…` name the provider first.
        let name = folded.rsplit('/').next().unwrap_or_default();
        let name = name.split_once("anthropic-").map_or(name, |(_, name)| name);
        let fits =
            self.models.iter().filter(|(known, _)| name.strip_prefix(known.as_str()).is_some_and(is_form));
        fits.max_by_key(|(known, _)| known.len()).map(|(_, price)| price)
    }
}

/// Whether what follows a name is still the same model.
fn is_form(rest: &str) -> bool {
    let Some(suffix) = rest.strip_prefix('-') else {
        return rest.is_empty() || rest.starts_with(['[', '@', ':']);
    };
    let digits = suffix.bytes().take_while(u8::is_ascii_digit).count();
    digits >= 3 || suffix == "latest" || suffix.starts_with("preview")
}

/// Names differ in case and in how they write versions.
fn fold(model: &str) -> String {
    model.trim().to_ascii_lowercase().replace('.', "-")
}

fn read(text: &str) -> Result<Prices, String> {
    let file: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let models = file.get("models").and_then(Value::as_object);
    let models = models.ok_or("models: missing; expected an object of prices by model")?;
    let as_of = match file.get("as_of") {
        None => String::new(),
        Some(Value::String(day)) => {
            day.parse::<Day>().map_err(|wrong| format!("as_of: {wrong}"))?.to_string()
        }
        Some(other) => {
            return Err(format!("as_of: {other} is not allowed; allowed: a date such as \"2026-11-16\""));
        }
    };
    let mut prices = Prices { as_of, models: BTreeMap::new() };
    for (model, fields) in models {
        let fields = fields.as_object().ok_or_else(|| {
            format!("models.{model}: {fields} is not allowed; allowed: an object with {}", FIELDS.join(", "))
        })?;
        prices.models.insert(fold(model), price(model, fields)?);
    }
    Ok(prices)
}

fn price(model: &str, fields: &Map<String, Value>) -> Result<Price, String> {
    if let Some(unknown) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(format!("models.{model}.{unknown}: unknown; allowed: {}", FIELDS.join(", ")));
    }
    let amount = |field: &str| match fields.get(field) {
        None => Ok(None),
        Some(given) => match given.as_f64().filter(|usd| (0.0..=1e6).contains(usd)) {
            Some(usd) => Ok(Some(usd)),
            None => Err(format!(
                "models.{model}.{field}: {given} is not allowed; allowed: dollars per million tokens, 0 or more"
            )),
        },
    };
    let missing = |field: &str| format!("models.{model}.{field}: missing; it is dollars per million tokens");
    let input = amount("input")?.ok_or_else(|| missing("input"))?;
    Ok(Price {
        input,
        output: amount("output")?.ok_or_else(|| missing("output"))?,
        cache_read: amount("cache_read")?.unwrap_or(input),
        cache_write: amount("cache_write")?.unwrap_or(input),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in() -> Prices {
        read(BUILT_IN).unwrap()
    }

    fn usage(input: i64, output: i64, cache_read: i64, cache_write: i64) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            ..Usage::default()
        }
    }

    #[test]
    fn a_cost_is_what_the_agent_itself_computes() {
        // As Claude Code reported it: 0.00614 dollars.
        let cost = built_in().cost_microusd("claude-opus-4-8[1m]", &usage(468, 112, 2000, 0));
        assert_eq!(cost, Some(6140));
        assert_eq!(
            built_in().cost_microusd("gpt-5-codex", &usage(1_000_000, 1_000_000, 1_000_000, 0)),
            Some(11_375_000)
        );
        let written = built_in().cost_microusd("gpt-5", &usage(0, 0, 0, 100));
        assert_eq!(written, Some(125), "without a price of its own what is written to a cache is input");
    }

    #[test]
    fn a_name_stands_for_its_forms_and_for_no_other_model() {
        let prices = built_in();
        let price = |model| prices.find(model).map(|price| price.input);
        for (model, input) in [
            ("claude-opus-4-8", 5.0),
            ("claude-opus-4-20250514", 15.0),
            ("claude-opus-4-5-20251101", 5.0),
            ("us.anthropic.claude-opus-4-5-20251101-v1:0", 5.0),
            ("anthropic/claude-sonnet-4.5", 3.0),
            ("Claude-Sonnet-5", 2.0),
            ("gpt-5", 1.25),
            ("gpt-5-2025-08-07", 1.25),
            ("gpt-5-mini", 0.25),
            ("openai/gpt-5.1-codex-mini", 0.25),
            ("models/gemini-2.5-flash-lite", 0.1),
            ("gemini-3-pro-preview", 2.0),
            ("o3", 2.0),
        ] {
            assert_eq!(price(model), Some(input), "{model}");
        }
        for model in [
            "gpt-5.9",
            "gpt-5-ultra",
            "claude-opus-4-9",
            "claude-opus",
            "fake-model",
            "",
            "o3-pro",
            "qwen3-max",
            "my-gpt-5",
        ] {
            assert_eq!(price(model), None, "{model}");
        }
    }

    #[test]
    fn what_the_agent_tells_wins_and_the_unknown_has_no_cost() {
        let reported = Usage { cost_microusd: Some(7), ..usage(1000, 0, 0, 0) };
        let used = ModelUsage::from([
            ("claude-opus-5".to_owned(), reported),
            ("gpt-5".to_owned(), usage(1000, 0, 0, 0)),
            ("mystery".to_owned(), usage(1000, 0, 0, 0)),
        ]);
        let lines = built_in().settle(&used);
        let costs: Vec<_> = lines.iter().map(|line| (line.usage.cost_microusd, line.source)).collect();
        let expected =
            [(Some(7), Some(CostSource::Reported)), (Some(1250), Some(CostSource::Computed)), (None, None)];
        assert_eq!(costs, expected);
    }

    #[test]
    fn the_user_adds_and_overrides_and_a_broken_file_changes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let write = |text: &str| std::fs::write(home.path().join("prices.json"), text).unwrap();
        assert_eq!(Prices::load(home.path()), built_in());
        write(
            r#"{"as_of": "2999-01-01", "models": {"gpt-5": {"input": 1, "output": 2}, "Mine": {"input": 3, "output": 4}}}"#,
        );
        let prices = Prices::load(home.path());
        assert_eq!((prices.as_of(), prices.find("mine@v2").unwrap().output), ("2999-01-01", 4.0));
        assert_eq!(prices.find("gpt-5").unwrap().input, 1.0);
        assert_eq!(prices.find("gpt-5-mini"), built_in().find("gpt-5-mini"));
        write("{");
        assert_eq!(Prices::load(home.path()), built_in());
    }

    #[test]
    fn what_is_wrong_in_a_file_is_named() {
        for (text, words) in [
            ("[]", ["models", "missing"]),
            (r#"{"models": {"m": 3}}"#, ["models.m", "3"]),
            (r#"{"models": {"m": {"input": -1, "output": 1}}}"#, ["models.m.input", "-1"]),
            (r#"{"models": {"m": {"input": 1}}}"#, ["models.m.output", "missing"]),
            (r#"{"models": {"m": {"input": 1, "output": "2"}}}"#, ["models.m.output", "\"2\""]),
            (r#"{"models": {"m": {"in": 1}}}"#, ["models.m.in", "cache_read"]),
            (r#"{"as_of": "soon", "models": {}}"#, ["as_of", "'soon'"]),
        ] {
            let problem = read(text).unwrap_err();
            assert!(words.iter().all(|word| problem.contains(word)), "{problem}");
        }
    }
}
