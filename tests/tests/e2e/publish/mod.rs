//! Code hosts, logins, issues and pull requests.

mod issues;
mod login;
mod published;
mod pulls;

pub use published::{Published, TOKEN};
