//! Tools for beads, the issues that a project keeps for agents.
//!
//! Invariant: a bead is shown as its tracker has it, together with its state in Forge.

use forge_core::BeadFilter;
use forge_types::{BeadsOf, ClaimBead, CloseBead, CreateBead, ProjectId};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::mcp::argument::{Id, filled, refuse};
use crate::mcp::projects;
use crate::mcp::tool::{Call, Outcome, tools};

tools! {
    Reads list_beads(ListArguments)
        "Lists the beads of a project: its issues with what they wait for, who has them and whether they can be worked on now.";
    Adds create_bead(CreateArguments)
        "Creates a bead in a project, as a piece of work that an agent may get later.";
    Adds claim_bead(ClaimArguments)
        "Takes a bead, so that nobody else works on it. Refused when somebody has it, or when it waits for another bead.";
    Replaces close_bead(CloseArguments)
        "Closes a bead with a reason. Refused while an attempt works on it, or while it waits for another bead.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ListArguments {
    /// The id of the project, from list_projects.
    project_id: Id<ProjectId>,
    /// Only beads that can be worked on now.
    ready: Option<bool>,
    /// Only beads with this status, such as open or closed.
    status: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct CreateArguments {
    /// The id of the project, from list_projects.
    project_id: Id<ProjectId>,
    /// What is to be done, in a line.
    title: String,
    /// What an agent needs to know to do it.
    description: Option<String>,
    /// From 0, the most urgent, to 4; 2 when left out.
    priority: Option<i64>,
    /// Such as task, bug or feature; task when left out.
    issue_type: Option<String>,
    /// Ids of beads that must be closed first.
    depends_on: Option<Vec<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ClaimArguments {
    /// The id of the project, from list_projects.
    project_id: Id<ProjectId>,
    /// The id of the bead, from list_beads.
    bead: String,
    /// Who takes it: a name without blanks.
    worker: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct CloseArguments {
    /// The id of the project, from list_projects.
    project_id: Id<ProjectId>,
    /// The id of the bead, from list_beads.
    bead: String,
    /// What was done.
    reason: String,
}

fn of(project: Id<ProjectId>) -> BeadsOf {
    BeadsOf { project_id: Some(project.0), workspace: None }
}

async fn list_beads(call: Call, arguments: ListArguments) -> Outcome {
    let filter = BeadFilter { ready: arguments.ready.unwrap_or(false), status: arguments.status };
    let beads = call.forge.beads(&of(arguments.project_id), &filter).await?;
    Ok(json!({"project_id": arguments.project_id.0, "beads": beads, "count": beads.len(),
        "url": projects::url(&call.forge, arguments.project_id.0)})
    .into())
}

async fn create_bead(call: Call, arguments: CreateArguments) -> Outcome {
    let request = CreateBead {
        of: of(arguments.project_id),
        title: filled("title", &arguments.title, "what is to be done")?.to_owned(),
        description: arguments.description,
        issue_type: arguments.issue_type,
        priority: arguments.priority,
        labels: Vec::new(),
        parent: None,
        depends_on: arguments.depends_on.unwrap_or_default(),
    };
    let bead = call.forge.create_bead(request).await?;
    Ok(json!({"bead": bead, "url": projects::url(&call.forge, arguments.project_id.0)}).into())
}

async fn claim_bead(call: Call, arguments: ClaimArguments) -> Outcome {
    let worker = arguments.worker.map(|name| name.parse()).transpose();
    let worker = worker.map_err(|error: forge_types::InvalidWorkerId| refuse(format!("worker: {error}")))?;
    let request = ClaimBead { of: of(arguments.project_id), worker };
    let bead = call.forge.claim_bead(&arguments.bead, request).await?;
    Ok(json!({"bead": bead, "url": projects::url(&call.forge, arguments.project_id.0)}).into())
}

async fn close_bead(call: Call, arguments: CloseArguments) -> Outcome {
    let reason = filled("reason", &arguments.reason, "what was done")?.to_owned();
    let request = CloseBead { of: of(arguments.project_id), reason };
    let bead = call.forge.close_bead(&arguments.bead, request).await?;
    Ok(json!({"bead": bead, "url": projects::url(&call.forge, arguments.project_id.0)}).into())
}
