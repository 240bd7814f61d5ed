//! The named types of the description, collected from the types that the route table names.
//!
//! Invariant: every name that is used is described once. A type that is read in other forms than it is written in has
//! a second description, under its name and `Input`.

use std::collections::BTreeMap;

use forge_types::wire::{
    CreateTaskHere, DiffDocument, DiffEntry, DraftsDocument, Envelope, Failure, NormalizedLogEntry,
    ProcessesDocument, RawLogEntry, TasksDocument,
};
use forge_types::{BeadsOf, CreateAttemptOptions, DispatchChange, Health, UsageSum};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::table::SchemaOf;

const REFERENCE: &str = "#/components/schemas/";

/// Which way a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Request,
    Answer,
}

pub(super) struct Components {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

/// The named types, and how names of requests have to be changed.
pub(super) struct Named {
    pub(super) schemas: Map<String, Value>,
    renamed: BTreeMap<String, String>,
}

impl Components {
    pub(super) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let requests = settings.clone().for_deserialize().into_generator();
        let answers = settings.for_serialize().into_generator();
        let mut components = Self { requests, answers };
        // Types that no route names: the frame of responses, what streams build, and what others are based on.
        let Self { requests, answers } = &mut components;
        answers.subschema_for::<(Envelope, Failure, UsageSum, Health)>();
        answers.subschema_for::<(RawLogEntry, NormalizedLogEntry, DiffEntry)>();
        answers.subschema_for::<(TasksDocument, ProcessesDocument, DraftsDocument, DiffDocument)>();
        requests.subschema_for::<(CreateAttemptOptions, CreateTaskHere, BeadsOf, DispatchChange)>();
        components
    }

    pub(super) fn describe(&mut self, side: Side, schema: SchemaOf) -> Value {
        let generator = match side {
            Side::Request => &mut self.requests,
            Side::Answer => &mut self.answers,
        };
        schema(generator).to_value()
    }

    pub(super) fn finish(mut self) -> Named {
        let answers = tidy_all(self.answers.take_definitions(true), Side::Answer);
        let requests = tidy_all(self.requests.take_definitions(true), Side::Request);
        let renamed = clashes(&answers, &requests);
        let mut schemas = answers;
        for (name, mut schema) in requests {
            rename_references(&mut schema, &renamed);
            schemas.insert(renamed.get(&name).cloned().unwrap_or(name), schema);
        }
        Named { schemas, renamed }
    }
}

impl Named {
    /// A schema outside of the named types, in its final form.
    pub(super) fn tidy(&self, mut schema: Value, side: Side) -> Value {
        tidy(&mut schema, side, &mut Map::new());
        if side == Side::Request {
            rename_references(&mut schema, &self.renamed);
        }
        schema
    }
}

/// Names that stand for different things in requests and in answers, directly or by what they refer to.
fn clashes(answers: &Map<String, Value>, requests: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut renamed = BTreeMap::new();
    loop {
        let before = renamed.len();
        for (name, schema) in requests {
            let mut final_form = schema.clone();
            rename_references(&mut final_form, &renamed);
            if answers.get(name).is_some_and(|answer| *answer != final_form) {
                renamed.insert(name.clone(), format!("{name}Input"));
            }
        }
        if renamed.len() == before {
            return renamed;
        }
    }
}

fn rename_references(schema: &mut Value, renamed: &BTreeMap<String, String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get_mut("$ref")
                && let Some(name) = reference.strip_prefix(REFERENCE).and_then(|name| renamed.get(name))
            {
                *reference = format!("{REFERENCE}{name}");
            }
            fields.values_mut().for_each(|inner| rename_references(inner, renamed));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| rename_references(inner, renamed)),
        _ => {}
    }
}

