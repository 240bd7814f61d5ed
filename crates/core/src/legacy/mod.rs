//! What other systems left behind: importers and the session stores of Genie.
//!
//! Invariant: a source is only read, except for the marks that link a session to its attempt.

pub mod genie;
pub(crate) mod import;
