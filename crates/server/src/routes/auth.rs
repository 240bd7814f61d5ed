//! The GitHub login.
//!
//! Invariant: bodies are not read; the engine keeps the device code that some clients send.

use axum::extract::State;
use forge_core::Forge;

use crate::envelope::{Answer, ok};

pub(crate) async fn start(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.start_github_login().await?))
}

pub(crate) async fn poll(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.poll_github_login().await?))
}

pub(crate) async fn check(State(forge): State<Forge>) -> Answer {
    Ok(ok(forge.check_github_login().await?))
}
