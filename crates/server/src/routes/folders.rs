//! Folders of this machine, and the owner of a worktree.

use std::path::Path;

use axum::extract::State;
use forge_core::Forge;
use forge_types::wire::ContainerInfo;

use crate::envelope::{Answer, ok};
use crate::extract::Params;

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    Ok(ok(forge.list_folder(path(&params)).await?))
}

pub(crate) async fn repositories(State(forge): State<Forge>, params: Params) -> Answer {
    Ok(ok(forge.discover_repositories(path(&params)).await?))
}

pub(crate) async fn owner(State(forge): State<Forge>, params: Params) -> Answer {
    let attempt = forge.attempt_at(Path::new(params.require("ref")?)).await?;
    let (attempt_id, task_id, project_id) = (attempt.id, attempt.task_id, attempt.project_id);
    Ok(ok(ContainerInfo { attempt_id, task_id, project_id }))
}

fn path(params: &Params) -> Option<&Path> {
    params.get("path").filter(|path| !path.is_empty()).map(Path::new)
}
