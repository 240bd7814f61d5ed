//! The tools that an agent offers, and how they are used: each agent has its own names for the same few things.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

const WRITERS: [&str; 7] =
    ["Write", "write_file", "write", "create_file", "create", "Create", "write_to_file"];
const SHELLS: [&str; 9] = [
    "Bash",
    "shell_command",
    "exec_command",
    "run_shell_command",
    "bash",
    "shell",
    "local_shell",
    "Execute",
    "execute_command",
];
const PATCHER: &str = "apply_patch";
/// Words after which agents say where they work.
const PLACE_MARKS: [&str; 6] = [
    "<cwd>",
    "working directory",
    "workspace root folder",
    "current directory",
    "workspace directories",
    "cwd:",
];
const MARK_REACH: usize = 60;

/// One use of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Use {
    pub name: String,
    /// The group that the tool stands in, for agents that offer groups of tools.
    pub namespace: Option<String>,
    pub arguments: Arguments,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Arguments {
    Json(Value),
    /// For tools that take a text as it is.
    Plain(String),
}

impl Use {
    pub(super) fn json(name: &str, arguments: Value) -> Use {
        Use { name: name.to_owned(), namespace: None, arguments: Arguments::Json(arguments) }
    }

    /// As an object, for APIs that know nothing else.
    pub(super) fn object(&self) -> Value {
        match &self.arguments {
            Arguments::Json(value) => value.clone(),
            Arguments::Plain(text) => json!({"input": text}),
        }
    }
}

enum Tool {
    Schema(Value),
    Plain,
}

#[derive(Default)]
pub(super) struct Tools {
    single: BTreeMap<String, Tool>,
    /// Group and name.
    grouped: Vec<(String, String)>,
}

impl Tools {
    /// The tools of a request in the style of Anthropic and OpenAI.
    pub(super) fn listed(body: &Value) -> Tools {
        let mut tools = Tools::default();
        for tool in body["tools"].as_array().into_iter().flatten() {
            if tool["type"] == "namespace" {
                let names =
                    tool["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
                let group = tool["name"].as_str().unwrap_or_default();
                tools.grouped.extend(names.map(|name| (group.to_owned(), name.to_owned())));
                continue;
            }
            let inner = if tool["function"].is_object() { &tool["function"] } else { tool };
            let Some(name) = inner["name"].as_str().or(tool["type"].as_str()) else { continue };
            let schema =
                [&inner["input_schema"], &inner["parameters"]].into_iter().find(|schema| schema.is_object());
            let tool = match tool["type"] == "custom" && schema.is_none() {
                true => Tool::Plain,
                false => Tool::Schema(schema.cloned().unwrap_or_default()),
            };
            tools.single.insert(name.to_owned(), tool);
        }
        tools
    }

    pub(super) fn add(&mut self, name: &str, schema: Value) {
        self.single.insert(name.to_owned(), Tool::Schema(schema));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.single.is_empty()
    }

    pub(super) fn names(&self) -> String {
        self.single.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// Uses the tool of an MCP server. Agents put words of their own before its name, or it into a group; one that offers
    /// such tools only on demand knows it by the name that most agents use.
    pub(super) fn use_served(&self, server: &str, name: &str, arguments: Value) -> Use {
        if let Some((group, _)) = self.grouped.iter().find(|(_, known)| known == name) {
            return Use { namespace: Some(group.clone()), ..Use::json(name, arguments) };
        }
        let listed = self.single.keys().find(|known| known.ends_with(name) && known.contains(server));
        let usual = format!("mcp__{server}__{name}");
        Use::json(listed.unwrap_or(&usual), arguments)
    }

    fn first(&self, names: &[&'static str]) -> Option<(&'static str, &Value)> {
        names.iter().find_map(|name| match self.single.get(*name)? {
            Tool::Schema(schema) => Some((*name, schema)),
            Tool::Plain => None,
        })
    }

    pub(super) fn run(&self, command: &str) -> Option<Use> {
        let (name, schema) = self.first(&SHELLS)?;
        let known = &schema["properties"];
        let arguments = if known["cmd"].is_object() {
            json!({"cmd": command})
        } else if known["command"]["type"] == "array" {
            json!({"command": ["bash", "-lc", command]})
        } else {
            json!({"command": command})
        };
        Some(Use::json(name, filled(schema, arguments)))
    }

    pub(super) fn write(&self, path: &str, text: &str, place: Option<&Path>) -> Option<Use> {
        if let Some((name, schema)) = self.first(&WRITERS) {
            let full = place.map_or_else(|| PathBuf::from(path), |place| place.join(path));
            let known = |key: &&str| schema["properties"][*key].is_object();
            let mut arguments = Map::new();
            if let Some(key) = ["file_path", "filePath", "path"].into_iter().find(known) {
                arguments.insert(key.to_owned(), json!(full));
            }
            if let Some(key) = ["content", "contents", "file_text"].into_iter().find(known) {
                arguments.insert(key.to_owned(), json!(text));
            }
            if known(&"command") {
                arguments.insert("command".to_owned(), json!("create"));
            }
            return Some(Use::json(name, filled(schema, Value::Object(arguments))));
        }
        let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n");
        match self.single.get(PATCHER) {
            Some(Tool::Plain) => {
                Some(Use { name: PATCHER.to_owned(), namespace: None, arguments: Arguments::Plain(patch) })
            }
            Some(Tool::Schema(_)) => Some(Use::json(PATCHER, json!({"input": patch}))),
            None => self.run(&format!("printf '%s' '{text}' > '{path}'")),
        }
    }
}

/// With something in every place that must not stay empty.
fn filled(schema: &Value, mut arguments: Value) -> Value {
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !arguments[key].is_null() {
            continue;
        }
        let wanted = &schema["properties"][key];
        let kind = wanted["type"].as_str().or(wanted["type"][0].as_str());
        arguments[key] = match (&wanted["enum"][0], kind) {
            (Value::Null, Some("integer" | "number")) => json!(1),
            (Value::Null, Some("boolean")) => json!(false),
            (Value::Null, Some("array")) => json!([]),
            (Value::Null, Some("object")) => json!({}),
            (Value::Null, _) => json!("as scripted"),
            (first, _) => first.clone(),
        };
    }
    arguments
}

/// The work tree that the request speaks of: the agent wants whole paths.
pub(super) fn find_place(body: &Value) -> Option<PathBuf> {
    let mut texts = Vec::new();
    collect(body, &mut texts);
    let marked = PLACE_MARKS.iter().flat_map(|mark| texts.iter().flat_map(move |text| after(text, mark)));
    let anywhere = texts.iter().flat_map(|text| text.match_indices('/').map(|(at, _)| &text[at..]));
    marked.chain(anywhere).map(path).find(|path| path.join(".git").exists())
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(values) => values.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

/// What begins with a slash soon after each mark.
fn after<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let small = text.to_ascii_lowercase();
    let ends = small.match_indices(mark).map(|(at, mark)| at + mark.len());
    ends.filter_map(|at| text[at..].find('/').filter(|gap| *gap < MARK_REACH).map(|gap| &text[at + gap..]))
        .collect()
}

fn path(text: &str) -> PathBuf {
    let end = text.find(|c: char| c.is_whitespace() || "<>`'\"*),;".contains(c)).unwrap_or(text.len());
    PathBuf::from(text[..end].trim_end_matches('.'))
}
