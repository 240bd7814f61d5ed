//! What a tool is, and the table of all of them.
//!
//! Invariant: name, description, effect, parameters and function are in one row and cannot disagree. A tool that
//! changes something runs to its end even when its caller goes away in the middle. Every failure is reported in the
//! result, in words that the caller can act on.

use std::pin::Pin;
use std::sync::Arc;

use forge_core::Forge;
use forge_types::ErrorCode;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ToolAnnotations};
use rmcp::schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::envelope::Fault;
use crate::mcp::progress::Progress;
use crate::mcp::{
    agents, approvals, attempts, beads, branches, drafts, errands, processes, projects, pulls, results,
    tasks, usage, workers,
};

/// One call of a tool.
pub(crate) struct Call {
    pub forge: Forge,
    pub progress: Progress,
    /// The caller has gone away, or has cancelled the call.
    pub left: CancellationToken,
}

pub(crate) type Outcome = Result<Reply, Fault>;
type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The result of a tool: data for programs, and text for people and models where JSON is not the best text.
pub(crate) struct Reply {
    pub data: Value,
    pub text: Option<String>,
}

impl From<Value> for Reply {
    fn from(data: Value) -> Self {
        Self { data, text: None }
    }
}

/// What calling a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    /// Something is created.
    Adds,
    /// Something is replaced or ends.
    Replaces,
    /// An agent starts, which may do anything.
    Starts,
    /// Work is sent to another machine.
    Publishes,
}

pub(crate) struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    pub effect: Effect,
    pub parameters: fn() -> JsonObject,
    pub call: fn(Call, Value) -> Work,
}

/// A group of tools: effect, function (its name is the tool's), its arguments, description.
macro_rules! tools {
    ($($effect:ident $name:ident($arguments:ty) $description:literal;)*) => {
        pub(crate) const TOOLS: &[$crate::mcp::tool::Tool] = &[$($crate::mcp::tool::Tool {
            name: stringify!($name),
            description: $description,
            effect: $crate::mcp::tool::Effect::$effect,
            parameters: $crate::mcp::tool::parameters::<$arguments>,
            call: |call, arguments| Box::pin(async move {
                let arguments: $arguments = $crate::extract::decode_value(&arguments)?;
                $name(call, arguments).await
            }),
        },)*];
    };
}
pub(crate) use tools;

/// The tools to start work, follow it, judge it and land it. It only grows within these groups: every tool costs each
/// caller some of its attention.
const USUAL: &[&[Tool]] = &[
    projects::TOOLS,
    tasks::TOOLS,
    attempts::TOOLS,
    results::TOOLS,
    branches::TOOLS,
    pulls::TOOLS,
    approvals::TOOLS,
    agents::TOOLS,
    errands::TOOLS,
];

/// The rest, and the place for every new group.
const ADVANCED: &[&[Tool]] = &[drafts::TOOLS, processes::TOOLS, usage::TOOLS, beads::TOOLS, workers::TOOLS];

/// The tools that are listed, in their order.
pub(crate) fn listed(is_advanced: bool) -> impl Iterator<Item = &'static Tool> {
    let advanced = if is_advanced { ADVANCED } else { &[] };
    USUAL.iter().chain(advanced).copied().flatten()
}

/// A tool that is not listed can still be called by its name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    listed(true).find(|tool| tool.name == name)
}

impl Tool {
    pub(crate) fn describe(&self) -> rmcp::model::Tool {
        let parameters = Arc::new((self.parameters)());
        rmcp::model::Tool::new(self.name, self.description, parameters).annotate(self.effect.annotations())
    }

    pub(crate) async fn answer(&'static self, call: Call, arguments: Value) -> CallToolResult {
        let work = (self.call)(call, arguments);
        let outcome = match self.effect {
            Effect::Reads => work.await,
            _ => tokio::spawn(work.in_current_span()).await.unwrap_or_else(|error| {
                tracing::error!(tool = self.name, %error, "a tool did not finish");
                let status = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
                Err(Fault::new(status, "the server failed in the middle of this; see its log"))
            }),
        };
        match outcome {
            Ok(reply) => succeed(reply),
            Err(fault) => fail(&fault),
        }
    }
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let (read_only, destructive, idempotent, open_world) = match self {
            Effect::Reads => (true, false, true, false),
            Effect::Adds => (false, false, false, false),
            Effect::Replaces => (false, true, true, false),
            Effect::Starts => (false, false, false, true),
            Effect::Publishes => (false, false, true, true),
        };
        let hints = ToolAnnotations::new().read_only(read_only).destructive(destructive);
        hints.idempotent(idempotent).open_world(open_world)
    }
}

/// Times are written with an offset here, where the rest of the interface writes `Z`.
fn offset_times(data: &mut Value) {
    match data {
        Value::Array(items) => items.iter_mut().for_each(offset_times),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text)
                        if ["_at", "_until", "_date"].iter().any(|end| key.ends_with(end)) =>
                    {
                        if let Some(time) = text.strip_suffix('Z').filter(|time| time.contains('T')) {
                            *text = format!("{time}+00:00");
                        }
                    }
                    value => offset_times(value),
                }
            }
        }
        _ => {}
    }
}

