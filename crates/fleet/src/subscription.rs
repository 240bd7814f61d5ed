//! The user's plans with providers: `subscriptions.yaml`.
//!
//! Only reads it. Invariants: pure apart from the reading; a plan that is inactive or has no quota does not restrict a
//! model.

use std::path::Path;

use jiff::civil::Date;
use serde::Deserialize;

/// Quota that expires within this time should be used first.
const SOON_DAYS: i32 = 1;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    FixedQuota,
    Unlimited,
    #[default]
    PayPerUse,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Subscription {
    pub provider: String,
    #[serde(default)]
    pub plan: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default, rename = "subscription_type")]
    pub kind: Kind,
    #[serde(default)]
    pub monthly_tokens: Option<f64>,
    #[serde(default)]
    pub current_usage: Option<f64>,
    /// A day of the month, or a date.
    #[serde(default)]
    renewal_date: Option<Renewal>,
    #[serde(default = "yes")]
    pub active: bool,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Renewal {
    Number(i8),
    Text(String),
}

#[derive(Default, Deserialize)]
struct File {
    #[serde(default)]
    subscriptions: Vec<Subscription>,
}

fn yes() -> bool {
    true
}

/// What a plan allows today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// It is used up until its renewal, if that is known.
    Depleted {
        until: Option<Date>,
    },
    /// What is left expires within a day.
    EndsSoon,
    Plain,
}

/// The plans of a file. A missing file has none; an error says what is wrong with it.
pub fn read(file: &Path) -> Result<Vec<Subscription>, String> {
    match std::fs::read_to_string(file) {
        Ok(text) => parse(&text).map_err(|why| format!("{}: {why}", file.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

fn parse(text: &str) -> Result<Vec<Subscription>, String> {
    let file: Option<File> = yaml_serde::from_str(text).map_err(|error| error.to_string())?;
    Ok(file.unwrap_or_default().subscriptions)
}

impl Subscription {
    /// Whether the plan covers a model of an agent. A plan without a model covers all of its provider.
    pub fn covers(&self, agent: &str, model: &str) -> bool {
        let (agent, model) = (agent.to_lowercase(), model.to_lowercase());
        match &self.model {
            Some(named) => {
                let named = named.to_lowercase();
                named == model || named.split(['-', '/', '.']).any(|part| part == model)
            }
            None => {
                let provider = self.provider.to_lowercase();
                let is_of =
                    |names: &[&str], word: &str| names.contains(&provider.as_str()) && agent.contains(word);
                agent.contains(&provider)
                    || is_of(&["anthropic", "claude"], "claude")
                    || is_of(&["openai", "chatgpt"], "codex")
                    || is_of(&["google"], "gemini")
            }
        }
    }

    pub fn allowance(&self, today: Date) -> Allowance {
        let (Kind::FixedQuota, true, Some(most)) = (self.kind, self.active, self.monthly_tokens) else {
            return Allowance::Plain;
        };
        let renewal = self.next_renewal(today);
        if self.current_usage.unwrap_or(0.0) >= most {
            return Allowance::Depleted { until: renewal };
        }
        let is_soon =
            renewal.and_then(|day| today.until(day).ok()).is_some_and(|left| left.get_days() <= SOON_DAYS);
        if is_soon { Allowance::EndsSoon } else { Allowance::Plain }
    }

    /// The first day after today on which it is renewed.
    fn next_renewal(&self, today: Date) -> Option<Date> {
        let of_month = |day: i8| {
            let this = today
                .first_of_month()
                .saturating_add(jiff::Span::new().days(i32::from(day.clamp(1, 31)) - 1));
            let this = this.min(today.last_of_month());
            if this > today {
                return Some(this);
            }
            let next = today.last_of_month().tomorrow().ok()?;
            let day = next.saturating_add(jiff::Span::new().days(i32::from(day.clamp(1, 31)) - 1));
            Some(day.min(next.last_of_month()))
        };
        match self.renewal_date.as_ref()? {
            Renewal::Number(day) => of_month(*day),
            Renewal::Text(text) => match text.trim().parse::<i8>() {
                Ok(day) => of_month(day),
                Err(_) => text.trim().parse::<Date>().ok().filter(|day| *day > today),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "subscriptions:
  - {provider: anthropic, model: claude-opus-4, subscription_type: fixed_quota, monthly_tokens: 100, current_usage: 100, renewal_date: '15'}
  - {provider: openai, plan: Plus, subscription_type: fixed_quota, monthly_tokens: 100, current_usage: 10, renewal_date: 2026-02-03, more: x}
  - {provider: google, subscription_type: unlimited}
";

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn a_plan_that_is_used_up_waits_for_its_renewal_and_one_that_ends_is_used_first() {
        let plans = parse(FILE).unwrap();
        assert_eq!(
            plans[0].allowance(day("2026-02-03")),
            Allowance::Depleted { until: Some(day("2026-02-15")) }
        );
        assert_eq!(
            plans[0].allowance(day("2026-02-15")),
            Allowance::Depleted { until: Some(day("2026-03-15")) }
        );
        assert_eq!(plans[1].allowance(day("2026-02-02")), Allowance::EndsSoon);
        assert_eq!(plans[1].allowance(day("2026-01-02")), Allowance::Plain);
        assert_eq!(plans[2].allowance(day("2026-01-02")), Allowance::Plain);
        let last = Subscription { renewal_date: Some(Renewal::Number(31)), ..plans[0].clone() };
        assert_eq!(last.allowance(day("2026-02-03")), Allowance::Depleted { until: Some(day("2026-02-28")) });
        let off = Subscription { active: false, ..plans[0].clone() };
        assert_eq!(off.allowance(day("2026-02-03")), Allowance::Plain);
    }

    #[test]
    fn a_plan_pays_for_its_model_or_for_all_of_its_provider() {
        let plans = parse(FILE).unwrap();
        assert!(plans[0].covers("CLAUDE_CODE", "opus") && !plans[0].covers("CLAUDE_CODE", "sonnet"));
        assert!(plans[1].covers("CODEX", "gpt-5") && !plans[1].covers("CLAUDE_CODE", "opus"));
        assert!(parse("").unwrap().is_empty() && parse("subscriptions: 3").is_err());
    }
}
