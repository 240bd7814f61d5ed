//! The tools that show what agents used and what it cost.
//!
//! Invariant: an invalid value is refused with its parameter's name and what is allowed.

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
        "Shows how many tokens agents and workers used and their known cost in dollars: of everything, one project or one attempt.";
    Reads get_worker_efficiency(DaysArguments)
        "Shows for each worker how many calls it made, what they cost, and how many tokens it got for a dollar.";
    Reads get_model_performance(DaysArguments)
        "Shows for each model what its tokens cost, how long its calls take, and how much of the input came from a cache.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct UsageArguments {
    /// Only use in this project.
    project_id: Option<Id<ProjectId>>,
    /// Only use by this attempt.
    attempt_id: Option<Id<AttemptId>>,
    /// How to group it: by project, executor, model, day, task, worker, bead, or several with commas; else by model.
    group_by: Option<String>,
    /// The first day that counts, such as 2026-01-31.
    from: Option<String>,
    /// The last day that counts, such as 2026-01-31.
    to: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct DaysArguments {
    /// Only use in this project.
    project_id: Option<Id<ProjectId>>,
    /// The first day that counts, such as 2026-01-31.
    from: Option<String>,
    /// The last day that counts, such as 2026-01-31.
    to: Option<String>,
}

impl DaysArguments {
    async fn query(self, call: &Call) -> Result<UsageQuery, Fault> {
        let project_id = self.project_id.map(|id| id.0);
        if let Some(id) = project_id {
            call.forge.project(id).await?;
        }
        let from = self.from.map(|day| read("from", &day)).transpose()?;
        let to = self.to.map(|day| read("to", &day)).transpose()?;
        Ok(UsageQuery { project_id, from, to, ..UsageQuery::default() })
    }
}

async fn get_worker_efficiency(call: Call, arguments: DaysArguments) -> Outcome {
    let query = arguments.query(&call).await?;
    let url = projects::url_of(&call.forge, query.project_id);
    Ok(json!({"workers": call.forge.worker_efficiency(query).await?, "url": url}).into())
}

async fn get_model_performance(call: Call, arguments: DaysArguments) -> Outcome {
    let query = arguments.query(&call).await?;
    let url = projects::url_of(&call.forge, query.project_id);
    Ok(json!({"models": call.forge.model_performance(query).await?, "url": url}).into())
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
    let mut report = json!(call.forge.usage(query).await?);
    report["applied_filters"] = json!({"project_id": project_id, "attempt_id": attempt_id});
    report["url"] = json!(projects::url_of(&call.forge, project_id));
    Ok(report.into())
}

fn read<T: FromStr<Err = String>>(name: &str, text: &str) -> Result<T, Fault> {
    text.trim().parse().map_err(|wrong| refuse(format!("{name}: {wrong}")))
}
