//! One file per entity; every handler reads its request, makes one engine call and wraps the result.
//!
//! Invariant: no rule of the product is decided here. Handlers that read more than one thing only assemble a response.

pub(crate) mod agents;
pub(crate) mod alerts;
pub(crate) mod approvals;
pub(crate) mod attempts;
pub(crate) mod auth;
pub(crate) mod beads;
pub(crate) mod branches;
pub(crate) mod checkouts;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod drafts;
pub(crate) mod errands;
pub(crate) mod files;
pub(crate) mod folders;
pub(crate) mod forge;
pub(crate) mod images;
pub(crate) mod import;
pub(crate) mod issues;
pub(crate) mod mcp;
pub(crate) mod meta;
pub(crate) mod profiles;
pub(crate) mod projects;
pub(crate) mod pulls;
pub(crate) mod routing;
pub(crate) mod runs;
pub(crate) mod sounds;
pub(crate) mod tags;
pub(crate) mod tasks;
pub(crate) mod templates;
pub(crate) mod usage;
pub(crate) mod workers;
pub(crate) mod worktrees;
