//! Tools that list agents.
//!
//! Invariant: only the names of an agent are shown; options and environment, which may contain keys, are not.

use forge_types::{ForgeAgent, ProjectId};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::argument::{Id, ProjectArgument};
use crate::mcp::projects;
use crate::mcp::tool::{Call, Outcome, tools};

tools! {
    Reads list_profiles(ProfileArguments)
        "Lists the executors and variants with which an agent can be started: the built-in ones, the user's own, and those that a project describes.";
    Reads list_agents(ProjectArgument)
        "Lists the agents that are registered in a project, each with the task of its chat.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ProfileArguments {
    /// Include the agents that this project describes in its repository.
    project_id: Option<Id<ProjectId>>,
}

async fn list_profiles(call: Call, arguments: ProfileArguments) -> Outcome {
    let project_id = arguments.project_id.map(|id| id.0);
    let profiles = call.forge.profiles(project_id).await?;
    let executors = profiles["executors"].as_object();
    let list: Vec<Value> = executors.into_iter().flatten().map(show_profile).collect();
    let url = projects::url_of(&call.forge, project_id);
    Ok(json!({"executors": list, "count": list.len(), "project_id": project_id, "url": url}).into())
}

fn show_profile((executor, variants): (&String, &Value)) -> Value {
    let variants: Vec<&String> = variants.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    json!({"executor": executor, "variants": variants})
}

async fn list_agents(call: Call, arguments: ProjectArgument) -> Outcome {
    let id = arguments.project_id.0;
    call.forge.project(id).await?;
    let agents = call.forge.agents(id, None).await?;
    let url = projects::url(&call.forge, id);
    let show = |agent: &ForgeAgent| {
        json!({
            "id": agent.id,
            "agent_type": agent.agent_type,
            "task_id": agent.task_id,
            "created_at": agent.created_at,
            "url": format!("{url}/{}", agent.task_id),
        })
    };
    let list: Vec<Value> = agents.iter().map(show).collect();
    Ok(json!({"agents": list, "count": list.len(), "project_id": id, "url": url}).into())
}
