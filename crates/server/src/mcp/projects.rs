//! Tools for projects.
//!
//! Invariant: a project is shown whole, with the address of its board.

use forge_core::Forge;
use forge_types::{CreateProject, Project, ProjectId, RegisteredProject, UpdateProject};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::argument::{Id, Nothing, ProjectArgument, filled};
use crate::mcp::tool::{Call, Outcome, tools};

tools! {
    Reads list_projects(Nothing)
        "Lists every project (a git repository known to Forge) with its id, path and scripts, newest first.";
    Reads get_project(ProjectArgument)
        "Shows one project: its repository, scripts and default base branch.";
    Reads list_branches(ProjectArgument)
        "Lists the local and remote branches of a project's repository; an attempt can begin from any of them.";
    Adds create_project(CreateArguments)
        "Adds an existing git repository on the server's machine as a project.";
    Replaces update_project(UpdateArguments)
        "Changes the name or the scripts of a project. What is left out stays; an empty script is removed.";
    Replaces delete_project(ProjectArgument)
        "Removes a project with its tasks and attempts from Forge. The repository and its branches stay. Refused while agents run.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct CreateArguments {
    /// The name on the board.
    name: String,
    /// Absolute path of the repository.
    git_repo_path: String,
    /// Shell script that runs in every new worktree before the agent.
    setup_script: Option<String>,
    /// Shell script that runs after the agent.
    cleanup_script: Option<String>,
    /// Shell script that starts the dev server.
    dev_script: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct UpdateArguments {
    /// The id of the project, from list_projects.
    project_id: Id<ProjectId>,
    /// New name on the board.
    name: Option<String>,
    /// Shell script that runs in every new worktree before the agent.
    setup_script: Option<String>,
    /// Shell script that runs after the agent.
    cleanup_script: Option<String>,
    /// Shell script that starts the dev server.
    dev_script: Option<String>,
}

async fn list_projects(call: Call, _: Nothing) -> Outcome {
    let projects = call.forge.projects().await?;
    let list: Vec<Value> = projects.iter().map(|project| show(&call.forge, project)).collect();
    Ok(json!({"projects": list, "count": list.len(), "url": board(&call.forge)}).into())
}

async fn get_project(call: Call, arguments: ProjectArgument) -> Outcome {
    let project = call.forge.project(arguments.project_id.0).await?;
    Ok(json!({"project": show(&call.forge, &project)}).into())
}

async fn list_branches(call: Call, arguments: ProjectArgument) -> Outcome {
    let id = arguments.project_id.0;
    let branches = call.forge.branches(id).await?;
    Ok(json!({"project_id": id, "url": url(&call.forge, id), "branches": branches, "count": branches.len()})
        .into())
}

async fn create_project(call: Call, arguments: CreateArguments) -> Outcome {
    let request = CreateProject {
        max_cost_usd: None,
        name: filled("name", &arguments.name, "a name for the board")?.to_owned(),
        git_repo_path: filled(
            "git_repo_path",
            &arguments.git_repo_path,
            "the absolute path of a repository",
        )?
        .to_owned(),
        use_existing_repo: true,
        setup_script: arguments.setup_script,
        dev_script: arguments.dev_script,
        cleanup_script: arguments.cleanup_script,
        copy_files: None,
        commit_prompt: None,
        default_base_branch: None,
    };
    let RegisteredProject { project, first_commit } = call.forge.create_project(request).await?;
    let mut result = json!({"project_id": project.id, "project": show(&call.forge, &project)});
    if let Some(branch) = first_commit {
        result["first_commit"] = branch.into();
    }
    Ok(result.into())
}

async fn update_project(call: Call, arguments: UpdateArguments) -> Outcome {
    let script = |text: Option<String>| text.map(|text| Some(text).filter(|text| !text.trim().is_empty()));
    let request = UpdateProject {
        name: arguments.name,
        setup_script: script(arguments.setup_script),
        cleanup_script: script(arguments.cleanup_script),
        dev_script: script(arguments.dev_script),
        ..UpdateProject::default()
    };
    let project = call.forge.update_project(arguments.project_id.0, request).await?.project;
    Ok(json!({"project": show(&call.forge, &project)}).into())
}

async fn delete_project(call: Call, arguments: ProjectArgument) -> Outcome {
    let id = arguments.project_id.0;
    call.forge.delete_project(id).await?;
    Ok(json!({"deleted": true, "project_id": id, "url": board(&call.forge)}).into())
}

/// Where people see all projects.
pub(crate) fn board(forge: &Forge) -> String {
    format!("{}/projects", forge.config().public_url.trim_end_matches('/'))
}

/// Where people see the project.
pub(crate) fn url(forge: &Forge, id: ProjectId) -> String {
    format!("{}/{id}/tasks", board(forge))
}

/// Where people see the project, or all of them when none is given.
pub(crate) fn url_of(forge: &Forge, id: Option<ProjectId>) -> String {
    id.map_or_else(|| board(forge), |id| url(forge, id))
}

fn show(forge: &Forge, project: &Project) -> Value {
    json!({
        "id": project.id,
        "name": project.name,
        "git_repo_path": project.git_repo_path,
        "default_base_branch": project.default_base_branch,
        "setup_script": project.setup_script,
        "cleanup_script": project.cleanup_script,
        "dev_script": project.dev_script,
        "created_at": project.created_at,
        "updated_at": project.updated_at,
        "url": url(forge, project.id),
    })
}
