//! One WebSocket: frames out, nothing in.
//!
//! Invariant: every socket ends with a Close frame: 1000 when its frames ended, 1001 when the server stops, 1011 when
//! the source failed, 1002, 1007 or 1009 when the client sends what it must not. Frames are written as long as more are
//! waiting and flushed the moment none is. `listen` drops a client that reads nothing, and [`STALL_LIMIT`] one that
//! takes a batch too slowly; it can come back with `?after=`.

use std::future::ready;
use std::pin::pin;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::http::request::Parts;
use axum::response::Response;
use forge_core::Error;
use futures_util::{SinkExt, Stream, StreamExt};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::tungstenite;
use tokio_util::sync::CancellationToken;

use crate::App;
use crate::door::SessionEnd;
use crate::envelope::Fault;

const PING_EVERY: Duration = Duration::from_secs(30);
const STALL_LIMIT: Duration = Duration::from_secs(600);
/// How long a client may take to answer our Close frame.
const FAREWELL: Duration = Duration::from_millis(500);
/// Clients have nothing to send; a message above this size ends the socket.
const MESSAGE_LIMIT: usize = 64 << 10;

/// A batch of text frames, which many sockets may share; an empty one means that there are no more at this moment.
pub(crate) type Batch = Vec<Utf8Bytes>;

/// A request to become a WebSocket.
pub(crate) struct Upgrade {
    upgrade: WebSocketUpgrade,
    /// The token of the session with which it came, if any.
    end: CancellationToken,
}

impl<S: Send + Sync> FromRequestParts<S> for Upgrade {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        let upgrade = WebSocketUpgrade::from_request_parts(parts, state).await;
        let end = parts.extensions.get().map(|SessionEnd(end)| end.clone()).unwrap_or_default();
        upgrade.map(|upgrade| Self { upgrade, end }).map_err(|rejection| {
            let message = format!("this path is a WebSocket: {}", rejection.body_text());
            Fault::new(rejection.status(), message)
        })
    }
}

impl Upgrade {
    pub(crate) fn send(
        self,
        app: &App,
        frames: impl Stream<Item = Result<Batch, Error>> + Send + 'static,
    ) -> Response {
        let (sockets, shutdown) = (app.sockets.clone(), app.shutdown.clone());
        let frames = frames.take_until(self.end.cancelled_owned());
        self.upgrade
            .max_message_size(MESSAGE_LIMIT)
            .on_upgrade(move |socket| sockets.track_future(drive(socket, frames, shutdown)))
    }
}

/// Why a socket ends.
enum End {
    Finished,
    Shutdown,
    Failed(Error),
    /// The client breaks the protocol; the close code.
    Broken(u16),
    /// The client left, or cannot be reached.
    Gone,
}

async fn drive(
    mut socket: WebSocket,
    frames: impl Stream<Item = Result<Batch, Error>>,
    shutdown: CancellationToken,
) {
    let end = pump(&mut socket, frames, &shutdown).await;
    let (code, reason) = match &end {
        End::Finished => (close_code::NORMAL, ""),
        End::Shutdown => (close_code::AWAY, "the server is stopping"),
        End::Failed(error) => {
            tracing::warn!(%error, "a stream failed");
            (close_code::ERROR, "the stream failed; the server's log says why")
        }
        End::Broken(code) => (*code, "the frame is not allowed"),
        End::Gone => return,
    };
    let close = socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() })));
    let is_sent = match end {
        // A slow client still takes what was written before.
        End::Finished | End::Failed(_) => write(close, &shutdown).await.is_ok(),
        _ => matches!(timeout(FAREWELL, close).await, Ok(Ok(()))),
    };
    if is_sent {
        // Whether the client replies makes no difference now.
        let reply = async { while let Some(Ok(_)) = socket.next().await {} };
        let _ = timeout(FAREWELL, reply).await;
    }
}

async fn pump(
    socket: &mut WebSocket,
    frames: impl Stream<Item = Result<Batch, Error>>,
    shutdown: &CancellationToken,
) -> End {
    let mut frames = pin!(frames.fuse());
    let mut stopping = pin!(shutdown.cancelled());
    let mut ping = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut unflushed = false;
    loop {
        // In this order, so that a source which always has more can delay neither the end nor a ping, and the flush
        // comes only when the source has nothing ready.
        let written = tokio::select! {
            biased;
            () = &mut stopping => return End::Shutdown,
            heard = socket.next() => match heard {
                Some(Ok(Message::Close(_))) => {
                    let _ = timeout(FAREWELL, socket.close()).await;
                    return End::Gone;
                }
                Some(Ok(_)) => continue,
                Some(Err(error)) => return judge(error),
                None => return End::Gone,
            },
            _ = ping.tick() => write(socket.send(Message::Ping(Default::default())), shutdown).await,
            batch = frames.next() => match batch {
                None => return End::Finished,
                Some(Err(error)) => return End::Failed(error),
                Some(Ok(batch)) if !batch.is_empty() => {
                    unflushed = true;
                    write(feed(socket, batch), shutdown).await
                }
                Some(Ok(_)) => match std::mem::take(&mut unflushed) {
                    true => write(socket.flush(), shutdown).await,
                    false => continue,
                },
            },
            () = ready(()), if unflushed => {
                unflushed = false;
                write(socket.flush(), shutdown).await
            }
        };
        if let Err(end) = written {
            return end;
        }
    }
}

/// What ends a socket that can no longer be read.
fn judge(error: axum::Error) -> End {
    use tungstenite::error::{Error, ProtocolError};
    match error.into_inner().downcast_ref() {
        Some(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => End::Gone,
        Some(Error::Protocol(_)) => End::Broken(close_code::PROTOCOL),
        Some(Error::Capacity(_)) => End::Broken(close_code::SIZE),
        Some(Error::Utf8(_)) => End::Broken(close_code::INVALID),
        _ => End::Gone,
    }
}

async fn feed(socket: &mut WebSocket, batch: Batch) -> Result<(), axum::Error> {
    for text in batch {
        socket.feed(Message::Text(text)).await?;
    }
    Ok(())
}

/// A write that ends when the server does. Most are done at once, so the end is looked at only by one that has to wait.
async fn write(
    writing: impl Future<Output = Result<(), axum::Error>>,
    shutdown: &CancellationToken,
) -> Result<(), End> {
    tokio::select! {
        biased;
        written = timeout(STALL_LIMIT, writing) => match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(End::Gone),
        },
        () = shutdown.cancelled() => Err(End::Shutdown),
    }
}

#[cfg(test)]
mod tests;
