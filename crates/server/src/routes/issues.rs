//! Tasks made from issues.

use axum::extract::State;
use forge_core::Forge;
use forge_types::wire::TaskOfIssue;
use forge_types::{ProjectId, TaskFromIssue};

use crate::envelope::{Answer, warn};
use crate::extract::{Id, Payload};

pub(crate) async fn create(
    State(forge): State<Forge>,
    Id(project): Id<ProjectId>,
    Payload(request): Payload<TaskFromIssue>,
) -> Answer {
    let made = forge.create_task_from_issue(project, request).await?;
    Ok(warn(TaskOfIssue::new(made.task, made.attempt, made.issue), made.warning))
}
