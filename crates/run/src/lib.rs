//! Agent processes: they are started, kept, recorded, talked to and ended only here.
//!
//! Owns: the keeper (one detached process per run that outlives the server), the run's journal, the process tree
//! and the stop ladder; and, in [`agents`] and [`fold`], how each agent is started and how its output is read.
//! Invariant: what an agent prints is in its journal before anybody learns of it, a run's end is recorded exactly
//! once, and only processes whose pid *and* start time are known to be ours are ever signalled.

pub mod agents;
mod attach;
mod editor;
pub mod fold;
mod gone;
mod journal;
mod keeper;
mod launch;
mod leftover;
mod lines;
mod link;
mod live;
mod page;
mod secrets;
mod socket;
mod spec;
mod state;
pub mod talk;
mod tree;

pub use attach::{Found, find};
pub use editor::Editor;
pub use gone::end_leftovers;
pub use journal::{Adoption, Kind, Reader, Record, Tail, View, adopted_worktree, seal};
pub use keeper::keep;
pub use launch::{LaunchError, launch, record_failed_start};
pub use leftover::{DirectoryOwner, Leftover, LeftoverState, leftovers_in};
pub use live::{Live, OrderError, Progress};
pub use page::open_page;
pub use secrets::Secrets;
pub use spec::{Cue, Exit, ExitReason, Spec, StdinPlan};
pub use state::{boot_id, is_kept};
