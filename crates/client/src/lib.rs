//! The Rust client of Forge's HTTP API, for the command line, the dashboard, the tests and the bench.
//!
//! - [`Client`] sends requests to one server. `call`, `get` and `post` take the envelope off and return its data.
//!   `request` and `fetch` are for requests that have no envelope, such as MCP.
//! - [`Error`] has a [`Kind`], which callers branch on, and a message for people.
//! - [`Feed`] follows a stream of changes to its end. It continues after the last change when the server restarts, and
//!   uses server-sent events or pages where WebSockets do not get through.
//! - [`Events`] is one stream of server-sent events, which continues after its last id; [`Socket`] is one WebSocket.
//!
//! Invariants: only this crate and `forge-remote` name reqwest. Nothing here reads the environment or the home, prints,
//! or knows other crates of Forge: where the server is and what its token is are the caller's decision.

mod client;
mod error;
mod feed;
mod misread;
mod pipe;
mod socket;
mod sse;

pub use client::{Client, transport};
pub use error::{Error, Kind};
pub use feed::{Feed, Step};
pub use reqwest::{ClientBuilder, Method, RequestBuilder, Response, header, redirect};
pub use socket::Socket;
pub use sse::{Events, Message};

/// The pairs as the query of an address, without the question mark.
pub fn query<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let url = reqwest::Url::parse_with_params("http://localhost", pairs).ok();
    url.and_then(|url| url.query().map(str::to_owned)).unwrap_or_default()
}
