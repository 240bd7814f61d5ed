//! Text for terminals: cleaning of untrusted text, lines of coloured pieces, and what agents do with tools.
//!
//! The commands print these lines; the dashboard draws them.

mod clean;
pub mod deed;
mod line;

pub use clean::{clean, turns_direction};
pub use line::{Colours, Ink, Line, Page, beginning};