fn tidy_all(definitions: Map<String, Value>, side: Side) -> Map<String, Value> {
    let mut lifted = Map::new();
    let mut tidied: Map<String, Value> = definitions
        .into_iter()
        .map(|(name, mut schema)| {
            tidy(&mut schema, side, &mut lifted);
            (name, schema)
        })
        .collect();
    tidied.append(&mut lifted);
    let whole = tidied.clone();
    for schema in tidied.values_mut() {
        base_on(schema, &whole);
    }
    tidied
}

/// A type that includes all fields of another one refers to it, as `extends` does.
fn base_on(schema: &mut Value, all: &Map<String, Value>) {
    let Some(base) = schema.as_object_mut().and_then(|fields| fields.remove("x-extends")) else { return };
    let base = base.as_str().unwrap_or_default();
    let known = all.get(base).unwrap_or(&Value::Null);
    let inherited: Vec<String> =
        known["properties"].as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !inherited.contains(name));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !inherited.iter().any(|known| name == known));
    }
    let words = schema.as_object_mut().and_then(|fields| fields.remove("description"));
    // A type without words of its own got those of its base.
    let words = words.filter(|words| known.get("description") != Some(words));
    let mut whole = json!({"allOf": [{"$ref": format!("{REFERENCE}{base}")}, schema.take()]});
    if let Some(words) = words {
        whole["description"] = words;
    }
    *schema = whole;
}

/// Writes a generated schema the way the description has them. Choices that have a title become types of their own.
fn tidy(schema: &mut Value, side: Side, lifted: &mut Map<String, Value>) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Some(fields) = schema.as_object_mut() else { return };
    match fields.remove("description") {
        Some(Value::String(words)) if !words.is_empty() => {
            fields.insert("description".to_owned(), words.replace('\n', " ").into());
        }
        _ => {}
    }
    // The width of a number is ours, not the wire's; a request has to fit it.
    if let Some(format) = fields.get("format").and_then(Value::as_str).filter(|format| is_width(format)) {
        let range = range_of(format).filter(|_| side == Side::Request);
        fields.remove("format");
        if let Some((least, most)) = range {
            fields.entry("minimum").or_insert(least);
            fields.entry("maximum").or_insert(most);
        }
    }
    if side == Side::Answer || fields.get("default").is_some_and(Value::is_null) {
        fields.remove("default");
    }
    fields.remove("x-null");
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(key) {
            tidy(inner, side, lifted);
        }
    }
    if fields.contains_key("properties") {
        tidy_fields(fields, side, lifted);
    }
    if let Some(Value::Array(choices)) = fields.remove("oneOf").or_else(|| fields.remove("anyOf")) {
        tidy_choices(fields, choices, side, lifted);
    }
    if let Some(Value::Array(parts)) = fields.get_mut("allOf") {
        parts.iter_mut().for_each(|part| tidy(part, side, lifted));
    }
    split_null(schema);
}

fn is_width(format: &str) -> bool {
    matches!(format, "float" | "double") || format.trim_start_matches('u').starts_with("int")
}

/// What fits a whole number of this width; narrower ones have their limits already.
fn range_of(format: &str) -> Option<(Value, Value)> {
    Some(match format {
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int64" => (i64::MIN.into(), i64::MAX.into()),
        "uint32" => (0.into(), u32::MAX.into()),
        "uint64" | "uint" => (0.into(), u64::MAX.into()),
        _ => return None,
    })
}

fn tidy_fields(fields: &mut Map<String, Value>, side: Side, lifted: &mut Map<String, Value>) {
    let required = fields.entry("required").or_insert_with(|| json!([])).clone();
    let is_required =
        |name: &str| required.as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, inner) in properties {
        // What may be left out is left out instead of being null, unless it is marked.
        let is_kept = inner.get("x-null").is_some();
        tidy(inner, side, lifted);
        if side == Side::Answer && !is_required(name) && !is_kept {
            drop_null(inner);
        }
    }
}

