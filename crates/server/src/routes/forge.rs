//! The forge group: settings, notifications through Omni, and agents of projects.
//!
//! Invariant: responses about Omni are JSON without the envelope, as shipped clients expect; errors still have it.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use forge_core::Forge;
use forge_types::wire::{Notifications, OmniInstances, OmniProbe};
use forge_types::{AttemptId, CreateAgent, ProjectId};

use crate::envelope::{Answer, json as raw, ok};
use crate::extract::{Id, Params, Payload, decode, read_json};
use crate::routes::config::CONFIG_LIMIT;

pub(crate) async fn settings(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.shown_general_settings().await?))
}

pub(crate) async fn save_settings(State(forge): State<Forge>, request: Request) -> Answer {
    let change = decode(&read_json(request, CONFIG_LIMIT).await?)?;
    Ok(ok(forge.change_general_settings(change).await?))
}

pub(crate) async fn project_settings(State(forge): State<Forge>, Id(project): Id<ProjectId>) -> Answer {
    Ok(ok(forge.shown_project_settings(project).await?))
}

pub(crate) async fn save_project_settings(
    State(forge): State<Forge>,
    Id(project): Id<ProjectId>,
    request: Request,
) -> Answer {
    let change = decode(&read_json(request, CONFIG_LIMIT).await?)?;
    Ok(ok(forge.change_project_settings(project, change).await?))
}

pub(crate) async fn omni_status(State(forge): State<Forge>) -> Answer {
    Ok(raw(StatusCode::OK, &forge.omni_status().await?))
}

pub(crate) async fn omni_instances(State(forge): State<Forge>) -> Answer {
    let body = match forge.omni_instances().await? {
        Some(instances) => OmniInstances { instances, error: None },
        None => OmniInstances {
            instances: Vec::new(),
            error: Some("Failed to connect to Omni service".to_owned()),
        },
    };
    Ok(raw(StatusCode::OK, &body))
}

pub(crate) async fn probe_omni(State(forge): State<Forge>, Payload(probe): Payload<OmniProbe>) -> Answer {
    Ok(raw(StatusCode::OK, &forge.probe_omni(probe).await?))
}

pub(crate) async fn notifications(State(forge): State<Forge>) -> Answer {
    Ok(raw(StatusCode::OK, &Notifications { notifications: forge.notifications().await? }))
}

pub(crate) async fn agents(State(forge): State<Forge>, params: Params) -> Answer {
    Ok(ok(forge.agents(params.id("project_id")?, params.get("agent_type")).await?))
}

pub(crate) async fn create_agent(
    State(forge): State<Forge>,
    Payload(request): Payload<CreateAgent>,
) -> Answer {
    Ok(ok(forge.create_agent(request).await?))
}

pub(crate) async fn neurons(State(forge): State<Forge>, Id(attempt): Id<AttemptId>) -> Answer {
    Ok(ok(forge.neurons(attempt).await?))
}

pub(crate) async fn subtasks(State(forge): State<Forge>, Id(attempt): Id<AttemptId>) -> Answer {
    Ok(ok(forge.subtasks(attempt).await?))
}
