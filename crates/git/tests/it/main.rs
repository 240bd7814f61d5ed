//! The promises of forge-git, checked with real git in temporary directories.
#![allow(clippy::unwrap_used)]

mod adoption;
mod claims;
mod commits;
mod copies;
mod diffs;
mod fixture;
mod lfs;
mod merges;
mod plants;
mod pulls;
mod pushes;
mod rebases;
mod removals;
mod repos;
mod retirement;
mod watching;
mod wild;
