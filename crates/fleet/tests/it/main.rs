//! The promises of forge-fleet, checked with real tmux on private sockets in temporary directories.
#![allow(clippy::unwrap_used)]

mod fixture;
mod tmux;
