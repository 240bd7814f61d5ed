//! Cross-process tests: the real program, real git, real processes, real crashes.

#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing has failed")]

mod atomic;
mod crash;
mod door;
mod flow;
mod in_place;
mod issues;
mod layers;
mod login;
mod owners;
mod program;
mod published;
mod pulls;
mod queue;
mod scripts;
mod shutdown;
mod stop;
