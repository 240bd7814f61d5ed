//! What Forge requests from other machines over HTTP: code hosts and notification gateways.
//!
//! Invariant: every request has a time limit and a size limit, and no error, log line or `Debug` text ever contains a
//! token or a URL's credentials.

mod address;
mod device;
mod host;
mod http;
mod omni;
mod pull;
mod releases;
mod token;
mod webhook;

pub use address::Address;
pub use device::{DeviceAnswer, DeviceCode, GithubUser, LoginSite};
pub use host::{CodeHost, Host, HostKind, Hosts};
pub use http::{Http, RemoteError};
pub use omni::check_host;
pub use pull::{Issue, Listing, NewPullRequest, PullRequest};
pub use releases::{RELEASES_REPOSITORY, releases};
pub use token::{Token, find_token, stored_token};
pub use webhook::check_webhook;
