//! Templates: tasks to begin from.

use axum::extract::State;
use forge_core::{Forge, TemplateScope};
use forge_types::{CreateTemplate, TemplateId, UpdateTemplate};

use crate::envelope::{Answer, Fault, ok};
use crate::extract::{Id, Params, Payload};

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    let scope = match (params.flag("global")?, params.optional_id("project_id")?) {
        (true, Some(_)) => {
            return Err(Fault::bad_request("global, project_id: give one of them, not both"));
        }
        (true, None) => TemplateScope::Global,
        (false, Some(project)) => TemplateScope::Project(project),
        (false, None) => TemplateScope::All,
    };
    Ok(ok(forge.templates(scope).await?))
}

pub(crate) async fn create(State(forge): State<Forge>, Payload(request): Payload<CreateTemplate>) -> Answer {
    Ok(ok(forge.create_template(request).await?))
}

pub(crate) async fn show(State(forge): State<Forge>, Id(id): Id<TemplateId>) -> Answer {
    Ok(ok(forge.template(id).await?))
}

pub(crate) async fn update(
    State(forge): State<Forge>,
    Id(id): Id<TemplateId>,
    Payload(request): Payload<UpdateTemplate>,
) -> Answer {
    Ok(ok(forge.update_template(id, request).await?))
}

pub(crate) async fn delete(State(forge): State<Forge>, Id(id): Id<TemplateId>) -> Answer {
    Ok(ok(forge.delete_template(id).await?))
}
