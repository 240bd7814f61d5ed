//! Beads: read, written and taken through Forge.

mod bare;

pub use bare::{BARE, project};
