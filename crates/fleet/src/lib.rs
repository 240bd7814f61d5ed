//! Long-lived workers: tmux sessions, launchers, status files, and the beads they are fed with.
//!
//! Owns everything Forge knows of tmux and of beads. Invariants: no decision and no loop lives here (the engine has
//! them), nothing that Forge did not start is ended, and no text of a user becomes part of a shell string.

pub mod beads;
pub mod complexity;
pub mod definition;
pub mod discovery;
mod group;
pub mod health;
pub mod heartbeat;
pub mod hook;
pub mod launcher;
pub mod ledger;
pub mod pane;
pub mod process;
pub mod recovery;
pub mod route;
pub mod score;
pub mod status_file;
pub mod subscription;
pub mod tmux;
pub mod work;
pub mod worker;
