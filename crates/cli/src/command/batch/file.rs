//! The file of a batch: Markdown, JSON, JSON lines or YAML, read into tasks.
//!
//! Invariant: all of it is parsed or none of it is used; every mistake is reported with its place.

use forge_types::{Executor, ProfileId};
use serde_json::{Map, Value};

use crate::command::run::begin::describe;

const FIELDS: &str = "title, prompt (or description), executor, variant, model, base, labels";
const SEPARATOR: &str = "---";

/// A task as described in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Its place in the file, for people.
    pub place: String,
    pub title: Option<String>,
    pub prompt: Option<String>,
    pub executor: Option<ProfileId>,
    pub variant: Option<String>,
    pub model: Option<String>,
    pub base: Option<String>,
    pub labels: Vec<String>,
}

impl Item {
    /// The agent for it, unless the file names one.
    pub fn profile(&self, usual: &ProfileId) -> ProfileId {
        let mut profile = self.executor.clone().unwrap_or_else(|| usual.clone());
        profile.variant = self.variant.clone().or(profile.variant);
        profile.model = self.model.clone().or(profile.model);
        profile
    }

    /// Title and description, so that the agent reads what the file says.
    pub fn describe(&self, executor: Executor) -> (String, Option<String>) {
        match (&self.title, &self.prompt) {
            (Some(title), Some(prompt)) => (title.clone(), Some(prompt.clone())),
            // A shell gets only the description.
            (Some(title), None) if executor == Executor::Shell => (title.clone(), Some(title.clone())),
            (Some(title), None) => (title.clone(), None),
            (None, prompt) => describe(prompt.as_deref().unwrap_or_default(), None, executor),
        }
    }
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Yaml,
}

impl Format {
    /// By the file extension; without one, by the first characters.
    fn of(name: &str, text: &str) -> Self {
        let end = name.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
        match end.as_str() {
            "json" | "jsonl" | "ndjson" => Self::Json,
            "yaml" | "yml" => Self::Yaml,
            "md" | "markdown" | "txt" => Self::Text,
            _ => match text.trim_start().chars().next() {
                Some('[' | '{') => Self::Json,
                _ => Self::Text,
            },
        }
    }
}

