//! Worktrees over time, and whose they are.

mod holding;
mod owners;
mod torture;
