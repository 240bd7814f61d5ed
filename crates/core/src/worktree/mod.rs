//! Worktrees over time: brought back when needed, retired by policy, adopted from other programs, given back as space.
//!
//! Invariant: nothing in this room deletes a directory that may hold work.

pub(crate) mod adoption;
pub(crate) mod garbage;
pub(crate) mod leftover;
pub(crate) mod upkeep;
