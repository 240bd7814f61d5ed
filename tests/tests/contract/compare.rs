//! What counts as the same answer: status, keys, JSON types, words of closed vocabularies.
//!
//! Additional keys are allowed, missing ones are not. A recorded null says nothing about the type. Lists of the same
//! length are compared one by one, others by the form of the first recorded element.

use std::collections::BTreeSet;

use serde_json::Value;

/// Keys whose values are words or flags the contract fixes.
const CLOSED: [&str; 22] = [
    "success",
    "status",
    "run_reason",
    "type",
    "draft_type",
    "match_type",
    "conflict_op",
    "change",
    "language",
    "context",
    "executor",
    "action",
    "is_current",
    "is_remote",
    "queued",
    "dropped",
    "exit_code",
    "is_file",
    "is_directory",
    "is_git_repo",
    "contentOmitted",
    "op",
];

/// How much the two have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// The same thing at the same moment of the story: closed words must be equal.
    Same,
    /// Another thing of the same kind: only keys and types can be held against each other.
    Kind,
}

/// Differences, one line each, in the words of `differences.json`.
pub fn differences(recorded: &Value, actual: &Value, likeness: Likeness) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    walk("$", "", recorded, actual, likeness, &mut found);
    found
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_id(key: &str) -> bool {
    uuid::Uuid::parse_str(key).is_ok()
}

fn walk(
    path: &str,
    key: &str,
    recorded: &Value,
    actual: &Value,
    likeness: Likeness,
    found: &mut BTreeSet<String>,
) {
    match (recorded, actual) {
        (Value::Null, _) => {}
        (_, Value::Null) if likeness == Likeness::Kind => {}
        (Value::Array(recorded), Value::Array(actual)) => walk_list(path, recorded, actual, likeness, found),
        (Value::Object(recorded), Value::Object(actual)) if recorded.keys().any(|key| is_id(key)) => {
            let recorded: Vec<_> = recorded.values().cloned().collect();
            let actual: Vec<_> = actual.values().cloned().collect();
            // The order of the rows is that of their random ids.
            walk_list(path, &recorded, &actual, Likeness::Kind, found);
        }
        (Value::Object(recorded), Value::Object(actual)) => {
            for (key, value) in recorded {
                let below = format!("{path}.{key}");
                match actual.get(key) {
                    Some(other) => walk(&below, key, value, other, likeness, found),
                    None => {
                        found.insert(format!("{below}: missing"));
                    }
                }
            }
        }
        _ if kind(recorded) != kind(actual) => {
            found.insert(format!("{path}: {} → {}", kind(recorded), kind(actual)));
        }
        _ if likeness == Likeness::Same && CLOSED.contains(&key) && recorded != actual => {
            found.insert(format!("{path}: {recorded} → {actual}"));
        }
        _ => {}
    }
}

fn walk_list(
    path: &str,
    recorded: &[Value],
    actual: &[Value],
    likeness: Likeness,
    found: &mut BTreeSet<String>,
) {
    let below = format!("{path}[]");
    if recorded.len() == actual.len() {
        for (recorded, actual) in recorded.iter().zip(actual) {
            walk(&below, "", recorded, actual, likeness, found);
        }
    } else if let Some(first) = recorded.first() {
        if actual.is_empty() {
            found.insert(format!("{path}: empty"));
        }
        for other in actual {
            walk(&below, "", first, other, Likeness::Kind, found);
        }
    }
}

/// Pairs of recorded and actual strings at the same place, from which ids and paths are learned.
pub fn pairs(recorded: &Value, actual: &Value) -> Vec<(String, String)> {
    match (recorded, actual) {
        (Value::String(recorded), Value::String(actual)) => vec![(recorded.clone(), actual.clone())],
        (Value::Array(recorded), Value::Array(actual)) if recorded.len() == actual.len() => {
            recorded.iter().zip(actual).flat_map(|(recorded, actual)| pairs(recorded, actual)).collect()
        }
        (Value::Object(recorded), Value::Object(actual)) => recorded
            .iter()
            .filter_map(|(key, value)| Some(pairs(value, actual.get(key)?)))
            .flatten()
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn missing_keys_types_and_closed_words_are_differences_and_new_keys_are_not() {
        let recorded = json!({"id": "a", "status": "todo", "count": 1, "gone": null});
        let actual = json!({"id": "b", "status": "done", "count": "1", "new": 3});
        let found: Vec<_> = differences(&recorded, &actual, Likeness::Same).into_iter().collect();
        assert_eq!(found, ["$.count: number → string", "$.gone: missing", "$.status: \"todo\" → \"done\""]);
        assert_eq!(differences(&recorded, &actual, Likeness::Kind).len(), 2);
    }
}
