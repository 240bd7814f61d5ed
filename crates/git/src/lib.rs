//! Everything that Forge does with git, through the `git` program.
//!
//! Owns: repositories, branches, worktrees (claim, ownership mark, warm spares, retire, restore, trash), diffs,
//! commits, the squash merge, and push, fetch and pull. No other crate runs `git`.
//! Invariant: no function here deletes a directory that may hold work. A worktree is retired: snapshot into
//! `refs/forge/keep/…`, verified, then moved to the trash. Directories without this installation's mark are reported
//! and never touched.

mod admin;
mod adopt;
mod base;
mod branch;
mod checkout;
mod claim;
mod command;
mod commit;
mod config;
mod content;
mod copy;
mod counted;
mod diff;
mod durable;
mod ensure;
mod error;
mod file;
mod history;
mod hook;
mod inside;
mod keep;
mod loose;
mod mark;
mod merge;
mod network;
mod patch;
mod pool;
mod push;
mod radar;
mod rebase;
mod remote;
mod removal;
mod replay;
mod repo;
mod restore;
mod retire;
mod scratch;
mod search;
mod secret;
mod session;
mod snapshot;
mod spare;
mod staging;
mod status;
mod trash;
mod tree;
mod undo;
mod watch;

pub use adopt::{adopt, is_strange, release, strange_worktree};
pub use base::{Listed, WorktreeBase, list, look_at_base, measure, usual_base};
pub use branch::{BranchTip, PREFIX_MAX_BYTES, ahead_behind, merge_base};
pub use checkout::{CheckoutState, Pulled, checkout_state, pull_rebase};
pub use claim::{Naming, Worktree, claim, recorded};
pub use command::{GitVersion, check_git, spawned};
pub use commit::{Committed, commit_all, is_dirty, reset_hard};
pub use content::ContentReader;
pub use copy::{CopyWarning, copy_files};
pub use diff::{Blob, Counting, FileDiff, diff_between, diff_commit, diff_worktree};
pub use ensure::{drop_late_branch, drop_orphan_claim, ensure, retire_cut_off};
pub use error::GitError;
pub use file::{read_committed_file, read_worktree_file};
pub use history::is_object_id;
pub use hook::{Hook, HookState, linked_worktree};
pub use mark::{Mark, MarkedTask, Owner, Whoami, take_over, whoami};
pub use merge::{Merged, landed, squash_merge};
pub use network::Credential;
pub use patch::{Patch, PatchScope, patch_between, patch_commit, patch_worktree};
pub use pool::{Filled, Pool};
pub use push::push;
pub use radar::{Pair, conflicts_of};
pub use rebase::{Rebased, abort, commit_work, rebase};
pub use remote::{Remote, fetch, remote_for};
pub use removal::{DELETION, delete_file};
pub use repo::Repo;
pub use restore::{Restored, Source, restore};
pub use retire::{Kept, retire};
pub use search::SearchScope;
pub use staging::{FileStanding, PendingCommit};
pub use status::{WorktreeStatus, operation, status};
pub use trash::{Emptied, TrashItem, empty_trash, trash};
pub use watch::{Watch, watch};
