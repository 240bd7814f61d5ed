//! Publishing attempts: push and pull requests.
//!
//! Invariant: a refusal by a code host is a 200 with a word in `error_data`, as shipped clients expect.

use axum::extract::State;
use forge_core::{Forge, Opened};
use forge_types::{AttachPullRequest, AttemptId, CreatePullRequest};

use crate::compat::Older;
use crate::envelope::{Answer, ok, refuse};
use crate::extract::{Id, OptionalPayload, Payload};

pub(crate) async fn push(State(forge): State<Forge>, Id(id): Id<AttemptId>) -> Answer {
    Ok(ok(forge.push_attempt(id).await?))
}

pub(crate) async fn create(
    State(forge): State<Forge>,
    Id(id): Id<AttemptId>,
    Payload(Older(request)): Payload<Older<CreatePullRequest>>,
) -> Answer {
    Ok(match forge.create_pull_request(id, request).await? {
        Opened::Url(url) => ok(url),
        Opened::Refused(refusal) => refuse(refusal.code(), refusal),
    })
}

pub(crate) async fn attach(
    State(forge): State<Forge>,
    Id(id): Id<AttemptId>,
    OptionalPayload(request): OptionalPayload<AttachPullRequest>,
) -> Answer {
    Ok(ok(forge.attach_pull_request(id, request).await?))
}
