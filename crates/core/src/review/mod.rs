//! An attempt's work under review: its branch, its diff, its conflicts, and the merge that lands it.
//!
//! Invariant: looking changes nothing. Whatever changes a worktree or a branch holds the attempt's directory meanwhile.

pub(crate) mod branch;
pub(crate) mod commit_message;
pub(crate) mod conflict;
pub(crate) mod diff;
pub(crate) mod file;
pub(crate) mod merge;
pub(crate) mod patch;
pub(crate) mod radar;
pub(crate) mod watch;
