//! Examples of requests and answers, made from their schemas.
//!
//! Invariant: an example fits its schema (`npm run check:api` looks at each). It has what is required, and everything
//! where nothing is.

use serde_json::{Map, Value, json};

/// Deeper than this lists are empty, and what may be null is.
const DEPTH: usize = 4;
/// What a text is an example of, by the name of its field or parameter.
const TEXTS: &[(&str, &str)] = &[
    ("agent_type", "wish"),
    ("api_key", "omni-key"),
    ("base_branch", "main"),
    ("bead", "app-17"),
    ("bead_id", "app-17"),
    ("branch", "forge/3f2a-fix-the-login"),
    ("content", "Steps, expected result, actual result."),
    ("default_base_branch", "main"),
    ("depends_on", "app-16"),
    ("description", "The button does nothing on a phone."),
    ("executor", "CLAUDE_CODE"),
    ("executor_profile", "CLAUDE_CODE"),
    ("executor_profile_id", "CLAUDE_CODE:PLAN"),
    ("file_path", "src/login.ts"),
    ("git_repo_path", "/home/me/app"),
    ("group_by", "project,day"),
    ("host", "https://omni.example"),
    ("id", "w1"),
    ("kind", "vibe-kanban"),
    ("labels", "bug"),
    ("launcher", "claude"),
    ("line", "continue"),
    ("model", "sonnet"),
    ("name", "app"),
    ("new_target_branch", "main"),
    ("path", "README.md"),
    ("prompt", "Add a test for it."),
    ("q", "login"),
    ("ref", "/home/me/app"),
    ("sha", "HEAD"),
    ("sound", "GENIE_NOTIFY1"),
    ("tag_name", "bug_report"),
    ("target_branch", "main"),
    ("template_name", "bug"),
    ("title", "Fix the login"),
    ("tool_name", "Bash"),
    ("url", "https://code.example/me/app/issues/17"),
    ("variant", "PLAN"),
    ("worker_id", "w1"),
    ("workspace", "/home/me/app"),
];

/// One value of a schema, whose names are in `all`.
pub(super) fn of(schema: &Value, all: &Map<String, Value>) -> Value {
    make("", schema, all, 0)
}

/// One value of a parameter.
pub(super) fn named(name: &str, schema: &Value) -> Value {
    make(name, schema, &Map::new(), 0)
}

fn make(name: &str, schema: &Value, all: &Map<String, Value>, depth: usize) -> Value {
    if let Some(known) = schema["$ref"].as_str().and_then(|path| all.get(path.rsplit('/').next()?)) {
        return make(name, known, all, depth);
    }
    if let Some(word) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return word.clone();
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let is_null = |choice: &Value| choice["type"] == "null";
        // A type may hold itself.
        let first = match depth > DEPTH && choices.iter().any(is_null) {
            true => None,
            false => choices.iter().find(|choice| !is_null(choice)),
        };
        return first.map_or(Value::Null, |first| make(name, first, all, depth));
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let parts = parts.iter().map(|part| make(name, part, all, depth));
        return parts.filter_map(|part| part.as_object().cloned()).flatten().collect::<Map<_, _>>().into();
    }
    match schema["type"].as_str() {
        Some("object") => object(schema, all, depth),
        Some("array") if depth > DEPTH => json!([]),
        Some("array") => {
            let one = make(name, &schema["items"], all, depth + 1);
            vec![one; schema["minItems"].as_u64().unwrap_or(1).max(1) as usize].into()
        }
        Some("integer") => {
            schema.get("minimum").filter(|least| least.as_i64() > Some(0)).cloned().unwrap_or(json!(1))
        }
        Some("number") => json!(2.5),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        Some("string") => text(name, schema).into(),
        _ => json!({}),
    }
}

fn object(schema: &Value, all: &Map<String, Value>, depth: usize) -> Value {
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    let fields = schema["properties"].as_object().into_iter().flatten();
    let shown = fields
        .filter(|(name, _)| required.iter().any(|one| one == *name) || depth == 0 && required.is_empty());
    shown.map(|(name, inner)| (name.clone(), make(name, inner, all, depth + 1))).collect::<Map<_, _>>().into()
}

fn text(name: &str, schema: &Value) -> String {
    let known = TEXTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    let text = match schema["format"].as_str() {
        Some("uuid") => "3f2a9c1e-5b7d-4e8f-a0c2-6d4b8e1f7a35",
        Some("date") => "2026-11-16",
        Some("date-time") => "2026-11-16T09:30:00.000Z",
        _ => known.unwrap_or("text"),
    };
    text.to_owned()
}
