//! Accepting and dropping connections.
//!
//! Owns: one task per connection. Invariant: after shutdown no connection outlives the grace period, be it idle, half
//! open, or in the middle of a request; a client that never finishes its request head is dropped by the head timeout,
//! and one that reads nothing of its response by [`STALL_LIMIT`].

mod patient;

use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::door::Sight;
use patient::Patient;

const GRACE: Duration = Duration::from_secs(1);
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// What waits for a client is in memory, so it waits no longer than a network outage may last.
const STALL_LIMIT: Duration = Duration::from_secs(60);
/// The usual cause is a lack of file descriptors, and trying again at once would only spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `shutdown`, then waits at most [`GRACE`] for requests and `sockets`.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    sight: Sight,
    shutdown: CancellationToken,
    sockets: TaskTracker,
) {
    let connections = TaskTracker::new();
    let deadline = CancellationToken::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let connection = serve(stream, router.clone(), sight, shutdown.clone(), deadline.clone());
                connections.spawn(connection);
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    connections.close();
    sockets.close();
    let goodbye = async { tokio::join!(connections.wait(), sockets.wait()) };
    if tokio::time::timeout(GRACE, goodbye).await.is_err() {
        tracing::info!(connections = connections.len(), sockets = sockets.len(), "dropping slow clients");
    }
    deadline.cancel();
}

async fn serve(
    stream: TcpStream,
    router: Router,
    sight: Sight,
    shutdown: CancellationToken,
    deadline: CancellationToken,
) {
    // A client that is already gone needs no response.
    let (Ok(address), Ok(local)) = (stream.peer_addr(), stream.local_addr()) else { return };
    let peer = sight.see(address, local);
    let router = router.map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request
    });
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot switch off Nagle's algorithm");
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(Patient::new(stream, STALL_LIMIT)), TowerToHyperService::new(router))
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return note(ended),
        () = shutdown.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        ended = connection.as_mut() => note(ended),
        () = deadline.cancelled() => {}
    }
}

fn note(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended early");
    }
}

#[cfg(test)]
mod tests;
