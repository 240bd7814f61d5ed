//! Cross-process tests: the real program, real git, real processes, real crashes.

#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing has failed")]

mod agents;
mod atomic;
mod crash;
mod door;
mod flow;
mod genie;
mod in_place;
mod layers;
mod mcp;
mod notice;
mod owners;
mod program;
mod queue;
mod scripts;
mod settings;
mod shutdown;
mod stop;
