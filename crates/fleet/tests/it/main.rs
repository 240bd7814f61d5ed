//! The promises of forge-fleet, checked with real tmux on private sockets in temporary directories.
#![allow(clippy::unwrap_used)]

mod checks;
mod definitions;
mod discovering;
mod fixture;
mod launching;
mod shipped;
mod status_files;
mod stopping;
mod tmux;
