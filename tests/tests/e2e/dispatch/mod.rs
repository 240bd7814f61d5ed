//! Beads and tasks that are given to agents.

mod gate;
mod mirror;
mod round;
mod routing;
mod worker;

pub use round::{bead, switch_on};
pub use worker::Field;
