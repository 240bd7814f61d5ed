//! Answers that cannot be read here, because the server is of another version.
//!
//! Invariant: an answer is read whole or not at all. A row that was left out could be the one that a command is about,
//! so a word that is not known here is an error, which names its place.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Kind};

/// A word that no list of words has.
const PROBE: &str = "?probe?";

pub fn read<T: DeserializeOwned>(data: Value) -> Result<T, Error> {
    T::deserialize(&data).map_err(|cause| {
        let place = place::<T>(&data, &cause.to_string()).map(|place| format!("{place}: "));
        let message = format!("unexpected answer: {}{cause}", place.unwrap_or_default());
        Error::new(Kind::Unexpected, message)
            .hint("the server may be of another version: update forge, and restart the server if it is older")
    })
}

/// Where the word stands that the cause quotes first. The same word may be right elsewhere, so it is exchanged in turn:
/// in the right place that changes the cause.
fn place<T: DeserializeOwned>(data: &Value, cause: &str) -> Option<String> {
    let word = cause.split(['`', '\'', '"']).nth(1)?;
    let is_wrong = |place: &String| {
        let mut changed = data.clone();
        if let Some(found) = changed.pointer_mut(place) {
            *found = PROBE.into();
        }
        T::deserialize(&changed).is_err_and(|cause| cause.to_string().contains(PROBE))
    };
    places(data, word).into_iter().find(is_wrong)
}

/// The pointers to a text.
fn places(data: &Value, word: &str) -> Vec<String> {
    let below = |key: &dyn ToString, inner| {
        let key = key.to_string();
        places(inner, word).into_iter().map(move |rest| format!("/{key}{rest}"))
    };
    match data {
        Value::String(text) if text == word => vec![String::new()],
        Value::Array(items) => items.iter().enumerate().flat_map(|(at, item)| below(&at, item)).collect(),
        Value::Object(fields) => fields.iter().flat_map(|(key, field)| below(key, field)).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use forge_types::{AttemptStatus, ListedAttempt};
    use serde_json::json;

    use super::*;

    fn attempts(status: &str, executor: &str) -> Value {
        let (id, at) = ("f8924071-fa8e-43ee-8fbc-96ec5b49b3da", "2026-11-01T00:00:00Z");
        let attempt = |title: &str, status: &str, executor: &str| {
            json!({
                "id": id, "task_id": id, "project_id": id, "branch": "b", "target_branch": "main",
                "executor": executor, "executor_profile_id": {"executor": executor}, "worktree_deleted": false,
                "created_at": at, "updated_at": at, "status": status, "task_title": title,
            })
        };
        json!([attempt("paused", "running", "CODEX"), attempt("t", status, executor)])
    }

    #[test]
    fn a_word_of_tomorrow_is_an_error_that_names_its_place_and_what_to_do() {
        let read = |status, executor| read::<Vec<ListedAttempt>>(attempts(status, executor));
        assert_eq!(read("failed", "CODEX").unwrap()[1].attempt.status, AttemptStatus::Failed);
        let status = read("paused", "CODEX").unwrap_err();
        assert_eq!(status.kind, Kind::Unexpected);
        assert!(
            status.message.starts_with("unexpected answer: /1/status: unknown variant `paused`"),
            "{status}"
        );
        assert!(status.hint.is_some_and(|hint| hint.contains("update forge")));
        let agent = read("failed", "AGENT_OF_TOMORROW").unwrap_err().message;
        assert!(
            agent.starts_with("unexpected answer: /1/executor_profile_id/executor: unknown executor"),
            "{agent}"
        );
    }

    #[test]
    fn a_key_that_an_older_server_does_not_have_is_named() {
        let mut old = attempts("failed", "CODEX");
        old[0].as_object_mut().unwrap().remove("branch");
        let error = read::<Vec<ListedAttempt>>(old).unwrap_err();
        assert!(error.message.contains("missing field `branch`"), "{error}");
    }
}
