//! Errors of agents and providers, in the provider's words as far as they are known.
//!
//! Owns how errors are read. Invariant: a limit is reported only when the text or the code says so, and its end
//! only when the text names it.

use forge_types::Millis;
use serde_json::Value;

use super::super::setup::wants_setup;

/// The user must log in to the agent first.
const AUTH_REQUIRED: i64 = -32000;

pub(super) struct Failure {
    pub message: String,
    /// The provider temporarily refuses to serve: until when, if it said so.
    pub limit: Option<Option<Millis>>,
    pub wants_login: bool,
}

impl Failure {
    /// A JSON-RPC error.
    pub fn from_rpc(error: &Value, at_ms: i64) -> Failure {
        let code = error["code"].as_i64();
        let message = error["message"].as_str().unwrap_or_default();
        let data = &error["data"];
        let detail = ["details", "message", "error"].iter().find_map(|key| data[*key].as_str());
        let detail = detail.or(data.as_str()).filter(|detail| !message.contains(detail));
        let text = match (inner_message(message), detail) {
            (text, Some(detail)) if !text.is_empty() => format!("{text}: {detail}"),
            (text, None) if !text.is_empty() => text,
            (_, Some(detail)) => detail.to_owned(),
            _ => format!("the agent reported an error without a message: {error}"),
        };
        let mut failure = Failure::from_text(&text, at_ms);
        if code == Some(429) && failure.limit.is_none() {
            failure.limit = Some(reset_in(&text, at_ms));
        }
        failure.wants_login |= code == Some(AUTH_REQUIRED);
        failure
    }

    /// An error that is reported as text.
    pub fn from_text(text: &str, at_ms: i64) -> Failure {
        let low = text.to_ascii_lowercase();
        let signs = ["too many requests", "rate limit", "rate_limit", "usage limit", "resource_exhausted"];
        let numbered = low.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "429");
        let limited = numbered || signs.iter().any(|sign| low.contains(sign));
        Failure {
            message: text.to_owned(),
            limit: limited.then(|| reset_in(&low, at_ms)),
            wants_login: wants_setup(text),
        }
    }
}

/// Some agents pass on the provider's JSON unchanged.
fn inner_message(message: &str) -> String {
    let inner = serde_json::from_str::<Value>(message).ok();
    let inner = inner.as_ref().and_then(|value| value["error"]["message"].as_str());
    inner.unwrap_or(message).trim().to_owned()
}

/// The time to try again, if the text names a delay.
fn reset_in(text: &str, at_ms: i64) -> Option<Millis> {
    let low = text.to_ascii_lowercase();
    let rest = ["retry in ", "retry after ", "try again in "]
        .iter()
        .find_map(|words| low.split_once(words).map(|(_, rest)| rest.to_owned()))?;
    let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let unit = rest[number.len()..].trim_start();
    let seconds: f64 = number.trim_end_matches('.').parse().ok()?;
    let factor = match unit {
        unit if unit.starts_with("ms") => 1.0,
        unit if unit.starts_with('s') => 1000.0,
        unit if unit.starts_with('m') => 60_000.0,
        unit if unit.starts_with('h') => 3_600_000.0,
        _ => return None,
    };
    Some(Millis(at_ms.saturating_add((seconds * factor) as i64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_providers_own_message_is_shown() {
        let cases = [
            (json!({"code": 500, "message": "{\"error\":{\"code\":500,\"message\":\"boom\"}}"}), "boom"),
            (
                json!({"code": -32603, "message": "Internal error", "data": {"details": "no key"}}),
                "Internal error: no key",
            ),
            (json!({"code": -32603, "message": "", "data": "only this"}), "only this"),
        ];
        for (error, want) in cases {
            let failure = Failure::from_rpc(&error, 0);
            assert_eq!((failure.message.as_str(), failure.limit), (want, None));
        }
        assert!(
            Failure::from_rpc(&json!({"code": -32000, "message": "Authentication required"}), 0).wants_login
        );
    }

    #[test]
    fn a_limit_and_its_end_are_recognised() {
        let limit = |text: &str| Failure::from_text(text, 1000).limit;
        assert_eq!(limit("Last error: 500 scripted error"), None);
        assert_eq!(limit("port 4290 is in use"), None);
        assert_eq!(limit("Last error: 429 scripted"), Some(None));
        assert_eq!(limit("Rate limit reached. Please retry in 2.5s."), Some(Some(Millis(3500))));
        assert_eq!(limit("429: try again in 3 minutes"), Some(Some(Millis(181_000))));
        assert_eq!(Failure::from_rpc(&json!({"code": 429, "message": "slow down"}), 0).limit, Some(None));
    }
}
