//! The promises of the store, checked on real databases.

#![allow(clippy::unwrap_used)]

mod calls;
mod cards;
mod crowd;
mod desk;
mod fixture;
mod fleet;
mod follow;
mod idempotency;
mod keep;
mod lists;
mod moves;
mod pulls;
mod schema;
mod speed;
mod tale;
mod usage;
mod walk;
