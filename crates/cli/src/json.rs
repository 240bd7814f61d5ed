//! What `--json` prints: the objects of the API, with every key that they can have.
//!
//! Invariant: the keys of an object do not depend on its values. The server leaves keys out that have nothing to say;
//! here they are filled in from the schema of the type, with an empty list, false, 0 or null.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::terminal;

/// An answer about something, and the project that it belongs to.
#[derive(Serialize, JsonSchema)]
pub struct OfProject<T> {
    #[serde(flatten)]
    pub data: T,
    pub project: String,
}

/// Prints what the server answered.
pub fn print<T: Serialize + JsonSchema>(answer: &T) {
    terminal::print_json(&complete(answer));
}

/// The value with all keys of its type.
pub fn complete<T: Serialize + JsonSchema>(answer: &T) -> Value {
    let mut value = json!(answer);
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = T::json_schema(&mut generator).to_value();
    fill(&mut value, &schema, &generator.take_definitions(true));
    value
}

/// The word of the wire for one of a closed list.
pub fn word(value: &impl Serialize) -> String {
    match json!(value) {
        Value::String(word) => word,
        other => other.to_string(),
    }
}

fn fill(value: &mut Value, schema: &Value, all: &Map<String, Value>) {
    let schema = resolve(schema, all);
    for one in ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| part(schema, key).as_array()).flatten() {
        if fits(value, resolve(one, all)) {
            fill(value, one, all);
        }
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, part(schema, "items"), all)),
        Value::Object(fields) => fill_fields(fields, schema, all),
        _ => {}
    }
}

fn fill_fields(fields: &mut Map<String, Value>, schema: &Value, all: &Map<String, Value>) {
    let known = part(schema, "properties").as_object();
    let names: BTreeSet<&String> = known.into_iter().flat_map(Map::keys).collect();
    let others = fields.iter_mut().filter(|(name, _)| !names.contains(name));
    others.for_each(|(_, inner)| fill(inner, part(schema, "additionalProperties"), all));
    for (name, inner) in known.into_iter().flatten() {
        let value = fields.entry(name).or_insert_with(|| nothing(resolve(inner, all)));
        fill(value, inner, all);
    }
}

/// Null where a schema does not have it.
fn part<'s>(schema: &'s Value, key: &str) -> &'s Value {
    schema.get(key).unwrap_or(&Value::Null)
}

fn resolve<'s>(schema: &'s Value, all: &'s Map<String, Value>) -> &'s Value {
    let name = part(schema, "$ref").as_str().and_then(|reference| reference.rsplit('/').next());
    name.and_then(|name| all.get(name)).unwrap_or(schema)
}

/// Whether a choice can be the one that a value is of: objects are told apart by the words that are fixed.
fn fits(value: &Value, choice: &Value) -> bool {
    let fixed = part(choice, "properties").as_object().into_iter().flatten();
    value.is_object()
        && fixed
            .filter_map(|(name, inner)| Some((name, inner.get("const")?)))
            .all(|(name, word)| value[name] == *word)
}

/// What a key has that the server leaves out.
fn nothing(schema: &Value) -> Value {
    match part(schema, "type").as_str() {
        Some("array") => json!([]),
        Some("boolean") => json!(false),
        // What may be unknown is a choice of a number and null.
        Some("integer") => json!(0),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use forge_types::wire::ExecutionProcess;
    use forge_types::{Attempt, Run, Task};

    use super::*;

    /// Every key of the type is there, whatever the server sends.
    #[test]
    fn keys_that_the_server_leaves_out_are_filled_in() {
        let id = "f8924071-fa8e-43ee-8fbc-96ec5b49b3da";
        let at = "2026-11-01T00:00:00.000Z";
        let task: Task = serde_json::from_value(json!({
            "id": id, "project_id": id, "title": "t", "description": null, "status": "todo",
            "parent_task_attempt": null, "dev_server_id": null, "created_at": at, "updated_at": at,
        }))
        .unwrap();
        assert_eq!(json!(task).get("labels"), None, "the server leaves it out");
        let shown = complete(&vec![task]);
        assert_eq!(shown[0]["labels"], json!([]));
        assert_eq!(shown[0]["title"], "t");
        let attempt: Attempt = serde_json::from_value(json!({
            "id": id, "task_id": id, "container_ref": null, "branch": "b", "target_branch": "main",
            "executor": "SHELL", "worktree_deleted": false, "setup_completed_at": null, "input_tokens": null,
            "output_tokens": null, "cache_creation_tokens": null, "cache_read_tokens": null, "created_at": at,
            "updated_at": at, "status": "running", "project_id": id, "executor_profile_id": "SHELL",
            "worktree_path": null, "auto_pr": {"state": "waiting"},
        }))
        .unwrap();
        let shown = complete(&attempt);
        assert_eq!((&shown["cost_usd"], &shown["max_cost_usd"]), (&Value::Null, &Value::Null));
        assert_eq!(
            shown["executor_profile_id"],
            json!({"executor": "SHELL", "variant": null, "model": null})
        );
        assert_eq!(shown["auto_pr"], json!({"state": "waiting", "url": null, "message": null}));
        let run: Run = serde_json::from_value(json!({
            "id": id, "owner": {"attempt": id}, "reason": "devserver",
            "action": {"typ": {"type": "ScriptRequest", "script": "x", "language": "Bash", "context": "DevServer"}, "next_action": null},
            "before_head": null, "after_head": null, "status": "running", "phase": "live", "exit_code": null,
            "dropped": false, "session_id": null, "summary": null, "started_at": at, "completed_at": null,
            "created_at": at, "updated_at": at,
        }))
        .unwrap();
        let shown = complete(&ExecutionProcess::from(run));
        assert_eq!((&shown["unverified"], &shown["open_conflicts"]), (&json!(false), &json!([])));
        assert_eq!(
            shown["executor_action"]["typ"].as_object().unwrap().len(),
            4,
            "and no key of another kind"
        );
    }
}
