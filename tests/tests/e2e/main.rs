//! Cross-process tests: the real program, real git, real processes, real crashes.

#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing has failed")]

mod approvals;
mod atomic;
mod crash;
mod diffs;
mod door;
mod drafts;
mod flow;
mod images;
mod in_place;
mod landing;
mod layers;
mod owners;
mod program;
mod queue;
mod retry;
mod scripts;
mod setup;
mod shutdown;
mod stop;
mod torture;
