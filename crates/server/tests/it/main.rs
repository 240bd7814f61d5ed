//! The server over a real engine: temp dir, real git, real SQLite, real sockets.

#![allow(clippy::unwrap_used)]

mod boards;
mod bodies;
mod desk;
mod door;
mod faults;
mod frames;
mod images;
mod mcp;
mod older;
mod once;
mod openapi;
mod page;
mod projects;
mod runs;
mod streams;
mod table;
mod tasks;
mod users;
mod wire;
mod world;
