//! Tools that tell which agents there are.
//!
//! Invariant: an agent is told by its names alone; options and environment, where keys may stand, are not told.

use forge_types::{ForgeAgent, ProjectId};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::argument::{Id, ProjectArgument};
use crate::mcp::projects;
use crate::mcp::tool::{Call, Outcome, tools};

tools! {
    Reads list_profiles(ProfileArguments)
        "Lists what can be given as executor and variant to start an agent: the built-in ones, the user's own, and those that a project describes.";
    Reads list_agents(ProjectArgument)
        "Lists the agents that are registered in a project, each with the task that it lives in.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ProfileArguments {
    /// With the agents that this project describes in its repository.
    project_id: Option<Id<ProjectId>>,
}

async fn list_profiles(call: Call, arguments: ProfileArguments) -> Outcome {
    let project_id = arguments.project_id.map(|id| id.0);
    let profiles = call.forge.profiles(project_id).await?;
    let executors = profiles["executors"].as_object();
    let list: Vec<Value> = executors.into_iter().flatten().map(tell_profile).collect();
    let url = projects::url_of(&call.forge, project_id);
    Ok(json!({"executors": list, "count": list.len(), "project_id": project_id, "url": url}).into())
}

fn tell_profile((executor, variants): (&String, &Value)) -> Value {
    let variants: Vec<&String> = variants.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    json!({"executor": executor, "variants": variants})
}

async fn list_agents(call: Call, arguments: ProjectArgument) -> Outcome {
    let id = arguments.project_id.0;
    call.forge.project(id).await?;
    let agents = call.forge.agents(id, None).await?;
    let url = projects::url(&call.forge, id);
    let tell = |agent: &ForgeAgent| {
        json!({
            "id": agent.id,
            "agent_type": agent.agent_type,
            "task_id": agent.task_id,
            "created_at": agent.created_at,
            "url": format!("{url}/{}", agent.task_id),
        })
    };
    let list: Vec<Value> = agents.iter().map(tell).collect();
    Ok(json!({"agents": list, "count": list.len(), "project_id": id, "url": url}).into())
}