/// The tasks of a file, or all that is wrong with it.
pub fn parse(name: &str, text: &str) -> Result<Vec<Item>, Vec<String>> {
    let found = match Format::of(name, text) {
        Format::Text => split(text),
        Format::Json => read_json(text),
        Format::Yaml => read_yaml(text),
    };
    let (mut items, mut mistakes) = (Vec::new(), Vec::new());
    for item in found {
        match item {
            Ok(item) => items.push(item),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if items.is_empty() && mistakes.is_empty() {
        mistakes.push("it contains no task".to_owned());
    }
    if mistakes.is_empty() { Ok(items) } else { Err(mistakes) }
}

/// Tasks between lines of three dashes; dashes in a code block do not count.
fn split(text: &str) -> Vec<Result<Item, String>> {
    let mut parts: Vec<(usize, Vec<&str>)> = vec![(1, Vec::new())];
    let mut in_code = false;
    for (line, number) in text.lines().zip(1..) {
        in_code ^= line.trim_start().starts_with("```");
        match (line.trim_end() == SEPARATOR && !in_code, parts.last_mut()) {
            (false, Some((_, lines))) => lines.push(line),
            _ => parts.push((number + 1, Vec::new())),
        }
    }
    let is_blank = |lines: &[&str]| lines.iter().all(|line| line.trim().is_empty());
    let last = parts.len() - 1;
    let parts = parts.into_iter().enumerate();
    // Dashes may also come before the first task and after the last.
    let parts = parts.filter(|(place, (_, lines))| !((*place == 0 || *place == last) && is_blank(lines)));
    parts.map(|(_, (number, lines))| read_part(number, &lines)).collect()
}

fn read_part(number: usize, lines: &[&str]) -> Result<Item, String> {
    let Some(first) = lines.iter().position(|line| !line.trim().is_empty()) else {
        return Err(format!("line {number}: the task is empty"));
    };
    let place = format!("line {}", number + first);
    let title = lines[first].trim().trim_start_matches('#').trim();
    if title.is_empty() {
        return Err(format!("{place}: the title is empty"));
    }
    let rest = lines[first + 1..].join("\n");
    let prompt = Some(rest.trim().to_owned()).filter(|prompt| !prompt.is_empty());
    Ok(Item { place, title: Some(title.to_owned()), prompt, ..Item::default() })
}

/// A list, or one value after another.
fn read_json(text: &str) -> Vec<Result<Item, String>> {
    if text.trim_start().starts_with('[') {
        return match serde_json::from_str::<Vec<Value>>(text) {
            Ok(values) => read_list(values),
            Err(error) => vec![Err(format!("not JSON: {error}"))],
        };
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut items = Vec::new();
    loop {
        let rest = &text[values.byte_offset()..];
        let begin = values.byte_offset() + rest.len() - rest.trim_start().len();
        let line = 1 + text[..begin].matches('\n').count();
        match values.next() {
            None => return items,
            Some(Ok(value)) => items.push(read_value(format!("line {line}"), value)),
            Some(Err(error)) => {
                items.push(Err(format!("not JSON: {error}")));
                return items;
            }
        }
    }
}

fn read_yaml(text: &str) -> Vec<Result<Item, String>> {
    match yaml_serde::from_str::<Value>(text) {
        Ok(Value::Array(values)) => read_list(values),
        Ok(Value::Null) => Vec::new(),
        Ok(_) => vec![Err("line 1: not a list of tasks; begin each with `- `".to_owned())],
        Err(error) => vec![Err(format!("not YAML: {error}"))],
    }
}

fn read_list(values: Vec<Value>) -> Vec<Result<Item, String>> {
    values.into_iter().zip(1..).map(|(value, number)| read_value(format!("task {number}"), value)).collect()
}

fn read_value(place: String, value: Value) -> Result<Item, String> {
    match value {
        Value::String(prompt) if prompt.trim().is_empty() => Err(format!("{place}: the task is empty")),
        Value::String(prompt) => Ok(Item { place, prompt: Some(prompt), ..Item::default() }),
        Value::Object(fields) => read_fields(place, fields),
        other => Err(format!("{place}: {other} is not a task; write a string or an object with {FIELDS}")),
    }
}

fn read_fields(place: String, fields: Map<String, Value>) -> Result<Item, String> {
    let mut item = Item { place, ..Item::default() };
    for (name, value) in fields {
        let wrong = |wanted: &str| format!("{}: {name}: {value} is not allowed; write {wanted}", item.place);
        if name == "labels" {
            let Value::Array(labels) = &value else { return Err(wrong("a list of strings")) };
            let labels: Option<Vec<String>> =
                labels.iter().map(|label| label.as_str().map(str::to_owned)).collect();
            item.labels = labels.ok_or_else(|| wrong("a list of strings"))?;
            continue;
        }
        if value.is_null() {
            continue;
        }
        let text = value.as_str().map(str::trim).filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| wrong("a text"))?.to_owned();
        match name.as_str() {
            "title" => item.title = Some(text.replace('\n', " ")),
            "prompt" | "description" if item.prompt.is_some() => {
                return Err(format!(
                    "{}: prompt and description mean the same; write only one of them",
                    item.place
                ));
            }
            "prompt" | "description" => item.prompt = Some(text),
            "executor" => {
                let profile = text.parse().map_err(|error| format!("{}: executor: {error}", item.place))?;
                item.executor = Some(profile);
            }
            "variant" => item.variant = Some(text),
            "model" => item.model = Some(text),
            "base" => item.base = Some(text),
            _ => return Err(format!("{}: '{name}' is unknown; allowed: {FIELDS}", item.place)),
        }
    }
    if item.title.is_none() && item.prompt.is_none() {
        return Err(format!("{}: it has neither a title nor a prompt", item.place));
    }
    Ok(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str, text: &str) -> Vec<(String, Option<String>)> {
        let items = parse(name, text).unwrap();
        items.iter().map(|item| item.describe(Executor::ClaudeCode)).collect()
    }

    fn task(title: &str, prompt: Option<&str>) -> (String, Option<String>) {
        (title.to_owned(), prompt.map(str::to_owned))
    }

    #[test]
    fn every_format_gives_the_same_tasks() {
        let want = [task("Fix a", Some("In a.rs\nand b.rs")), task("Fix c", None)];
        for (name, text) in [
            ("t.md", "# Fix a\n\nIn a.rs\nand b.rs\n---\nFix c\n"),
            ("-", "---\nFix a\nIn a.rs\nand b.rs\n---  \n\nFix c\n---\n"),
            ("t.json", r#"[{"title": "Fix a", "prompt": "In a.rs\nand b.rs"}, "Fix c"]"#),
            (
                "-",
                "{\"title\": \"Fix a\", \"description\": \"In a.rs\\nand b.rs\"}\n{\"prompt\": \"Fix c\"}\n",
            ),
            ("t.jsonl", "\"Fix a\\nIn a.rs\\nand b.rs\"\n\"Fix c\"\n"),
            ("t.yaml", "- title: Fix a\n  prompt: |\n    In a.rs\n    and b.rs\n- Fix c\n"),
        ] {
            assert_eq!(parsed(name, text), want, "{name}: {text}");
        }
    }

    #[test]
    fn dashes_in_code_separate_nothing() {
        assert_eq!(
            parsed("t.md", "A\n```\n---\n```\n---\nB"),
            [task("A", Some("```\n---\n```")), task("B", None)]
        );
    }

    #[test]
    fn a_task_may_name_its_agent() {
        let text = r#"[{"title": "A", "executor": "CODEX", "variant": "PLAN", "model": "m", "base": "dev", "labels": ["x"]}, "B"]"#;
        let items = parse("t.json", text).unwrap();
        let usual: ProfileId = "SHELL".parse().unwrap();
        let chosen = items[0].profile(&usual);
        assert_eq!((chosen.to_string().as_str(), chosen.model.as_deref()), ("CODEX:PLAN", Some("m")));
        assert_eq!(
            (items[0].base.as_deref(), items[0].labels.as_slice()),
            (Some("dev"), &["x".to_owned()][..])
        );
        assert_eq!(items[1].profile(&usual), usual);
        assert_eq!(items[1].describe(Executor::Shell), task("B", None));
    }

    #[test]
    fn every_mistake_is_reported_with_its_place() {
        for (name, text, want) in [
            (
                "t.md",
                "A\n---\n\n---\nB\n---\n#\n",
                &["line 3: the task is empty", "line 7: the title is empty"][..],
            ),
            (
                "t.json",
                r#"[{"title": 3}, {"titel": "x"}, 4]"#,
                &["task 1: title: 3", "task 2: 'titel' is unknown", "task 3: 4 is not a task"],
            ),
            ("t.json", "[\n{]", &["not JSON: key must be a string at line 2"]),
            (
                "t.jsonl",
                "\"A\"\n\n{}\n{\"executor\": \"NOBODY\", \"title\": \"x\"}",
                &["line 3: it has neither", "line 4: executor: unknown executor 'NOBODY'"],
            ),
            ("t.yaml", "title: x", &["line 1: not a list"]),
            ("t.yaml", "- a\n- b: [", &["not YAML: "]),
            ("t.md", "\n", &["it contains no task"]),
        ] {
            let mistakes = parse(name, text).unwrap_err();
            assert_eq!(mistakes.len(), want.len(), "{text}: {mistakes:?}");
            for (mistake, want) in mistakes.iter().zip(want) {
                assert!(mistake.contains(want), "{text}: {mistake:?} does not say {want:?}");
            }
        }
    }
}