fn succeed(mut reply: Reply) -> CallToolResult {
    offset_times(&mut reply.data);
    let text = reply.text.unwrap_or_else(|| format!("{:#}", reply.data));
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(reply.data);
    result
}

fn fail(fault: &Fault) -> CallToolResult {
    // Over HTTP some refusals are a 200, which here would look like a success.
    let details = match fault.status.is_success() {
        true => "refused".to_owned(),
        false => fault.status.to_string(),
    };
    let error = match advice(fault.code) {
        Some(help) => format!("{}; {help}", fault.message),
        None => fault.sentence(),
    };
    let failure = json!({"success": false, "error": error, "details": details, "code": fault.code});
    let mut result = CallToolResult::error(vec![ContentBlock::text(format!("{failure:#}"))]);
    result.structured_content = Some(failure);
    result
}

/// The engine reports what is wrong; which tool helps, only this crate knows. It takes the place of the engine's hint.
fn advice(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::ProjectNotFound => "list_projects lists them",
        ErrorCode::ProjectRequired => "name one with project_id; list_projects lists them",
        ErrorCode::TaskNotFound => "list_tasks lists them",
        ErrorCode::AttemptNotFound => "list_task_attempts lists them",
        ErrorCode::ErrandNotFound => "list_execution_runs lists them",
        ErrorCode::RunNotFound => "list_processes lists them",
        ErrorCode::ApprovalNotFound => "list_approvals lists them",
        ErrorCode::WorkerNotFound => "list_workers lists them",
        ErrorCode::NoDevScript => "update_project sets dev_script",
        ErrorCode::NoDraft => "save_draft writes one",
        ErrorCode::BranchDiverged => "rebase_task_attempt brings it up to date",
        _ => return None,
    })
}

/// The JSON Schema of a tool's parameters, without what only a standalone schema needs.
pub(crate) fn parameters<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    let mut object = schema.as_object_mut().map(std::mem::take).unwrap_or_default();
    object.remove("title");
    object.remove("description");
    object.entry("type").or_insert_with(|| json!("object"));
    object.entry("properties").or_insert_with(|| json!({}));
    object
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_tool_is_described_shortly_and_says_what_it_does_to_the_world() {
        let mut names = BTreeSet::new();
        for tool in listed(true) {
            assert!(names.insert(tool.name), "{} stands twice in the table", tool.name);
            let words = tool.description;
            assert!((20..=300).contains(&words.len()), "{}: {} letters", tool.name, words.len());
            assert!(words.ends_with('.') && !words.contains("  "), "{}: {words}", tool.name);
            let described = serde_json::to_value(tool.describe()).unwrap();
            let hints = described["annotations"].as_object().unwrap();
            assert_eq!(hints.len(), 4, "{}: {hints:?}", tool.name);
            let parameters = described["inputSchema"]["properties"].as_object().unwrap();
            assert_spoken_of(tool.name, words, parameters);
            for (parameter, schema) in parameters {
                let words = schema["description"].as_str();
                let words = words.unwrap_or_else(|| panic!("{}.{parameter} is not described", tool.name));
                assert_spoken_of(tool.name, words, parameters);
            }
        }
    }

    /// A tool or parameter that a description refers to has to exist.
    fn assert_spoken_of(tool: &str, words: &str, parameters: &serde_json::Map<String, Value>) {
        for word in named(words) {
            assert!(find(word).is_some() || parameters.contains_key(word), "{tool} speaks of {word}");
        }
    }

    /// Words that can only be names of tools and parameters. The names of agents have capitals.
    fn named(words: &str) -> impl Iterator<Item = &str> {
        let words = words.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        words.filter(|word| word.contains('_') && *word == word.to_ascii_lowercase())
    }

    #[test]
    fn a_failure_has_its_code_and_the_tool_that_helps_instead_of_a_hint_for_people() {
        let missing = Fault::new(axum::http::StatusCode::NOT_FOUND, "there is no worker 'a'");
        let missing =
            missing.code(ErrorCode::WorkerNotFound).hint("`forge worker list` shows which there are");
        let failure = fail(&missing).structured_content.unwrap();
        assert_eq!(failure["code"], "worker_not_found");
        assert_eq!(failure["error"], "there is no worker 'a'; list_workers lists them");
        let full = Fault::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, "full").hint("free some");
        assert_eq!(fail(&full).structured_content.unwrap()["error"], "full; free some");
    }

    #[test]
    fn what_is_advised_can_be_done() {
        for advice in ErrorCode::ALL.iter().filter_map(|code| advice(*code)) {
            assert_eq!(named(advice).filter(|word| find(word).is_some()).count(), 1, "{advice}");
        }
        for word in named(crate::mcp::INSTRUCTIONS) {
            assert!(find(word).is_some(), "the instructions speak of {word}");
        }
    }
}
