//! Executor profiles, as one JSON text.
//!
//! Invariant: the body of a save is text whatever its content type, and an invalid text is a refusal (200 with
//! `success: false`), as shipped clients expect.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use forge_core::{Forge, Kind};
use forge_types::ProjectId;
use forge_types::wire::ProfilesFile;

use crate::compat::genie;
use crate::envelope::{Answer, Fault, ok};
use crate::extract::{Id, Params, read};

const PROFILES_LIMIT: usize = 16 << 20;

pub(crate) async fn show(State(forge): State<Forge>, params: Params) -> Answer {
    let content = format!("{:#}", forge.profiles(params.optional_id("project_id")?).await?);
    Ok(ok(ProfilesFile { content, path: forge.profiles_path() }))
}

pub(crate) async fn show_in_project(State(forge): State<Forge>, Id(project): Id<ProjectId>) -> Answer {
    Ok(ok(forge.profiles(Some(project)).await?))
}

pub(crate) async fn save(State(forge): State<Forge>, request: Request) -> Answer {
    let body = read(request, PROFILES_LIMIT).await?;
    let text =
        str::from_utf8(&body).map_err(|error| Fault::refused(format!("profiles: not UTF-8: {error}")))?;
    match forge.save_profiles(&genie::profiles(text)).await {
        Ok(()) => Ok(ok("Executor profiles updated successfully")),
        Err(error) if error.kind() == Kind::Invalid => Err(Fault::from(error).status(StatusCode::OK)),
        Err(error) => Err(error.into()),
    }
}
