//! Beads and tasks that are given to agents.

mod field;
mod gate;
mod mirror;
mod round;
mod routing;
mod worker;

pub use field::Field;
pub use round::{bead, switch_on};
