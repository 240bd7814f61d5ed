//! Messages to people who are not looking: notifications about attempts, alerts about workers and budgets.
//!
//! Owns what is queued and its delivery. Invariant: queueing is part of the transaction that has the news; sending never
//! keeps anything else waiting.

pub(crate) mod alerts;
pub(crate) mod delivery;
pub(crate) mod notifier;
pub(crate) mod omni;
