//! The only crate that knows SQL.
//!
//! Owns: the database file, its schema, every statement, and the event log. One connection writes, a few read.
//! Invariant: state and its events change in one transaction, and events are published in the order of their commits,
//! so a snapshot plus the events after its number is the current state.
//!
//! `sql` is the door to the driver, `entity` makes the statements of a table from its columns. Statements keep to what
//! SQLite and PostgreSQL share, with the exceptions that ADR 3 lists.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod agent;
mod alert;
mod approval;
mod calls;
mod card;
mod cell;
mod copy;
mod create;
mod crowd;
mod delivery;
mod dispatch;
mod document;
mod draft;
mod entity;
mod error;
mod file;
mod idempotency;
mod image;
mod import;
mod log;
mod meta;
mod mirror;
mod moves;
mod omni;
mod open;
mod pulls;
mod query;
mod rebase;
mod remove;
mod ring;
mod sql;
mod store;
mod table;
mod tag;
mod touched;
mod tx;
mod usage;
mod worker;
mod write;

pub use calls::{CallRow, CallSource, Caller, LogPlace};
pub use copy::{Examined, copies, copy_database, examine_database};
pub use delivery::Delivery;
pub use dispatch::BeadTask;
pub use document::TaskBlock;
pub use error::StoreError;
pub use idempotency::Keyed;
pub use import::{ImportKind, Imported, Noted};
pub use meta::{read_meta, replace_meta};
pub use mirror::Mirror;
pub use moves::Why;
pub use omni::Due;
pub use pulls::OpenPull;
pub use rebase::PendingRebase;
pub use store::{AttemptsOf, Dropped, Page, Store};
pub use tag::TemplateScope;
pub use tx::Tx;
pub use usage::{Spender, Spent, UsageLine};
pub use worker::BeadFailure;
