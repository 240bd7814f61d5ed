//! Worktrees: what is on disk, and retiring it without losing it.
//!
//! Invariant: nothing here deletes; retiring keeps a copy that restoring brings back, and adopting takes over what
//! exists.

use axum::extract::State;
use forge_core::Forge;
use forge_types::AttemptId;
use forge_types::wire::GarbageRequest;

use crate::envelope::{Answer, ok};
use crate::extract::{Id, OptionalPayload};

pub(crate) async fn list(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.worktrees().await?))
}

pub(crate) async fn retire(State(forge): State<Forge>, Id(attempt): Id<AttemptId>) -> Answer {
    Ok(ok(forge.retire_worktree(attempt).await?))
}

pub(crate) async fn restore(State(forge): State<Forge>, Id(attempt): Id<AttemptId>) -> Answer {
    Ok(ok(forge.restore_worktree(attempt).await?))
}

pub(crate) async fn adopt(State(forge): State<Forge>, Id(attempt): Id<AttemptId>) -> Answer {
    Ok(ok(forge.adopt_worktree(attempt).await?))
}

pub(crate) async fn release(State(forge): State<Forge>, Id(attempt): Id<AttemptId>) -> Answer {
    Ok(ok(forge.release_worktree(attempt).await?))
}

pub(crate) async fn collect_garbage(
    State(forge): State<Forge>,
    OptionalPayload(request): OptionalPayload<GarbageRequest>,
) -> Answer {
    Ok(ok(forge.collect_garbage(request).await?))
}
