//! Parses what a launcher printed.

use serde_json::{Map, Value};

/// Read leniently: every field may be missing or of an unexpected type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) pid: Option<u32>,
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    pub(super) message: Option<String>,
    pub(super) bead_id: Option<String>,
    pub(super) bead_title: Option<String>,
    /// Why it failed, in its own words.
    pub(super) error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Json(Answer),
    /// One word: the name of the session.
    Name(String),
    Nothing,
    /// Anything else.
    Text(String),
}

/// Text may surround the object; the last complete one counts.
pub(super) fn parse(stdout: &str) -> Output {
    if let Some(object) = last_object(&fill_empty_pid(stdout)) {
        return Output::Json(Answer::from(&object));
    }
    let text = stdout.trim();
    match text {
        "" => Output::Nothing,
        _ if text.contains(char::is_whitespace) || text.contains(['{', '}']) => Output::Text(text.to_owned()),
        _ => Output::Name(text.to_owned()),
    }
}

impl Answer {
    fn from(object: &Map<String, Value>) -> Answer {
        let text = |key: &str| {
            object
                .get(key)
                .and_then(Value::as_str)
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let pid = match object.get("pid") {
            Some(Value::String(digits)) => digits.trim().parse().ok(),
            Some(number) => number.as_u64().and_then(|pid| u32::try_from(pid).ok()),
            None => None,
        };
        let failed = text("status").is_some_and(|word| word.eq_ignore_ascii_case("failed"));
        let error = text("error").or_else(|| {
            failed.then(|| text("message").unwrap_or_else(|| "it reports the status `failed`".to_owned()))
        });
        Answer {
            pid: pid.filter(|pid| *pid != 0),
            session: text("session"),
            model: text("model"),
            message: text("message"),
            bead_id: text("bead_id").or_else(|| text("bead_ref")),
            bead_title: text("bead_title"),
            error,
        }
    }
}

/// A launcher that asks tmux for a format that does not exist, like `#{session_pid}`, prints `"pid": ,`.
fn fill_empty_pid(text: &str) -> String {
    const KEY: &str = "\"pid\"";
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(KEY) {
        filled.push_str(before);
        filled.push_str(KEY);
        rest = after;
        if let Some(value) = after.trim_start().strip_prefix(':')
            && value.trim_start().starts_with([',', '}'])
        {
            filled.push_str(": null");
            rest = value;
        }
    }
    filled.push_str(rest);
    filled
}

/// The last object that is not inside another one. Braces in log lines are tried and skipped.
fn last_object(text: &str) -> Option<Map<String, Value>> {
    let mut found = None;
    let mut at = 0;
    while let Some(open) = text[at..].find('{') {
        let start = at + open;
        let mut objects =
            serde_json::Deserializer::from_str(&text[start..]).into_iter::<Map<String, Value>>();
        match objects.next() {
            Some(Ok(object)) => {
                at = start + objects.byte_offset();
                found = Some(object);
            }
            _ => at = start + 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Answer {
        match parse(text) {
            Output::Json(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_complete_object_counts() {
        let text = "[info] {starting} set {\"a\": 1\n{\"pid\": 1, \"session\": \"old\"}\nlog {x}\n\
                    {\"pid\": 42, \"session\": \"new\", \"model\": \"m\", \"message\": \"{ok}\",\n\
                     \"bead_id\": \"fg-1\", \"bead_title\": \"T\", \"extra\": {\"pid\": 7}}\ndone }\n";
        let expected = Answer {
            pid: Some(42),
            session: Some("new".into()),
            model: Some("m".into()),
            message: Some("{ok}".into()),
            bead_id: Some("fg-1".into()),
            bead_title: Some("T".into()),
            error: None,
        };
        assert_eq!(answer(text), expected);
    }

    #[test]
    fn an_answer_may_be_small_or_odd() {
        assert_eq!(answer(r#"{"worker_id":"a","pid":"17","status":"spawned"}"#).pid, Some(17));
        assert_eq!(answer(r#"{"pid":0,"session":""}"#), Answer::default());
        assert_eq!(answer(r#"{"pid":-3,"session":null}"#), Answer::default());
        assert_eq!(answer(r#"{"bead_ref":"fg-2"}"#).bead_id.as_deref(), Some("fg-2"));
    }

    #[test]
    fn a_pid_that_was_left_empty_is_none() {
        let expected = Answer { session: Some("x".into()), ..Answer::default() };
        assert_eq!(answer("{\n  \"pid\": ,\n  \"session\": \"x\"\n}"), expected);
        assert_eq!(answer(r#"{"session": "x", "pid" :}"#), expected);
        // Of others nothing is guessed.
        assert!(matches!(parse(r#"{"pid": 1, "session": }"#), Output::Text(_)));
    }

    #[test]
    fn failures_are_recognised_in_both_forms() {
        assert_eq!(answer(r#"{"pid":0,"session":"","error":"no key"}"#).error.as_deref(), Some("no key"));
        assert_eq!(answer(r#"{"status":"failed","message":"why"}"#).error.as_deref(), Some("why"));
        assert!(answer(r#"{"status":"failed"}"#).error.is_some());
        assert_eq!(answer(r#"{"pid":3,"error":""}"#).error, None);
    }

    #[test]
    fn without_json_one_word_is_the_session() {
        assert_eq!(parse("\n forge-worker-a \n"), Output::Name("forge-worker-a".into()));
        assert_eq!(parse("  \n"), Output::Nothing);
        assert_eq!(parse("Started worker a"), Output::Text("Started worker a".into()));
    }
}
