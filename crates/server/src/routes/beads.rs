//! Beads: the issues of projects, who has them, and what waits for what.

use axum::extract::{Path, State};
use forge_core::{BeadFilter, Forge};
use forge_types::wire::{BeadLink, BeadUnlink};
use forge_types::{
    BeadsOf, ClaimBead, CloseBead, CommentBead, CreateBead, LinkBead, ReleaseBead, UpdateBead,
};

use crate::envelope::{Answer, Fault, ok};
use crate::extract::{OptionalPayload, Params, Payload};

/// Selects a workspace of beads by the query.
pub(crate) fn whose(params: &Params) -> Result<BeadsOf, Fault> {
    Ok(BeadsOf {
        project_id: params.optional_id("project_id")?,
        workspace: params.get("workspace").map(Into::into),
    })
}

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    let filter = BeadFilter { ready: params.flag("ready")?, status: params.get("status").map(str::to_owned) };
    Ok(ok(forge.beads(&whose(&params)?, &filter).await?))
}

pub(crate) async fn show(State(forge): State<Forge>, Path(id): Path<String>, params: Params) -> Answer {
    Ok(ok(forge.bead(&id, &whose(&params)?).await?))
}

pub(crate) async fn create(State(forge): State<Forge>, Payload(request): Payload<CreateBead>) -> Answer {
    Ok(ok(forge.create_bead(request).await?))
}

pub(crate) async fn update(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    Payload(request): Payload<UpdateBead>,
) -> Answer {
    Ok(ok(forge.update_bead(&id, request).await?))
}

pub(crate) async fn claim(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    OptionalPayload(request): OptionalPayload<ClaimBead>,
) -> Answer {
    Ok(ok(forge.claim_bead(&id, request).await?))
}

pub(crate) async fn release(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    OptionalPayload(request): OptionalPayload<ReleaseBead>,
) -> Answer {
    Ok(ok(forge.release_bead(&id, request).await?))
}

pub(crate) async fn close(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    Payload(request): Payload<CloseBead>,
) -> Answer {
    Ok(ok(forge.close_bead(&id, request).await?))
}

/// `added` is false when the dependency already existed.
pub(crate) async fn link(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    Payload(request): Payload<LinkBead>,
) -> Answer {
    let depends_on = request.depends_on.clone();
    let added = forge.link_beads(&id, request).await?;
    Ok(ok(BeadLink { bead: id, depends_on, added }))
}

/// `removed` is false when there was no such dependency.
pub(crate) async fn unlink(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    Payload(request): Payload<LinkBead>,
) -> Answer {
    let depends_on = request.depends_on.clone();
    let removed = forge.unlink_beads(&id, request).await?;
    Ok(ok(BeadUnlink { bead: id, depends_on, removed }))
}

pub(crate) async fn comment(
    State(forge): State<Forge>,
    Path(id): Path<String>,
    Payload(request): Payload<CommentBead>,
) -> Answer {
    Ok(ok(forge.comment_bead(&id, request).await?))
}
