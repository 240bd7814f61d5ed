//! Arguments of tools: ids, statuses and profiles, read so that a mistake is reported in full.
//!
//! Invariant: a value that is refused is named in the message, together with what is allowed.

use std::borrow::Cow;
use std::str::FromStr;

use forge_types::{Executor, ProfileId, ProjectId, TaskId, TaskStatus};
use rmcp::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use crate::envelope::Fault;

/// An id of something that exists.
#[derive(Clone, Copy)]
pub(crate) struct Id<T>(pub T);

impl<'de, T: FromStr> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let wrong = |_| {
            serde::de::Error::custom(format!(
                "'{text}' is not a UUID; give the full id, as a tool returned it"
            ))
        };
        text.trim().parse().map(Id).map_err(wrong)
    }
}

impl<T> JsonSchema for Id<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "uuid"})
    }
}

/// A tool without parameters.
#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct ProjectArgument {
    /// The id of the project, from list_projects.
    pub project_id: Id<ProjectId>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct TaskArgument {
    /// The id of the task, from list_tasks.
    pub task_id: Id<TaskId>,
}

/// Reads a status in every spelling.
pub(crate) fn status(text: &str) -> Result<TaskStatus, Fault> {
    text.parse().map_err(|error: String| {
        refuse(format!(
            "status: {}",
            error.replace("inprogress", "in-progress").replace("inreview", "in-review")
        ))
    })
}

/// The status as MCP writes it.
pub(crate) fn kebab(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::InProgress => "in-progress",
        TaskStatus::InReview => "in-review",
        other => other.as_str(),
    }
}

/// The profile that an executor and a variant name. The variant may also follow the executor after a colon.
pub(crate) fn profile(executor: &str, variant: Option<String>) -> Result<ProfileId, Fault> {
    let executor = filled("executor", executor, &executors())?;
    let mut profile: ProfileId = executor.parse().map_err(|error| refuse(format!("executor: {error}")))?;
    if let Some(variant) = variant.filter(|variant| !variant.trim().is_empty()) {
        profile.variant = Some(variant.trim().to_owned());
    }
    Ok(profile)
}

fn executors() -> String {
    let names: Vec<&str> = Executor::ALL.iter().map(|executor| executor.as_str()).collect();
    format!("one of {}", names.join(", "))
}

/// The text, unless it is blank.
pub(crate) fn filled<'a>(name: &str, text: &'a str, allowed: &str) -> Result<&'a str, Fault> {
    match text.trim() {
        "" => Err(refuse(format!("{name}: '{text}' is blank; give {allowed}"))),
        text => Ok(text),
    }
}

pub(crate) fn refuse(message: impl Into<String>) -> Fault {
    Fault::new(axum::http::StatusCode::UNPROCESSABLE_ENTITY, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_are_read_in_every_spelling_and_mistakes_list_what_is_allowed() {
        assert_eq!(profile("claude-code", None).unwrap().to_string(), "CLAUDE_CODE");
        assert_eq!(profile(" codex:HIGH", None).unwrap().to_string(), "CODEX:HIGH");
        assert_eq!(profile("codex:HIGH", Some("plan".into())).unwrap().to_string(), "CODEX:plan");
        for (text, words) in [(" ", "is blank"), ("nope", "'nope'")] {
            let message = profile(text, None).unwrap_err().message;
            assert!(message.starts_with("executor: ") && message.contains(words), "{message}");
            assert!(message.contains("CLAUDE_CODE, AMP"), "{message}");
        }
    }

    #[test]
    fn statuses_are_read_in_every_spelling_and_written_in_one() {
        for text in ["inprogress", "in-progress", "in_progress", "InProgress"] {
            assert_eq!(kebab(status(text).unwrap()), "in-progress");
        }
        let message = status("finished").unwrap_err().message;
        assert!(
            message.contains("'finished'") && message.contains("todo, in-progress, in-review"),
            "{message}"
        );
    }
}
