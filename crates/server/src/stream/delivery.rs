//! How frames reach a client: over a WebSocket, as server-sent events, or a page at a time.
//!
//! The same handler serves all three, and the end of the path chooses: `/ws`, `/sse`, or neither. Invariant: the frames
//! are the same on every transport, so a client may continue on another one after the number it has seen.

use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;
use forge_core::Error;
use futures_util::Stream;

use crate::App;
use crate::envelope::Fault;
use crate::extract::Params;
use crate::stream::socket::{Batch, Upgrade};
use crate::stream::{page, sse};

/// As long as proxies commonly let a request last.
pub(crate) const WAIT_MAX_MS: u64 = 30_000;

pub(crate) struct Delivery {
    way: Way,
    after: Option<i64>,
}

enum Way {
    Socket(Box<Upgrade>),
    Events,
    Page { wait: Duration },
}

impl<S: Send + Sync> FromRequestParts<S> for Delivery {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        let params = Params::from_request_parts(parts, state).await?;
        let path = parts.uri.path();
        if path.ends_with("/ws") {
            let way = Way::Socket(Box::new(Upgrade::from_request_parts(parts, state).await?));
            return Ok(Self { way, after: params.after()? });
        }
        // The newer transports always number their frames.
        if path.ends_with("/sse") {
            let after = sse::position(&parts.headers, &params)?.unwrap_or(0);
            return Ok(Self { way: Way::Events, after: Some(after) });
        }
        let wait_ms = params.number("wait_ms", 0, WAIT_MAX_MS)?.unwrap_or(0);
        let way = Way::Page { wait: Duration::from_millis(wait_ms) };
        Ok(Self { way, after: Some(params.after()?.unwrap_or(0)) })
    }
}

impl Delivery {
    /// The number after which the client wants frames; a client that sends one gets numbered frames.
    pub(crate) fn after(&self) -> Option<i64> {
        self.after
    }

    pub(crate) async fn send(
        self,
        app: &App,
        frames: impl Stream<Item = Result<Batch, Error>> + Send + 'static,
    ) -> Result<Response, Fault> {
        match self.way {
            Way::Socket(upgrade) => Ok(upgrade.send(app, frames)),
            Way::Events => Ok(sse::send(app, sse::messages(frames))),
            Way::Page { wait } => page::read(frames, wait, &app.shutdown).await,
        }
    }
}
