//! Cross-process tests: the real program, real git, real processes, real crashes.

#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing has failed")]

mod acp;
mod agents;
mod approvals;
mod atomic;
mod background;
mod command;
mod crash;
mod desk;
mod diffs;
mod direct;
mod doctor;
mod door;
mod drafts;
mod environment;
mod flow;
mod genie;
mod housekeeping;
mod images;
mod in_place;
mod issues;
mod landing;
mod landing_cli;
mod layers;
mod login;
mod mcp;
mod notice;
mod owners;
mod parking;
mod program;
mod published;
mod pulls;
mod questions;
mod queue;
mod resume;
mod retry;
mod scripts;
mod settings;
mod setup;
mod shutdown;
mod stop;
mod tools;
mod torture;
mod usage;
