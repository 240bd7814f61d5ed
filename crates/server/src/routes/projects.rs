//! Projects, their branches and their files.
//!
//! Invariant: an unknown search mode is the default one, as shipped clients send modes that were never served.

use axum::extract::State;
use forge_core::{Forge, SearchScope};
use forge_types::wire::EditorUrl;
use forge_types::{CreateProject, OpenEditor, ProjectId, UpdateProject};

use crate::compat::Older;
use crate::envelope::{Answer, Fault, ok};
use crate::extract::{Id, OptionalPayload, Params, Payload, cut};

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    let page = params.page()?;
    Ok(match params.flag("counts")? {
        true => ok(cut(forge.counted_projects().await?, page)),
        false => ok(cut(forge.projects().await?, page)),
    })
}

pub(crate) async fn create(
    State(forge): State<Forge>,
    Payload(Older(request)): Payload<Older<CreateProject>>,
) -> Answer {
    Ok(ok(forge.create_project(request).await?))
}

pub(crate) async fn show(State(forge): State<Forge>, Id(id): Id<ProjectId>) -> Answer {
    Ok(ok(forge.project(id).await?))
}

pub(crate) async fn update(
    State(forge): State<Forge>,
    Id(id): Id<ProjectId>,
    Payload(Older(request)): Payload<Older<UpdateProject>>,
) -> Answer {
    Ok(ok(forge.update_project(id, request).await?))
}

pub(crate) async fn delete(State(forge): State<Forge>, Id(id): Id<ProjectId>) -> Answer {
    Ok(ok(forge.delete_project(id).await?))
}

pub(crate) async fn branches(State(forge): State<Forge>, Id(id): Id<ProjectId>) -> Answer {
    Ok(ok(forge.branches(id).await?))
}

pub(crate) async fn search(State(forge): State<Forge>, Id(id): Id<ProjectId>, params: Params) -> Answer {
    let query = params.require("q")?;
    if query.trim().is_empty() {
        return Err(Fault::refused("Query parameter 'q' is required and cannot be empty"));
    }
    let scope = match params.get("mode") {
        Some("settings") => SearchScope::All,
        _ => SearchScope::Tracked,
    };
    Ok(ok(forge.search_files(id, query, scope).await?))
}

/// What the board shows beside each task, or beside one task when it is named.
pub(crate) async fn cards(State(forge): State<Forge>, Id(id): Id<ProjectId>, params: Params) -> Answer {
    Ok(ok(forge.cards(id, params.optional_id("task_id")?).await?))
}

/// `url` is for editors that open by a link.
pub(crate) async fn open(
    State(forge): State<Forge>,
    Id(id): Id<ProjectId>,
    OptionalPayload(Older(request)): OptionalPayload<Older<OpenEditor>>,
) -> Answer {
    let url = forge.open_project(id, request).await?;
    Ok(ok(EditorUrl { url }))
}
