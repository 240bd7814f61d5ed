//! The server as its clients meet it: who may speak to it, streams, requests with a key, tools, its end.

mod blocked;
mod door;
mod once;
mod shutdown;
mod tools;
