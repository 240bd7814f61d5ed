//! The promises about beads, checked with real files, real processes and stub programs.
#![allow(clippy::unwrap_used)]

mod files;
mod fixture;
mod live;
mod local;
mod programs;
mod race;
mod watching;
mod workspaces;
