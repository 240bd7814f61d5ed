//! What Forge asks of other machines over HTTP: code hosts and notification gateways.
//!
//! Invariant: every request has a time limit and a size limit, and no error, log line or `Debug` text ever holds a token
//! or a URL's credentials.

mod http;
mod omni;

pub use http::{Http, RemoteError};
pub use omni::check_host;
