//! Workers in tmux sessions.

mod health;
mod ledger;
mod leftovers;
mod lifecycle;

pub use lifecycle::{Stage, waiting, words};
