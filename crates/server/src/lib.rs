//! HTTP, WebSocket and SSE in front of the engine.
//!
//! Owns: the route table, the door (who is let in), the envelope, and the translation between the engine's words and
//! the wire's. Invariant: a handler makes one engine call; no rule of the product lives here, and no stream keeps more
//! in memory than the frames that its client is about to take.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod compat;
mod door;
mod envelope;
mod extract;
mod listen;
mod mcp;
mod media;
mod once;
mod openapi;
mod page;
mod routes;
mod sound;
mod stream;
mod table;
mod trace;
mod upload;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::FromRef;
use forge_core::Forge;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use door::{Peer, probe as probe_peers};
pub use mcp::Alone;
pub use table::{Route, RouteKind, routes};

/// Who is let in without a token. Pages of foreign origins and rebound names never are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenTo {
    Nobody,
    /// The user that runs the server, over loopback.
    User,
    Everybody,
}

/// Who is let in, and what the server reports about itself.
pub struct Door {
    pub bind: SocketAddr,
    pub open_to: OpenTo,
    /// The token that lets others in; without one, nobody else is.
    pub token: Option<String>,
    /// Names, with or without a port, that `Host` may contain beside loopback and the bound address.
    pub allowed_hosts: Vec<String>,
    /// Origins, such as `https://board.example`, whose pages may call the API.
    pub allowed_origins: Vec<String>,
    /// What `/api/forge/auth-required` returns.
    pub auth_required: bool,
    pub version: String,
    /// Opens a browser session through `GET /login?code=…`, once.
    pub login_code: Option<String>,
}

impl Door {
    /// Open to the user alone, for a server that runs as long as a command.
    pub fn local(bind: SocketAddr, version: String) -> Self {
        Self {
            bind,
            open_to: OpenTo::User,
            token: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            auth_required: false,
            version,
            login_code: None,
        }
    }
}

/// What every handler can reach.
#[derive(Clone)]
pub(crate) struct App {
    forge: Forge,
    guard: Arc<door::Guard>,
    shutdown: CancellationToken,
    /// Open WebSockets, so that `serve` returns only after they are closed.
    sockets: TaskTracker,
    boards: stream::board::Boards,
    mcp: mcp::Endpoint,
}

impl App {
    fn new(forge: Forge, door: Door, shutdown: CancellationToken) -> Self {
        let mcp = mcp::Endpoint::new(&forge, &door.version, &shutdown);
        Self {
            forge,
            guard: Arc::new(door::Guard::new(door)),
            shutdown,
            sockets: TaskTracker::new(),
            boards: stream::board::Boards::default(),
            mcp,
        }
    }
}

impl FromRef<App> for Forge {
    fn from_ref(app: &App) -> Forge {
        app.forge.clone()
    }
}

/// The whole API and the page as one router, for requests with a [`Peer`]. Streams end when `shutdown` is cancelled.
pub fn router(forge: Forge, door: Door, shutdown: CancellationToken) -> axum::Router {
    table::build(App::new(forge, door, shutdown))
}

/// Serves on `listener` until `shutdown`, then returns within 1.5 s whatever clients do.
pub async fn serve(
    listener: TcpListener,
    forge: Forge,
    door: Door,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let sight = door::Sight::open(door.open_to);
    let app = App::new(forge, door, shutdown.clone());
    let sockets = app.sockets.clone();
    listen::accept(listener, table::build(app), sight, shutdown, sockets).await;
    Ok(())
}
