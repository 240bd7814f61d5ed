//! The dashboard: a full-screen terminal client of the server.
//!
//! `update` applies a message to the state and returns effects; `draw` turns the state into a screen; both are pure.
//! `run` owns the loop and the tasks that carry out effects and send messages back. Invariants: drawing does no I/O, a
//! frame is drawn only when something visible has changed, and only frames are written to the terminal.

mod bell;
mod draw;
mod emoji;
mod field;
pub mod figures;
#[cfg(test)]
mod fixture;
mod keys;
mod log;
mod message;
mod model;
mod rows;
mod run;
mod state;
pub mod text;
mod theme;
mod update;

pub use emoji::draws_emoji;
pub use run::{Options, run};
pub use theme::Theme;
