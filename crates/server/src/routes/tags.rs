//! Tags: words that stand for longer texts.

use axum::extract::State;
use forge_core::Forge;
use forge_types::{CreateTag, TagId, UpdateTag};

use crate::envelope::{Answer, ok};
use crate::extract::{Id, Params, Payload};

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    Ok(ok(forge.tags(params.get("search")).await?))
}

pub(crate) async fn create(State(forge): State<Forge>, Payload(request): Payload<CreateTag>) -> Answer {
    Ok(ok(forge.create_tag(request).await?))
}

pub(crate) async fn show(State(forge): State<Forge>, Id(id): Id<TagId>) -> Answer {
    Ok(ok(forge.tag(id).await?))
}

pub(crate) async fn update(
    State(forge): State<Forge>,
    Id(id): Id<TagId>,
    Payload(request): Payload<UpdateTag>,
) -> Answer {
    Ok(ok(forge.update_tag(id, request).await?))
}

pub(crate) async fn delete(State(forge): State<Forge>, Id(id): Id<TagId>) -> Answer {
    Ok(ok(forge.delete_tag(id).await?))
}
