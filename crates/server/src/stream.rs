//! Streams: events, sent to clients as they happen.
//!
//! `delivery` chooses the transport: `socket` drives a WebSocket, `sse` sends events, `page` responds once. `patch`
//! writes frames, `live` joins a snapshot with the events after it; each of the other files defines what one stream
//! shows. Invariant: every stream pulls from disk or from the event log only when its client takes frames, so a slow
//! client costs time and not memory, and misses nothing.

pub(crate) mod board;
mod delivery;
pub(crate) mod diff;
pub(crate) mod drafts;
pub(crate) mod entries;
pub(crate) mod events;
mod live;
pub(crate) mod logs;
mod monitor;
mod page;
mod patch;
pub(crate) mod runs;
mod settle;
mod socket;
mod sse;
pub(crate) mod tasks;

pub(crate) use delivery::WAIT_MAX_MS;
