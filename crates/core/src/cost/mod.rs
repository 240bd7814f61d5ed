//! What agents use and what it costs: meters of running agents, prices, budgets and the quotas of providers.
//!
//! Invariant: no agent starts while a budget that concerns it is used up, and no price is guessed.

pub(crate) mod budget;
pub(crate) mod meter;
pub(crate) mod price;
pub(crate) mod quota;
pub(crate) mod usage;
