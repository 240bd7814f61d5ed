//! What other systems left behind: the databases of vibe-kanban and automagik-forge, and the session stores of Genie.
//!
//! Owns how they are found, read and put into Forge's words, as a [`forge_types::Bundle`].
//! Invariant: a source is only read, except for SESSION-STATE.md, where a session gets the id of its attempt.

pub mod action;
pub mod database;
mod error;
pub mod genie;

pub use error::LegacyError;
