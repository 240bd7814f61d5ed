//! The world outside: code hosts, logins and pull requests.
//!
//! Owns what is remembered about other machines between two requests. Invariant: nothing is published that would not
//! land, and no token goes anywhere but to the host it was stored for.

pub(crate) mod auto_pr;
pub(crate) mod checkout;
pub(crate) mod code_host;
pub(crate) mod issue;
pub(crate) mod login;
pub(crate) mod pull_request;
pub(crate) mod pull_watch;
