//! The home of Forge on disk: its files, what a lost one leaves behind, and backups of it.
//!
//! Owns how a file of the home is replaced and what belongs to a backup. Invariant: a reader sees a whole file, and no
//! other database takes the place of a lost one without a word.

pub(crate) mod backup;
pub(crate) mod file;
pub(crate) mod remains;
