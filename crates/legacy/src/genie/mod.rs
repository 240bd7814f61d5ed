//! What Genie keeps in a repository's `.genie` folder about its sessions, and the way of these sessions into Forge.
//!
//! Owns: how the session stores and SESSION-STATE.md are read, and the only changes that are ever made to them: a session
//! gets the id of its attempt, an attempt gets a block.
//! Invariant: reading never fails on what it does not understand and changes nothing.

mod bundle;
mod found;
mod log;
mod noted;
mod place;
mod session;
mod state_file;
mod store;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use bundle::Repository;
use forge_os::Mode;
pub use found::Found;
pub use place::{read_store, stores};
pub use state_file::{add_session, mentions};
pub use store::Contents;

/// Below the top of a checkout.
pub const STATE_FILE: &str = ".genie/SESSION-STATE.md";
/// For files that are not there yet.
const USUAL_MODE: u32 = 0o644;

/// Replaces a file of the user as a whole; its mode stays what it was.
pub fn replace(path: &Path, text: impl AsRef<[u8]>) -> std::io::Result<()> {
    forge_os::replace_linked(path, text.as_ref(), Mode::Kept { new: USUAL_MODE })
}
