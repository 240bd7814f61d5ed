//! The parameters of paths and queries: each is described once, whatever route takes it.
//!
//! Invariant: every parameter that the route table names is listed (a test checks it).

use forge_types::{Executor, SoundFile, UsageKey, WorkerId};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::example;
use crate::extract::PAGE_MAX;
use crate::once::KEY_MAX_BYTES;
use crate::routes::{approvals, branches, workers};
use crate::stream::WAIT_MAX_MS;

/// The type of a parameter.
#[derive(Clone, Copy)]
enum Kind {
    Id,
    Text,
    /// Text with at least one character.
    Filled,
    Flag,
    /// A whole number between these.
    Whole(u64, u64),
    OneOf(&'static [&'static str]),
    Date,
    /// What a type of ours allows.
    Like(fn() -> Value),
}

use Kind::{Date, Filled, Flag, Id, Like, OneOf, Text, Whole};

const IN_PATH: &[(&str, Kind, &str)] = &[
    ("alert_id", Id, "an alert"),
    // To clients the id of an approval is any string.
    ("approval_id", Text, "a question of an agent"),
    ("attempt_id", Id, "an attempt"),
    ("bead_id", Text, "a bead, by the id that its tracker gave it"),
    ("image_id", Id, "a picture"),
    ("process_id", Id, "a process of an attempt"),
    ("project_id", Id, "a project"),
    ("run_id", Id, "an execution run"),
    ("sound", Like(sound), "the name of a sound"),
    ("tag_id", Id, "a tag"),
    ("task_id", Id, "a task"),
    ("template_id", Id, "a template"),
    ("worker_id", Like(schema_of::<WorkerId>), "a worker"),
];

const IN_QUERY: &[(&str, Kind, &str)] = &[
    ("after", Whole(0, i64::MAX as u64), "continue after this number; the frames are then numbered"),
    ("agent_type", Text, "only agents of this type"),
    ("base", Text, "the branch to compare with"),
    ("bead", Text, "the id of a bead"),
    ("brief", Flag, "leave out the descriptions"),
    ("code", Text, "the code of a login link"),
    ("context", Whole(0, branches::DIFF_MAX_CONTEXT as u64), "unchanged lines around each change"),
    ("counts", Flag, "count the tasks of each project by status"),
    ("executor", Like(schema_of::<Executor>), "the agent"),
    ("file_path", Text, "the file, relative to the worktree"),
    ("fresh", Flag, "look again instead of using what was found a moment ago"),
    ("from", Date, "the first day"),
    ("global", Flag, "only templates that belong to no project"),
    (
        "group_by",
        Like(keys),
        "project, executor, model, day, task, worker, bead, or several of them separated by commas",
    ),
    ("limit", Whole(1, PAGE_MAX as u64), "the most to list"),
    ("lines", Whole(1, workers::PEEK_MAX as u64), "how many lines"),
    (
        "max_bytes",
        Whole(0, branches::DIFF_MAX_BYTES),
        "cut the patch after this many bytes; 0 selects the figures alone",
    ),
    ("mode", Text, "`settings` also searches ignored files"),
    ("offset", Whole(0, u32::MAX as u64), "how many to skip"),
    ("path", Text, "a file or folder"),
    ("project_id", Id, "a project"),
    ("q", Text, "what to search for"),
    ("ready", Flag, "only beads that can be worked on now"),
    ("ref", Text, "a path in a worktree"),
    ("search", Text, "only tags whose name contains this"),
    ("sha", Filled, "a commit"),
    ("show_soft_deleted", Flag, "also processes that a retry replaced"),
    ("side", OneOf(&["old", "new"]), "before or after the change"),
    ("stats_only", Flag, "figures without contents"),
    ("status", Text, "only beads with this status"),
    ("tail", Whole(1, u64::MAX), "only the last entries, at first"),
    ("task_attempt_id", Id, "an attempt"),
    ("task_id", Id, "a task"),
    ("to", Date, "the last day"),
    ("type", OneOf(&["follow_up", "retry"]), "which draft"),
    (
        "view",
        OneOf(&["board"]),
        "what a board shows: tasks without descriptions and chats; also cards, attempts, branches, conflicts and beads \
         as they change",
    ),
    ("wait", Whole(0, approvals::WAIT_MAX_S), "seconds to wait for an answer"),
    ("wait_ms", Whole(0, WAIT_MAX_MS), "milliseconds to wait for a frame"),
    ("workspace", Text, "the folder that holds `.beads`"),
];

impl Kind {
    fn schema(self) -> Value {
        match self {
            Id => json!({"type": "string", "format": "uuid"}),
            Text => json!({"type": "string"}),
            Flag => json!({"type": "boolean"}),
            Filled => json!({"type": "string", "minLength": 1}),
            Whole(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            OneOf(words) => json!({"type": "string", "enum": words}),
            Date => json!({"type": "string", "format": "date"}),
            Like(schema) => schema(),
        }
    }
}

fn schema_of<T: JsonSchema>() -> Value {
    T::json_schema(&mut SchemaGenerator::default()).to_value()
}

fn sound() -> Value {
    json!({"type": "string", "pattern": format!("^({})$", SoundFile::ALL.map(SoundFile::as_str).join("|"))})
}

fn keys() -> Value {
    let key = UsageKey::ALL.map(UsageKey::as_str).join("|");
    json!({"type": "string", "pattern": format!("^({key})(,({key}))*$")})
}

pub(super) fn in_path(name: &str) -> Value {
    describe(IN_PATH, name, "path", true)
}

/// A word of the route table: a name, with `?` when the parameter may be missing.
pub(super) fn in_query(word: &str) -> Value {
    let name = word.trim_end_matches('?');
    describe(IN_QUERY, name, "query", name == word)
}

fn describe(list: &[(&str, Kind, &str)], name: &str, place: &str, required: bool) -> Value {
    let known = list.iter().find(|(known, ..)| *known == name);
    let (schema, words) = known.map_or((json!({}), ""), |(_, kind, words)| (kind.schema(), *words));
    let example = example::named(name, &schema);
    json!({"name": name, "in": place, "required": required, "schema": schema, "description": words, "example": example})
}

pub(super) fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key", "in": "header", "required": false,
        "schema": {"type": "string", "minLength": 1, "maxLength": KEY_MAX_BYTES, "pattern": "^[ -~]*$"},
        "example": "6f1c0ab3-7d5e-4c0f-9b1a-2f4e8d6c5b3a",
        "description": "A name, such as a UUID, under which this request has one effect. If sent again within 24 hours, it gets \
            the same response, with `Idempotency-Replayed: true`; it waits for an equal request in progress (409 after 30 s). \
            With another body or path it is refused (422). A request that was refused may be sent again.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::path_names;
    use crate::table::routes;

    #[test]
    fn every_parameter_of_the_table_is_described_and_no_other() {
        let mut unused: Vec<&str> = IN_PATH.iter().chain(IN_QUERY).map(|(name, ..)| *name).collect();
        for route in routes() {
            let query = route.query.split_whitespace().map(|word| word.trim_end_matches('?'));
            for (list, name) in
                path_names(route.path).map(|name| (IN_PATH, name)).chain(query.map(|name| (IN_QUERY, name)))
            {
                assert!(list.iter().any(|(known, ..)| *known == name), "{} takes {name}", route.path);
                unused.retain(|known| *known != name);
            }
        }
        assert_eq!(unused, Vec::<&str>::new());
    }
}
