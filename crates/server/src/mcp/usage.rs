//! The tool that tells what agents used and what it cost.
//!
//! Invariant: a value that cannot be read is refused with its parameter's name and what is allowed.

use std::str::FromStr;

use forge_types::{AttemptId, ProjectId, UsageQuery};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::envelope::Fault;
use crate::mcp::argument::{Id, refuse};
use crate::mcp::projects;
use crate::mcp::tool::{Call, Outcome, tools};

tools! {
    Reads get_usage(UsageArguments)
        "Tells how many tokens agents used and what is known of their cost in dollars: of everything, one project or one attempt.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct UsageArguments {
    /// Only use in this project.
    project_id: Option<Id<ProjectId>>,
    /// Only use by this attempt.
    attempt_id: Option<Id<AttemptId>>,
    /// How it is summed up: project, executor, model, day, or several of them with commas; by model when left out.
    group_by: Option<String>,
    /// The first day that counts, such as 2026-01-31.
    from: Option<String>,
    /// The last day that counts, such as 2026-01-31.
    to: Option<String>,
}

async fn get_usage(call: Call, arguments: UsageArguments) -> Outcome {
    let (project_id, attempt_id) = (arguments.project_id.map(|id| id.0), arguments.attempt_id.map(|id| id.0));
    // A sum of nothing would look like an answer.
    if let Some(id) = project_id {
        call.forge.project(id).await?;
    }
    if let Some(id) = attempt_id {
        call.forge.attempt(id).await?;
    }
    let keys = arguments.group_by.iter().flat_map(|list| list.split(','));
    let query = UsageQuery {
        group_by: keys.map(|key| read("group_by", key)).collect::<Result<_, _>>()?,
        project_id,
        attempt_id,
        from: arguments.from.map(|day| read("from", &day)).transpose()?,
        to: arguments.to.map(|day| read("to", &day)).transpose()?,
    };
    let mut told = json!(call.forge.usage(query).await?);
    told["applied_filters"] = json!({"project_id": project_id, "attempt_id": attempt_id});
    told["url"] = json!(projects::url_of(&call.forge, project_id));
    Ok(told.into())
}

fn read<T: FromStr<Err = String>>(name: &str, text: &str) -> Result<T, Fault> {
    text.trim().parse().map_err(|wrong| refuse(format!("{name}: {wrong}")))
}
