//! What other systems left behind, and working beside them.

mod hook;
mod import;
mod sessions;
