//! One file per entity; every handler reads its request, makes one engine call and wraps the answer.
//!
//! Invariant: no rule of the product is decided here. Handlers that read more than one thing only put together an answer.

pub(crate) mod attempts;
pub(crate) mod config;
pub(crate) mod errands;
pub(crate) mod forge;
pub(crate) mod mcp;
pub(crate) mod meta;
pub(crate) mod profiles;
pub(crate) mod projects;
pub(crate) mod runs;
pub(crate) mod sounds;
pub(crate) mod tasks;
pub(crate) mod worktrees;
