//! Server-sent events: for clients behind proxies that do not pass WebSockets on, and for browsers.
//!
//! Invariant: the id of a message is the number after which a client that comes back wants more. Something is sent at
//! once, so that a client can distinguish a quiet stream from a proxy that holds everything back.

use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use forge_core::Error;
use futures_util::{Stream, StreamExt, stream};

use crate::App;
use crate::envelope::Fault;
use crate::extract::Params;
use crate::stream::patch::number_of;
use crate::stream::socket::Batch;

const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Asks a proxy in between to pass everything on at once.
const UNBUFFERED: (HeaderName, &str) = (HeaderName::from_static("x-accel-buffering"), "no");

/// The position that a client names, either as browsers do or in the query.
pub(crate) fn position(headers: &HeaderMap, params: &Params) -> Result<Option<i64>, Fault> {
    let Some(value) = headers.get("last-event-id").filter(|value| !value.is_empty()) else {
        return params.after();
    };
    let id = value.to_str().ok().and_then(|text| text.parse().ok()).filter(|id| *id >= 0);
    match id {
        Some(id) => Ok(Some(id)),
        None => Err(Fault::bad_request("Last-Event-ID: not an event number; send the last id you received")),
    }
}

/// Frames as messages. Ends when the source fails; the client then comes back with its last id.
pub(crate) fn messages(
    frames: impl Stream<Item = Result<Batch, Error>> + Send + 'static,
) -> impl Stream<Item = Message> + Send + 'static {
    let batches = frames.scan((), |(), batch| {
        let failed = |error: &Error| tracing::warn!(%error, "a stream failed");
        ready(batch.inspect_err(failed).ok())
    });
    batches.flat_map(|batch: Batch| {
        stream::iter(batch).map(|frame| match number_of(&frame) {
            Some(seq) => Message::default().id(seq.to_string()).data(frame.as_str()),
            None => Message::default().data(frame.as_str()),
        })
    })
}

pub(crate) fn send(app: &App, messages: impl Stream<Item = Message> + Send + 'static) -> Response {
    let opening = stream::iter([Message::default().comment("open")]);
    let messages = opening.chain(messages).take_until(app.shutdown.clone().cancelled_owned());
    let messages = messages.map(Ok::<_, Infallible>);
    ([UNBUFFERED], Sse::new(messages).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))).into_response()
}
