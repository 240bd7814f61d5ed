//! Workers in tmux sessions.

mod health;
mod ledger;
mod leftovers;
mod lifecycle;
mod stage;

pub use stage::{Stage, waiting, words};
