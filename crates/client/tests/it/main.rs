//! The client against a server that answers byte for byte what a test wants, over real connections.

#![allow(clippy::unwrap_used)]

mod answers;
mod server;
mod streams;
