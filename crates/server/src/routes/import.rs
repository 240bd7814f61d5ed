//! Importing the data of another system.

use axum::extract::State;
use forge_core::Forge;
use forge_types::ImportRequest;

use crate::envelope::{Answer, ok};
use crate::extract::Payload;

pub(crate) async fn start(State(forge): State<Forge>, Payload(request): Payload<ImportRequest>) -> Answer {
    Ok(ok(forge.import_from(request).await?))
}