/// `{"type": ["string", "null"]}` as a choice of two.
fn split_null(schema: &mut Value) {
    let Some(kinds) = schema["type"].as_array().cloned() else { return };
    let words = schema.as_object_mut().and_then(|fields| fields.remove("description"));
    let choices = kinds.into_iter().map(|kind| match kind == "null" {
        true => json!({"type": "null"}),
        false => {
            let mut one = schema.clone();
            one["type"] = kind;
            one
        }
    });
    let mut whole = json!({"anyOf": choices.collect::<Vec<_>>()});
    if let Some(words) = words {
        whole["description"] = words;
    }
    *schema = whole;
}

fn drop_null(schema: &mut Value) {
    let Some(choices) = schema.get_mut("anyOf").and_then(Value::as_array_mut) else { return };
    choices.retain(|choice| choice["type"] != "null");
    if choices.len() != 1 {
        return;
    }
    let words = schema.get("description").cloned();
    let mut only = schema["anyOf"][0].take();
    if let Some(words) = words {
        only["description"] = words;
    }
    *schema = only;
}

fn tidy_choices(
    fields: &mut Map<String, Value>,
    choices: Vec<Value>,
    side: Side,
    lifted: &mut Map<String, Value>,
) {
    // Words with a remark each: the remarks are for readers of the code.
    let words: Option<Vec<Vec<Value>>> = choices.iter().map(words_of).collect();
    if let Some(words) = words {
        fields.insert("type".to_owned(), "string".into());
        fields.insert("enum".to_owned(), words.concat().into());
        return;
    }
    // A choice of one is that one.
    if fields.remove("x-struct").is_some()
        && let [only] = choices.as_slice()
    {
        let mut only = only.clone();
        tidy(&mut only, side, lifted);
        if let Value::Object(only) = only {
            fields.extend(only);
        }
        return;
    }
    let mut kept: Vec<Value> = Vec::new();
    for mut choice in choices {
        tidy(&mut choice, side, lifted);
        let title = choice.as_object_mut().and_then(|fields| fields.remove("title"));
        let Some(Value::String(title)) = title else {
            // A choice of choices is one choice.
            match choice.get_mut("anyOf").and_then(Value::as_array_mut) {
                Some(inner) => kept.append(inner),
                None => kept.push(choice),
            }
            continue;
        };
        let reference = json!({"$ref": format!("{REFERENCE}{title}")});
        if !kept.contains(&reference) {
            kept.push(reference);
        }
        lift(lifted, title, choice);
    }
    fields.insert("anyOf".to_owned(), kept.into());
}

/// The words of a choice that is only words.
fn words_of(choice: &Value) -> Option<Vec<Value>> {
    match (choice.get("const"), choice.get("enum")) {
        (Some(word), None) if word.is_string() => Some(vec![word.clone()]),
        (None, Some(Value::Array(words))) if choice["type"] == "string" => Some(words.clone()),
        _ => None,
    }
}

/// Choices of the same title differ only in the word of their tag; the words become a type of their own.
fn lift(lifted: &mut Map<String, Value>, title: String, choice: Value) {
    let Some(known) = lifted.get(&title) else {
        lifted.insert(title, choice);
        return;
    };
    let known_tags = known["properties"].as_object().into_iter().flatten();
    let differs = |(name, inner): &(&String, &Value)| choice["properties"].get(*name) != Some(inner);
    let Some(tag) = known_tags.into_iter().find(differs).map(|(name, _)| name.clone()) else { return };
    let words_name = format!("{}Word", title.trim_end_matches("Status"));
    let (before, more) = (known["properties"][&tag].clone(), choice["properties"][&tag]["const"].clone());
    if let Some(word) = before.get("const") {
        lifted.insert(words_name.clone(), json!({"type": "string", "enum": [word]}));
        lifted[&title]["properties"][&tag] = json!({"$ref": format!("{REFERENCE}{words_name}")});
    }
    if let Some(words) = lifted[&words_name]["enum"].as_array_mut()
        && !words.contains(&more)
    {
        words.push(more);
    }
}
