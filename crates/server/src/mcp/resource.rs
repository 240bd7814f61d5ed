//! Resources: texts of Forge that a client can read by address.
//!
//! Invariant: every text is bounded, and says so where something was left out. For an address that matches nothing the
//! error lists the possible forms.

use forge_core::{Error, Forge, Kind, PatchRequest};
use forge_types::{AttemptId, ProjectId};
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use crate::mcp::results::{DIFF_FILES, MAX_DIFF_BYTES, MAX_LOG_BYTES};
use crate::mcp::tasks::{show_line, tasks_of};

const MAX_TASKS: usize = 1000;

/// What an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
    Logs(AttemptId),
    Diff(AttemptId),
    Tasks(ProjectId),
}

impl Address {
    fn parse(uri: &str) -> Option<Self> {
        let mut parts = uri.strip_prefix("forge://")?.split('/');
        let (kind, id, what) = (parts.next()?, parts.next()?, parts.next()?);
        match (kind, what, parts.next()) {
            ("attempt", "logs", None) => id.parse().ok().map(Address::Logs),
            ("attempt", "diff", None) => id.parse().ok().map(Address::Diff),
            ("project", "tasks", None) => id.parse().ok().map(Address::Tasks),
            _ => None,
        }
    }
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    [
        (
            "forge://attempt/{id}/logs",
            "attempt-logs",
            "text/markdown",
            "The readable transcript of an attempt.",
        ),
        (
            "forge://attempt/{id}/diff",
            "attempt-diff",
            "text/x-diff",
            "The patch of an attempt against its target.",
        ),
        ("forge://project/{id}/tasks", "project-tasks", "application/json", "The tasks of a project."),
    ]
    .map(|(uri, name, media, words)| {
        ResourceTemplate::new(uri, name).with_mime_type(media).with_description(words)
    })
    .to_vec()
}

/// The task lists; transcripts and patches are too many to list. Clients find them by their attempts.
pub(crate) async fn list(forge: &Forge) -> Result<Vec<Resource>, ErrorData> {
    let projects = forge.projects().await.map_err(|error| to_protocol(&error))?;
    let resources = projects.iter().map(|project| {
        let resource = Resource::new(format!("forge://project/{}/tasks", project.id), &project.name);
        resource
            .with_mime_type("application/json")
            .with_description(format!("The tasks of {}.", project.name))
    });
    Ok(resources.collect())
}

pub(crate) async fn read(forge: &Forge, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let Some(address) = Address::parse(uri) else {
        let message = format!(
            "uri: '{uri}' matches nothing; allowed: forge://attempt/<id>/logs, forge://attempt/<id>/diff, \
             forge://project/<id>/tasks"
        );
        return Err(ErrorData::resource_not_found(message, None));
    };
    let (media, text) = write(forge, address).await.map_err(|error| to_protocol(&error))?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(media)]))
}

async fn write(forge: &Forge, address: Address) -> Result<(&'static str, String), Error> {
    match address {
        Address::Logs(id) => {
            let transcript = forge.transcript(id, MAX_LOG_BYTES).await?;
            let cut = if transcript.truncated { "(older parts are left out)\n\n" } else { "" };
            Ok(("text/markdown", format!("{cut}{}", transcript.text)))
        }
        Address::Diff(id) => {
            let patch = forge.patch(id, PatchRequest::whole(MAX_DIFF_BYTES, DIFF_FILES)).await?;
            let cut = if patch.truncated { "\n(the rest is left out)\n" } else { "" };
            Ok(("text/x-diff", format!("{}{cut}", patch.text)))
        }
        Address::Tasks(id) => {
            let tasks = tasks_of(forge, id).await?;
            let list: Vec<_> =
                tasks.iter().take(MAX_TASKS).map(|summary| show_line(forge, summary)).collect();
            let shown = json!({"project_id": id, "tasks": list, "truncated": tasks.len() > MAX_TASKS});
            Ok(("application/json", format!("{shown:#}")))
        }
    }
}

fn to_protocol(error: &Error) -> ErrorData {
    let message = error.to_string();
    match error.kind() {
        Kind::NotFound => ErrorData::resource_not_found(message, None),
        Kind::Internal => {
            tracing::error!(message, "a resource cannot be read");
            ErrorData::internal_error(message, None)
        }
        _ => ErrorData::invalid_params(message, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_three_forms_are_addresses() {
        let id = "f8924071-fa8e-43ee-8fbc-96ec5b49b3da";
        let attempt: AttemptId = id.parse().unwrap();
        assert_eq!(Address::parse(&format!("forge://attempt/{id}/logs")), Some(Address::Logs(attempt)));
        assert_eq!(Address::parse(&format!("forge://attempt/{id}/diff")), Some(Address::Diff(attempt)));
        let project = Address::Tasks(id.parse().unwrap());
        assert_eq!(Address::parse(&format!("forge://project/{id}/tasks")), Some(project));
        for wrong in
            ["", "forge://", "file:///etc/passwd", "forge://attempt/x/logs", "forge://attempt/../logs"]
        {
            assert_eq!(Address::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Address::parse(&format!("forge://attempt/{id}/logs/more")), None);
        assert_eq!(Address::parse(&format!("forge://project/{id}/logs")), None);
    }
}
