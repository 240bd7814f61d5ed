//! The dashboard: a client of the server that fills a terminal.
//!
//! `update` makes a state and a message into the next state and a list of effects; `draw` makes a state into a screen;
//! both are pure. `run` has the loop and the tasks that do what the effects ask for and send messages back. Invariants:
//! nothing is read or written on the way to a frame, a frame is drawn only when something that is shown has changed, and
//! nothing but frames reaches the terminal.

mod bell;
mod draw;
mod emoji;
mod fault;
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
