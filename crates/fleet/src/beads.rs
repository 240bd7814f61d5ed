//! The beads of a project: a queue of work with dependencies, shared with the tools `br` and `bd`.
//!
//! Owns everything Forge knows about their files and programs. [`Workspace::find`] finds the beads of a directory,
//! [`Workspace::open`] returns the one [`Store`] for them, [`Store::watch`] reports changes. Invariants: no field of a
//! record is lost, the tools' databases are never touched, and every call of a program has a time limit.

mod actor;
mod answer;
mod bead;
mod call;
mod cli;
mod cycle;
mod draft;
mod error;
mod jsonl;
mod known;
mod local;
mod lock;
mod name;
mod place;
mod program;
mod ready;
mod refusal;
mod snapshot;
mod store;
mod watch;
mod workspace;

pub use actor::{actor, is_ours};
pub use bead::{Bead, Comment, CommentId, Dependency, Rest, Status, Time};
pub use cli::CliStore;
pub use error::BeadsError;
pub use jsonl::BeadQueueReader;
pub use known::{check_edge, check_status, check_type};
pub use local::LocalStore;
pub use place::{FoundBy, Layout, Place, Tool};
pub use program::{Capabilities, Program, Rejected, Version};
pub use ready::{Filter, ReadyPolicy, Standing};
pub use snapshot::{Hash, Problem, ProblemKind, Snapshot};
pub use store::{Change, Claim, Close, Linked, NewBead, Release, Store, TITLE_MAX, Unlinked};
pub use watch::{News, Watch};
pub use workspace::{Flavour, Surroundings, Workspace};
