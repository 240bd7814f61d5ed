//! Cross-process tests: the real program, real git, real processes, real crashes.

#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing has failed")]

mod agents;
mod attempt;
mod beads;
mod cli;
mod cost;
mod dispatch;
mod home;
mod house;
mod legacy;
mod notify;
mod publish;
mod review;
mod run;
mod server;
mod settings;
mod task;
mod tui;
mod workers;
mod worktree;
